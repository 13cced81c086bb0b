/* SPDX-License-Identifier: MIT */
/* Spherical blending about weighted centers. */
#include "kernels/kernels.h"

#define FORMULAS SBS_WEIGHTED_FORMULAS
#define IS_WEIGHTED 1
#define MOVE NAME(rotate_about_weighted)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
