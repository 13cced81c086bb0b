/* SPDX-License-Identifier: MIT */
/* Spherical blending by the spherical average of rotations (Buss & Fillmore 2001), about any centers. */
#define FORMULAS SBS_AVERAGE_FORMULAS
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
