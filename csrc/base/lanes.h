/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the length of an instruction set, by the compiler's extension. A source that is compiled for each of them
 * defines SBS_LANE as float or double, and SBS_LANE_MASK as the integer of its size, then includes this once.
 * `lanes` is LANES numbers; a number where the instruction set has no vectors.
 */
#ifndef SBS_BASE_LANES_H
#define SBS_BASE_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiled_for_isa.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define LANES (SBS_SCALAR_ONLY ? 1 : SBS_VECTOR_BYTES / (int)sizeof(SBS_LANE))
#if SBS_SCALAR_ONLY
typedef SBS_LANE lanes;
typedef SBS_LANE_MASK lane_mask;
#define LANE(vector, l) (vector)
#else
typedef SBS_LANE lanes __attribute__((vector_size(SBS_VECTOR_BYTES)));
typedef SBS_LANE_MASK lane_mask __attribute__((vector_size(SBS_VECTOR_BYTES)));
#define LANE(vector, l) (vector)[l]
#endif
#define NO_LANES ((lanes){(SBS_LANE)0})

/* yes where the mask is set, else no; comparisons make masks */
SBS_INLINE lanes select_lanes(lane_mask mask, lanes yes, lanes no) {
#if SBS_SCALAR_ONLY
  return mask ? yes : no;
#else
  return (lanes)(((lane_mask)yes & mask) | ((lane_mask)no & ~mask));
#endif
}

/*
 * x86 has single instructions where compilers take several steps: OF_TYPE is the intrinsic for the type
 * of lanes, and ESTIMATE that of an estimate in single precision.
 */
