/* SPDX-License-Identifier: MIT */
/* Linear blending. */
#include "kernels/kernels.h"

#define FORMULA SBS_FORMULA_LINEAR
#define FORMULA_NAME linear
#define PLAIN_KERNELS FROM_1
#define FAR_KERNELS NONE
#define IN_PART_KERNELS NONE
#define MOVE(head, in, formula, form, v, n) ((void)(formula), NAME(linear)(head, in, form, v, n))
/* AVX2 has no operation that takes one number from memory for all lanes: each is loaded once for two vectors. */
#if SBS_VECTOR_BYTES == 32
#define MOVE_TWO NAME(linear_two)
#endif
#define SBS_SOURCE "kernels/kernel.inc"
#include "kernels/each_scalar.h"
