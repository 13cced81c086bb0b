/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations, about centers given with the vertices. */
#include "kernels/kernels.h"

#define FORMULAS SBS_AVERAGE_OPTIMIZED_FORMULAS
#define IS_AVERAGE 1
#define IS_OPTIMIZED 1
#define MOVE NAME(rotate_about_given)
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