#if !SBS_SCALAR_ONLY && SBS_VECTOR_BYTES == 64 && defined(__AVX512F__)
#define OF_TYPE(name, a, b) \
  (sizeof(SBS_LANE) == sizeof(float) ? (lanes)_mm512_##name##_ps((__m512)(a), (__m512)(b)) \
                                     : (lanes)_mm512_##name##_pd((__m512d)(a), (__m512d)(b)))
#define ESTIMATE(name, v) (lanes) _mm512_##name##14_ps((__m512)(v))
#define IS_ANY(mask) (_mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#elif !SBS_SCALAR_ONLY && SBS_VECTOR_BYTES == 32 && defined(__AVX__)
#define OF_TYPE(name, a, b) \
  (sizeof(SBS_LANE) == sizeof(float) ? (lanes)_mm256_##name##_ps((__m256)(a), (__m256)(b)) \
                                     : (lanes)_mm256_##name##_pd((__m256d)(a), (__m256d)(b)))
#define ESTIMATE(name, v) (lanes) _mm256_##name##_ps((__m256)(v))
#define IS_ANY(mask) (_mm256_movemask_ps((__m256)(mask)) != 0)
#elif !SBS_SCALAR_ONLY && SBS_VECTOR_BYTES == 16 && defined(__SSE2__)
#define OF_TYPE(name, a, b) \
  (sizeof(SBS_LANE) == sizeof(float) ? (lanes)_mm_##name##_ps((__m128)(a), (__m128)(b)) \
                                     : (lanes)_mm_##name##_pd((__m128d)(a), (__m128d)(b)))
#define ESTIMATE(name, v) (lanes) _mm_##name##_ps((__m128)(v))
#define IS_ANY(mask) (_mm_movemask_ps((__m128)(mask)) != 0)
#endif

SBS_INLINE int any_lane(lane_mask mask) {
#ifdef IS_ANY
  return IS_ANY(mask);
#else
  enum {
    PARTS = sizeof mask > 8 ? sizeof mask / 8 : 1
  };
  uint64_t parts[PARTS] = {0}, any = 0;
  memcpy(parts, &mask, sizeof mask);
  for (int i = 0; i < PARTS; i++) any |= parts[i];
  return any != 0;
#endif
}

SBS_INLINE lanes lane_square_root(lanes v) {
  lanes root = v;
  for (int l = 0; l < LANES; l++) LANE(root, l) = _Generic((SBS_LANE)0, float: sqrtf, double: sqrt)(LANE(v, l));
  return root;
}

/*
 * 1 over numbers, and over their roots, of normal numbers above 0 (of the former below 0, too): in single precision by
 * the processor's estimates and a step of Newton's method, to some units in the last place.
 */
SBS_INLINE lanes per_lanes(lanes v) {
#ifdef ESTIMATE
  if (sizeof(SBS_LANE) == sizeof(float)) {
    const lanes estimate = ESTIMATE(rcp, v);
    return estimate + estimate * ((SBS_LANE)1 - v * estimate);
  }
#endif
  return (SBS_LANE)1 / v;
}

SBS_INLINE lanes lane_reciprocal_square_root(lanes v) {
#ifdef ESTIMATE
  if (sizeof(SBS_LANE) == sizeof(float)) {
    const lanes estimate = ESTIMATE(rsqrt, v);
    return estimate + (SBS_LANE)0.5 * estimate * ((SBS_LANE)1 - v * estimate * estimate);
  }
#endif
  return (SBS_LANE)1 / lane_square_root(v);
}

/* b where they are not ordered */
SBS_INLINE lanes larger_lanes(lanes a, lanes b) {
#ifdef OF_TYPE
  return OF_TYPE(max, a, b);
#else
  return select_lanes(a > b, a, b);
#endif
}

SBS_INLINE lanes smaller_lanes(lanes a, lanes b) {
#ifdef OF_TYPE
  return OF_TYPE(min, a, b);
#else
  return select_lanes(a < b, a, b);
#endif
}

SBS_INLINE lanes absolute_lanes(lanes a) {
  return larger_lanes(a, -a);
}

SBS_INLINE lanes load_lanes(const SBS_LANE *from) {
  lanes v;
  memcpy(&v, from, sizeof v);
  return v;
}

SBS_INLINE void store_lanes(lanes v, SBS_LANE *to) {
  memcpy(to, &v, sizeof v);
}

/* -------------------------------------------------------------------------------------------- the small algebra -- */

/*
 * As in base/algebra.h, for each lane: vectors (3), matrices of three columns (9), and symmetric matrices
 * (00, 01, 02, 11, 12, 22).
 */

/* a . b */
SBS_INLINE lanes dot_lanes(const lanes a[3], const lanes b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a x b */
SBS_INLINE void cross_lanes(const lanes a[3], const lanes b[3], lanes out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* sum += a x b */
SBS_INLINE void add_cross_lanes(lanes sum[3], const lanes a[3], const lanes b[3]) {
  sum[0] += a[1] * b[2] - a[2] * b[1];
  sum[1] += a[2] * b[0] - a[0] * b[2];
  sum[2] += a[0] * b[1] - a[1] * b[0];
}

/* sum += m v */
SBS_INLINE void add_moved_lanes(const lanes m[9], const lanes v[3], lanes sum[3]) {
  for (int i = 0; i < 3; i++) sum[i] += m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/* sum += m^T v */
SBS_INLINE void add_transposed_lanes(const lanes m[9], const lanes v[3], lanes sum[3]) {
  for (int j = 0; j < 3; j++) sum[j] += dot_lanes(m + 3 * j, v);
}

/* m v */
SBS_INLINE void apply_lanes(const lanes m[9], const lanes v[3], lanes out[3]) {
  out[0] = out[1] = out[2] = NO_LANES;
  add_moved_lanes(m, v, out);
}

/* m^T m */
SBS_INLINE void gram_matrix(const lanes m[9], lanes gram[6]) {
  gram[0] = dot_lanes(m, m);
  gram[1] = dot_lanes(m, m + 3);
  gram[2] = dot_lanes(m, m + 6);
  gram[3] = dot_lanes(m + 3, m + 3);
  gram[4] = dot_lanes(m + 3, m + 6);
  gram[5] = dot_lanes(m + 6, m + 6);
}

SBS_INLINE void add_to_diagonal(lanes m[6], SBS_LANE number) {
  m[0] += number;
  m[3] += number;
  m[5] += number;
}

/* A symmetric positive definite matrix as L D L^T, by which several equations are solved. */
typedef struct factors {
  lanes l10, l20, l21;
  lanes inverse[3]; /* of D */
} factors;

SBS_INLINE factors factorize(const lanes m[6]) {
  factors f;
  f.inverse[0] = (SBS_LANE)1 / m[0];
  f.l10 = m[1] * f.inverse[0];
  f.l20 = m[2] * f.inverse[0];
  f.inverse[1] = (SBS_LANE)1 / (m[3] - f.l10 * m[1]);
  const lanes rest = m[4] - f.l20 * m[1];
  f.l21 = rest * f.inverse[1];
  f.inverse[2] = (SBS_LANE)1 / (m[5] - f.l20 * m[2] - f.l21 * rest);
  return f;
}

/* sum += the solution for the right side */
SBS_INLINE void add_solution(const factors *f, const lanes right[3], lanes sum[3]) {
  const lanes y1 = right[1] - f->l10 * right[0];
  const lanes y2 = right[2] - f->l20 * right[0] - f->l21 * y1;
  const lanes x2 = y2 * f->inverse[2];
  const lanes x1 = y1 * f->inverse[1] - f->l21 * x2;
  sum[0] += right[0] * f->inverse[0] - f->l10 * x1 - f->l20 * x2;
  sum[1] += x1;
  sum[2] += x2;
}

#endif
