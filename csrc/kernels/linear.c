/* SPDX-License-Identifier: MIT */
/* Linear blending. */
#define FORMULAS SBS_LINEAR_FORMULAS
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
