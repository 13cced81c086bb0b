/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations (Buss & Fillmore 2001), about any centers. */
#define FORMULAS SBS_AVERAGE_FORMULAS
#define CALLED_BY_AVERAGES static SBS_CALLED
#define CALLED_BY_WEIGHTED static SBS_CALLED
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
