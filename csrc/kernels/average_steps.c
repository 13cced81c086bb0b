/* SPDX-License-Identifier: MIT */
#define SBS_SOURCE "kernels/average_steps.inc"
#include "kernels/each_scalar.h"
