/* SPDX-License-Identifier: MIT */
#define SBS_SOURCE "kernels/mix.inc"
#include "kernels/each_scalar.h"
