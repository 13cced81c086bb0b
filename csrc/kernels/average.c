/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations (Buss & Fillmore 2001), about centers of joint sets. */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_AVERAGE
#define FORMULA_NAME average
#define PLAIN_KERNELS INLINED
#define FAR_KERNELS CALLED
#define IN_PART_KERNELS NONE
#define IS_AVERAGE 1
#define MOVE NAME(rotate)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
