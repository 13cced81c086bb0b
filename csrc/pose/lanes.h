/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_LANES_H
#define SBS_POSE_LANES_H

/*
 * Vectors for the preparation of poses, compiled for each instruction set: a lane is a joint, then a joint set. Always
 * in double.
 */
#include "base/algebra.h"
#include "base/lane_lists.h"

#define SBS_LANE double
#define SBS_LANE_MASK int64_t
#include "base/lanes.h"

/* Numbers 0 to 3 of four vectors for each half of 256 bits: columns become rows. */
#if (defined(__clang__) || __GNUC__ >= 12) && SBS_VECTOR_BYTES >= 32
#define HAVE_TRANSPOSE_QUADS
#if SBS_VECTOR_BYTES == 32
#define QUAD_LIST(f, r) SBS_LIST_4(f, r)
#else
#define QUAD_LIST(f, r) SBS_LIST_8(f, r)
#endif
#define PAIR_AT(from, l) ((l) / 2 * 2 + (l) % 2 * LANES + (from))
#define HALF_AT(from, l) ((l) / 4 * 4 + (l) % 2 + (l) % 4 / 2 * LANES + (from))
#define PAIRS(a, b, from) __builtin_shufflevector(a, b, QUAD_LIST(PAIR_AT, from))
#define HALVES(a, b, from) __builtin_shufflevector(a, b, QUAD_LIST(HALF_AT, from))
SBS_INLINE void transpose_quads(const lanes in[4], lanes out[4]) {
  const lanes even[2] = {PAIRS(in[0], in[1], 0), PAIRS(in[2], in[3], 0)};
  const lanes odd[2] = {PAIRS(in[0], in[1], 1), PAIRS(in[2], in[3], 1)};
  out[0] = HALVES(even[0], even[1], 0);
  out[1] = HALVES(odd[0], odd[1], 0);
  out[2] = HALVES(even[0], even[1], 2);
  out[3] = HALVES(odd[0], odd[1], 2);
}
#undef HALVES
#undef PAIRS
#undef HALF_AT
#undef PAIR_AT
#undef QUAD_LIST
#endif

/* The numbers of v[0] to v[LANES - 1], which become the lanes of out[0] to out[3]. */
SBS_INLINE void transpose_to_lanes(const sbs_vec4 v[LANES], lanes out[4]) {
#ifdef HAVE_TRANSPOSE_QUADS
#if SBS_VECTOR_BYTES == 32
  transpose_quads(v, out);
#else
  lanes both[4];
  for (int k = 0; k < 4; k++) both[k] = __builtin_shufflevector(v[k], v[k + 4], 0, 1, 2, 3, 4, 5, 6, 7);
  transpose_quads(both, out);
#endif
#else
  for (int i = 0; i < 4; i++) {
    lanes number = NO_LANES;
    for (size_t l = 0; l < LANES; l++) LANE(number, l) = v[l][i];
    out[i] = number;
  }
#endif
}

/* Numbers 0 to 2 alone. One by one: gcc copies arrays by half vectors, for which a load of whole ones has to wait. */
SBS_INLINE void transpose_vectors(const sbs_vec4 v[LANES], lanes out[3]) {
  lanes four[4];
  transpose_to_lanes(v, four);
  for (int i = 0; i < 3; i++) out[i] = four[i];
}

/* The same of vectors that stand anywhere. */
SBS_INLINE void transpose_lanes(const sbs_vec4 *const v[LANES], lanes out[3]) {
  sbs_vec4 vectors[LANES];
  for (size_t l = 0; l < LANES; l++) vectors[l] = *v[l];
  transpose_vectors(vectors, out);
}

/* The lanes of in[0] to in[3], which become the numbers of out[0] to out[LANES - 1]. */
SBS_INLINE void transpose_from_lanes(const lanes in[4], sbs_vec4 out[LANES]) {
#ifdef HAVE_TRANSPOSE_QUADS
#if SBS_VECTOR_BYTES == 32
  transpose_quads(in, out);
#else
  lanes both[4];
  transpose_quads(in, both);
  for (int k = 0; k < 4; k++) {
    out[k] = __builtin_shufflevector(both[k], both[k], 0, 1, 2, 3);
    out[k + 4] = __builtin_shufflevector(both[k], both[k], 4, 5, 6, 7);
  }
#endif
#else
  for (size_t l = 0; l < LANES; l++)
    out[l] = (sbs_vec4){LANE(in[0], l), LANE(in[1], l), LANE(in[2], l), LANE(in[3], l)};
#endif
}

#endif
