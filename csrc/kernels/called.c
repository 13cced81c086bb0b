/* SPDX-License-Identifier: MIT */
/* What kernels of all formulas call, compiled once: with a copy in each source the library was a tenth larger. */
#include "base/compiled_for_isa.h"
#if SBS_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

#include "kernels/kernels.h"

#define SBS_SOURCE "kernels/called.inc"
#include "kernels/each_scalar.h"
