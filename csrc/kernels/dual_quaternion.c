/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define FORMULA_NAME sbs_move_dual_quaternion
#define FORMULA_IS_GENERAL
#define SBS_SOURCE "kernels/dual_quaternion.inc"
#include "kernels/each_scalar.h"
