/* SPDX-License-Identifier: MIT */
/* Dual quaternion blending (Kavan et al. 2007). */
#include "kernels/kernels.h"

#define FORMULAS SBS_DUAL_QUATERNION_FORMULAS
#define IS_DUAL_QUATERNION 1
#define MOVE NAME(rotate)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
