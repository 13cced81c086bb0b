/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations, about weighted centers. */
#include "kernels/kernels.h"

#define FORMULAS SBS_AVERAGE_WEIGHTED_FORMULAS
#define IS_AVERAGE 1
#define IS_WEIGHTED 1
#define MOVE NAME(rotate_about_weighted)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
