/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations, about centers given with the vertices. */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_AVERAGE_OPTIMIZED
#define FORMULA_NAME average_optimized
#define PLAIN_KERNELS INLINED
#define FAR_KERNELS NONE
#define IN_PART_KERNELS CALLED
#define IS_AVERAGE 1
#define IS_OPTIMIZED 1
#define MOVE NAME(rotate_about_given)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
