/* SPDX-License-Identifier: MIT */
#define SBS_SOURCE "kernels/inverse.inc"
#include "kernels/each_scalar.h"
