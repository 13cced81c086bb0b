/* SPDX-License-Identifier: MIT */
#include "gradient/kernels.h"

#define SBS_SOURCE "gradient/kernel.inc"
#include "kernels/each_scalar.h"
