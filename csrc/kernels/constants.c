/* SPDX-License-Identifier: MIT */
#include "kernels/constants.h"

#define SBS_SOURCE "kernels/constants.inc"
#include "kernels/each_scalar.h"
