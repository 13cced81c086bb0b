/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define FORMULA_NAME sbs_move_centers
#define FORMULA_IS_GENERAL
#define SBS_SOURCE "kernels/centers.inc"
#include "kernels/each_scalar.h"
