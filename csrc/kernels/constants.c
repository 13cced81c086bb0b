/* SPDX-License-Identifier: MIT */
#define SBS_SOURCE "kernels/constants.inc"
#include "kernels/each_scalar.h"
