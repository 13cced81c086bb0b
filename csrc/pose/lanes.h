/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_LANES_H
#define SBS_POSE_LANES_H

/*
 * Vectors for what prepares a pose, compiled for each instruction set: a lane is a joint, then a joint set. Always in
 * double. `lanes` is a vector of LANES doubles by the compiler's extension, or a double where LANES is 1.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiled_for_isa.h"
#include "base/vec4.h"

#define LANES (SBS_SCALAR_ONLY ? 1 : SBS_VECTOR_BYTES / 8)
#if SBS_SCALAR_ONLY
typedef double lanes;
typedef int64_t lane_mask;
#define LANE(vector, l) (vector)
#else
typedef double lanes __attribute__((vector_size(SBS_VECTOR_BYTES)));
typedef int64_t lane_mask __attribute__((vector_size(SBS_VECTOR_BYTES)));
#define LANE(vector, l) (vector)[l]
#endif

#define NO_LANES ((lanes){0.0})

/* yes where the mask is set, else no; comparisons make masks */
SBS_INLINE lanes select_lanes(lane_mask mask, lanes yes, lanes no) {
#if SBS_SCALAR_ONLY
  return mask ? yes : no;
#else
  return (lanes)(((lane_mask)yes & mask) | ((lane_mask)no & ~mask));
#endif
}

SBS_INLINE int any_lane(lane_mask mask) {
  int any = 0;
  for (int l = 0; l < LANES; l++) any |= LANE(mask, l) != 0;
  return any;
}

SBS_INLINE lanes root_of_lanes(lanes v) {
  lanes root;
  for (int l = 0; l < LANES; l++) LANE(root, l) = sqrt(LANE(v, l));
  return root;
}

SBS_INLINE lanes larger_lanes(lanes a, lanes b) {
  return select_lanes(a > b, a, b);
}

SBS_INLINE lanes absolute_lanes(lanes a) {
  return larger_lanes(a, -a);
}

/* a . b */
SBS_INLINE lanes dot_lanes(const lanes a[3], const lanes b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Numbers 0 to 2 of v[0] to v[LANES - 1], which become the lanes of out[0] to out[2]. */
SBS_INLINE void transpose_lanes(const sbs_vec4 *const v[LANES], lanes out[3]) {
#if (defined(__clang__) || __GNUC__ >= 12) && !SBS_SCALAR_ONLY
#if SBS_VECTOR_BYTES == 16
  out[0] = __builtin_shufflevector(*v[0], *v[1], 0, 4);
  out[1] = __builtin_shufflevector(*v[0], *v[1], 1, 5);
  out[2] = __builtin_shufflevector(*v[0], *v[1], 2, 6);
#elif SBS_VECTOR_BYTES == 32
#define PAIRS(a, b, first) __builtin_shufflevector(a, b, first, first + 4, first + 2, first + 6)
#define HALVES(a, b, first) __builtin_shufflevector(a, b, first, first + 1, first + 4, first + 5)
  const lanes a = *v[0], b = *v[1], c = *v[2], d = *v[3];
  out[0] = HALVES(PAIRS(a, b, 0), PAIRS(c, d, 0), 0);
  out[1] = HALVES(PAIRS(a, b, 1), PAIRS(c, d, 1), 0);
  out[2] = HALVES(PAIRS(a, b, 0), PAIRS(c, d, 0), 2);
#else /* the same in both halves of 512 bits */
#define TOGETHER(k) __builtin_shufflevector(*v[k], *v[k + 4], 0, 1, 2, 3, 4, 5, 6, 7)
#define PAIRS(a, b, f) __builtin_shufflevector(a, b, f, f + 8, f + 2, f + 10, f + 4, f + 12, f + 6, f + 14)
#define HALVES(a, b, f) __builtin_shufflevector(a, b, f, f + 1, f + 8, f + 9, f + 4, f + 5, f + 12, f + 13)
  const lanes a = TOGETHER(0), b = TOGETHER(1), c = TOGETHER(2), d = TOGETHER(3);
  out[0] = HALVES(PAIRS(a, b, 0), PAIRS(c, d, 0), 0);
  out[1] = HALVES(PAIRS(a, b, 1), PAIRS(c, d, 1), 0);
  out[2] = HALVES(PAIRS(a, b, 0), PAIRS(c, d, 0), 2);
#undef TOGETHER
#endif
#undef HALVES
#undef PAIRS
#else
  for (int i = 0; i < 3; i++) {
    for (size_t l = 0; l < LANES; l++) LANE(out[i], l) = (*v[l])[i];
  }
#endif
}

/* columns of A^T A: (00, 11, 22, 01, 02, 12) */
SBS_INLINE void gram_of(const lanes a[9], lanes gram[6]) {
  gram[0] = dot_lanes(a, a);
  gram[1] = dot_lanes(a + 3, a + 3);
  gram[2] = dot_lanes(a + 6, a + 6);
  gram[3] = dot_lanes(a, a + 3);
  gram[4] = dot_lanes(a, a + 6);
  gram[5] = dot_lanes(a + 3, a + 6);
}

#endif
