/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations (Buss & Fillmore 2001), about centers of joint sets. */
#include "kernels/kernels.h"

#define FORMULAS SBS_AVERAGE_FORMULAS
#define IS_AVERAGE 1
#define MOVE NAME(rotate)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
