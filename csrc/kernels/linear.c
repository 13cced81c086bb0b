/* SPDX-License-Identifier: MIT */
/* Linear blending. */
#define FORMULAS SBS_LINEAR_FORMULAS
#define MOVE(head, in, formula, form, v, n) ((void)(formula), NAME(linear)(head, in, form, v, n))
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
