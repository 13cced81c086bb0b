/* SPDX-License-Identifier: MIT */
/* Spherical blending about centers given with the vertices (Le & Hodgins 2016). */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_OPTIMIZED
#define FORMULA_NAME optimized
#define PLAIN_KERNELS FLOAT_FROM_2
#define FAR_KERNELS NONE
#define IN_PART_KERNELS FLOAT_FROM_2
#define IS_OPTIMIZED 1
#define MOVE NAME(rotate_about_given)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
