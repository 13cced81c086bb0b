/* SPDX-License-Identifier: MIT */
/* Dual quaternion blending (Kavan et al. 2007). */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_DUAL_QUATERNION
#define FORMULA_NAME dual_quaternion
#define PLAIN_KERNELS FLOAT_FROM_2
#define FAR_KERNELS NONE
#define IN_PART_KERNELS NONE
#define IS_DUAL_QUATERNION 1
#define MOVE NAME(rotate)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
