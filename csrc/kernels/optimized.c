/* SPDX-License-Identifier: MIT */
/* Spherical blending about centers given with the vertices (Le & Hodgins 2016). */
#include "kernels/kernels.h"

#define FORMULAS SBS_OPTIMIZED_FORMULAS
#define IS_OPTIMIZED 1
#define MOVE NAME(rotate_about_given)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
