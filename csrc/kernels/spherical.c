/* SPDX-License-Identifier: MIT */
/* Spherical blending about centers of joint sets, rotations by QLERP (Kavan & Zara 2005, eq. (9)). */
#include "kernels/kernels.h"

#define FORMULAS SBS_SPHERICAL_FORMULAS
#define MOVE NAME(rotate)
#if SBS_VECTOR_BYTES == 32 /* as in kernels/linear.c */
#define MOVE_TWO NAME(rotate_two)
#endif
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
