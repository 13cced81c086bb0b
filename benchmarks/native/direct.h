/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_DIRECT_H
#define BENCHMARKS_DIRECT_H

#include "deform/frame.h"
#include "kernels/kernels.h"

/*
 * The methods as the papers write them, not relative to what the pivot does (kernels/formulas.h), with all else as in
 * the library: the blocks, their order, the way of storing. For float32 and rigid joints. The difference in time is
 * what the relative form costs; the difference in the result is what it is there for.
 *
 *   linear     v' = [sum w_i A_i] x + sum w_i C_i c0
 *   spherical  v' = Q (v - c) + sum w_i C_i c
 *   dual q.    v' = Q v + the translation of sum w_i d_i
 */

/* Numbers of the constants of all groups. */
size_t direct_constants_size(const sbs_skin *skin);

/* Computes them, from a frame that has been posed. */
void direct_prepare(const sbs_frame *frame, float *constants);

/* Deforms items [begin, end) into the frame's positions and normals. */
void direct_run(const sbs_frame *frame, const float *constants, size_t begin, size_t end);

/*
 * What direct_kernels.c compiles for one instruction set: [formula][with normals][influences - 1, the last for any
 * number].
 */
typedef struct direct_kernels {
  sbs_kernel *table[SBS_FORMULA_COUNT][2][SBS_KERNEL_INFLUENCES + 1];
} direct_kernels;

extern const direct_kernels direct_kernels_baseline;
#ifdef SBS_HAVE_X86_KERNELS
extern const direct_kernels direct_kernels_avx2;
extern const direct_kernels direct_kernels_avx512;
#endif

/* A head, then a row for each joint beside the pivot: the difference to the head. */
enum {
  DIRECT_LINEAR_MATRIX = 0,  /* (12) */
  DIRECT_LINEAR_OFFSET = 12, /* (4) C_i c0 */

  DIRECT_ROTATION_QUATERNION = 0, /* (4) */
  DIRECT_ROTATION_OFFSET = 4,     /* (4) C_i c, or the dual part, about c0 */
  DIRECT_ROTATION_CENTER = 8,     /* (4) of the head alone: c - c0, or -c0 */

  DIRECT_SIZE = 16 /* of head and rows */
};

#endif
