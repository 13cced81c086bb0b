/* SPDX-License-Identifier: MIT */
/* All that is compiled for an instruction set, by formula. */
#include "kernels/kernels.h"

#define SBS_SOURCE "kernels/table.inc"
#include "kernels/each_scalar.h"
