/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_STREAM_H
#define BENCHMARKS_STREAM_H

#include "skin/skin.h"

/*
 * The bound: reads all that the kernels read of items [begin, end), the streams of positions, weights and, if
 * `normals_out` is not NULL, normals; writes as much as they write, in the order of the blocks. Next to no arithmetic.
 *
 *   positions_out, normals_out  (block_count, SBS_BLOCK, 3) float32, aligned to SBS_ALIGNMENT
 */
void stream_items(const sbs_skin *skin, size_t begin, size_t end, float *positions_out, float *normals_out);

#endif
