/* SPDX-License-Identifier: MIT */
#define SBS_VECTOR_BYTES 64
#define SBS_KERNELS sbs_kernels_avx512
#define SBS_KERNELS_NAME "avx512"
#include "deform/kernels.inc"
