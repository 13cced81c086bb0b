/* SPDX-License-Identifier: MIT */
#include "stream.h"

/* A cache line: one number of each vertex of a block. */
typedef float line __attribute__((vector_size(64), may_alias));
typedef int32_t bits __attribute__((vector_size(64)));

#define INLINE static inline __attribute__((always_inline))

/* So that nothing is read in vain. */
INLINE line merge(line a, line b) {
  return (line)((bits)a | (bits)b);
}

INLINE void stream_blocks(const line *in, const line *normals, size_t blocks, size_t weights, line *out,
                          line *normals_out) {
  for (size_t b = 0; b < blocks; b++, in += 3 + weights, out += 3) {
    line v[3] = {in[0], in[1], in[2]};
#pragma GCC unroll 4
    for (size_t i = 0; i < weights; i++) v[i % 3] = merge(v[i % 3], in[3 + i]);
    for (int i = 0; i < 3; i++) out[i] = v[i];
    if (normals_out) {
      for (int i = 0; i < 3; i++) normals_out[i] = normals[i];
      normals += 3;
      normals_out += 3;
    }
  }
}

INLINE void stream_by_weights(const line *in, const line *normals, size_t blocks, size_t weights, line *out,
                              line *normals_out) {
  switch (weights) {
    case 0: stream_blocks(in, normals, blocks, 0, out, normals_out); break;
    case 1: stream_blocks(in, normals, blocks, 1, out, normals_out); break;
    case 2: stream_blocks(in, normals, blocks, 2, out, normals_out); break;
    case 3: stream_blocks(in, normals, blocks, 3, out, normals_out); break;
    default: stream_blocks(in, normals, blocks, weights, out, normals_out);
  }
}

void stream_items(const sbs_skin *skin, size_t begin, size_t end, float *positions_out, float *normals_out) {
  for (size_t i = begin; i < end; i++) {
    const sbs_item *item = skin->items + i;
    const size_t blocks = ((size_t)item->vertex_count + SBS_BLOCK - 1) / SBS_BLOCK,
                 at = 3 * SBS_BLOCK * item->first_block;
    const size_t weights = (size_t)skin->groups[item->group].others;
    const line *in = (const line *)((const float *)skin->stream + item->stream);
    if (normals_out) {
      const line *normals = (const line *)((const float *)skin->normals + at);
      stream_by_weights(in, normals, blocks, weights, (line *)(positions_out + at), (line *)(normals_out + at));
    } else {
      stream_by_weights(in, NULL, blocks, weights, (line *)(positions_out + at), NULL);
    }
  }
}
