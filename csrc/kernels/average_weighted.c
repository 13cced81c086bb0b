/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations, about weighted centers. */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_AVERAGE_WEIGHTED
#define FORMULA_NAME average_weighted
#define PLAIN_KERNELS INLINED
#define FAR_KERNELS NONE
#define IN_PART_KERNELS CALLED
#define IS_AVERAGE 1
#define IS_WEIGHTED 1
#define MOVE NAME(rotate_about_weighted)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
