/* SPDX-License-Identifier: MIT */
#include "deform/kernels.h"

#ifdef SBS_HAVE_BASELINE_KERNELS
#define SBS_VECTOR_BYTES 16
#define SBS_KERNELS sbs_kernels_baseline
#define SBS_KERNELS_NAME "baseline"
#include "deform/kernels.inc"
#endif
