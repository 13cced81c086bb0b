/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define FORMULA_NAME sbs_move_linear
#define SBS_SOURCE "kernels/linear.inc"
#include "kernels/each_scalar.h"
