/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define SBS_SOURCE "kernels/average_steps.inc"
#include "kernels/each_scalar.h"
