/* SPDX-License-Identifier: MIT */
/* Spherical blending about weighted centers. */
#define FORMULAS SBS_WEIGHTED_FORMULAS
#define CALLED_BY_WEIGHTED static SBS_CALLED
#define MOVE NAME(rotate_about_weighted)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
