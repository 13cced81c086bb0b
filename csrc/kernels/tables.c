/* SPDX-License-Identifier: MIT */
#include "kernels/tables.h"

#include "pose/center.h"

#define SBS_SOURCE "kernels/tables.inc"
#include "kernels/each_scalar.h"
