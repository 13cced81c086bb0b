/* SPDX-License-Identifier: MIT */
#define SBS_VECTOR_BYTES 32
#define SBS_KERNELS sbs_kernels_avx2
#define SBS_KERNELS_NAME "avx2"
#include "deform/kernels.inc"
