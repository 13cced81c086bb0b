/* SPDX-License-Identifier: MIT */
/* Spherical blending about weighted centers. */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_WEIGHTED
#define FORMULA_NAME weighted
#define PLAIN_KERNELS FLOAT_FROM_2
#define FAR_KERNELS NONE
#define IN_PART_KERNELS FLOAT_FROM_2
#define IS_WEIGHTED 1
#define MOVE NAME(rotate_about_weighted)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
