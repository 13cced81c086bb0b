/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define SBS_SOURCE "kernels/shapes.inc"
#include "kernels/each_scalar.h"
