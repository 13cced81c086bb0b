/* SPDX-License-Identifier: MIT */
/* Spherical blending about centers of joint sets, rotations by QLERP (Kavan & Zara 2005, eq. (9)). */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_SPHERICAL
#define FORMULA_NAME spherical
#define PLAIN_KERNELS FROM_2
#define FAR_KERNELS FLOAT_FROM_3
#define IN_PART_KERNELS NONE
#define MOVE NAME(rotate)
#if SBS_VECTOR_BYTES == 32 /* as in kernels/linear.c */
#define MOVE_TWO NAME(rotate_two)
#endif
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
