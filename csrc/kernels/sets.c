/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define FORMULA_NAME sbs_move_sets
#define SBS_SOURCE "kernels/sets.inc"
#include "kernels/each_scalar.h"
