/* SPDX-License-Identifier: MIT */
#define SBS_VECTOR_BYTES 0
#define SBS_KERNELS sbs_kernels_plain
#define SBS_KERNELS_NAME "plain"
#include "deform/kernels.inc"
