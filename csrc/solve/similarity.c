/* SPDX-License-Identifier: MIT */
#include "solve/similarity.h"

#include <math.h>

/* Goes over the pairs (a, b) of a vertex's influences, to the blocks of the next one that the surface has. */
typedef struct pair_cursor {
  size_t a, b; /* the present pair; at first both are the vertex's first influence */
  const sbs_samples *blocks;
  size_t count;
} pair_cursor;

static int next_pair(const sbs_sampling *sampling, size_t vertex, pair_cursor *cursor) {
  const sbs_rows *rows = sampling->rows;
  const size_t end = rows->offsets[vertex + 1];
  for (;;) {
    if (++cursor->b >= end) {
      if (++cursor->a >= end) return 0;
      cursor->b = cursor->a;
      continue;
    }
    const int32_t pair = sbs_pairs_find(sampling->pairs, rows->joints[cursor->a], rows->joints[cursor->b]);
    cursor->blocks = sampling->blocks + sampling->offsets[pair];
    cursor->count = sampling->offsets[pair + 1] - sampling->offsets[pair];
    if (cursor->count) return 1;
  }
}

static pair_cursor first_pair(const sbs_rows *rows, size_t vertex) {
  return (pair_cursor){.a = rows->offsets[vertex], .b = rows->offsets[vertex]};
}

static sbs_similarity_args args_at(const sbs_rows *rows, const pair_cursor *cursor, double sigma, double shift) {
  const double p = rows->weights[cursor->a], q = rows->weights[cursor->b];
  return (sbs_similarity_args){cursor->blocks, cursor->count, p / sigma, q / sigma, p * q, shift};
}

/* Mass and moments over all pairs. */
static void sum_up(const sbs_sampling *sampling, size_t vertex, double sigma, double shift, double totals[4]) {
  sbs_vec4 sums[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
  for (pair_cursor at = first_pair(sampling->rows, vertex); next_pair(sampling, vertex, &at);) {
    const sbs_similarity_args args = args_at(sampling->rows, &at, sigma, shift);
    sampling->add_similarities(&args, sums);
  }
  for (size_t i = 0; i < 4; i++) totals[i] = (sums[i][0] + sums[i][1]) + (sums[i][2] + sums[i][3]);
}

/* The smallest u^2; infinite if there are no samples. */
static double least_exponent(const sbs_sampling *sampling, size_t vertex, double sigma) {
  double least = INFINITY;
  for (pair_cursor at = first_pair(sampling->rows, vertex); next_pair(sampling, vertex, &at);) {
    const sbs_similarity_args args = args_at(sampling->rows, &at, sigma, 0.0);
    for (size_t i = 0; i < args.block_count; i++) {
      const sbs_vec4 u = args.p * args.blocks[i].y - args.q * args.blocks[i].x;
      for (size_t lane = 0; lane < SBS_SAMPLE_LANES; lane++) least = fmin(least, u[lane] * u[lane]);
    }
  }
  return least;
}

int sbs_find_center(const sbs_sampling *sampling, size_t vertex, double sigma, double center[3]) {
  const double enough = 1e-250; /* a sum of this size has lost no digits to underflow */
  double totals[4];
  sum_up(sampling, vertex, sigma, 0.0, totals);
  if (!(totals[0] > enough)) {
    /* All samples are far, compared with sigma. Shift exponents so that the nearest counts 1; that scales all sums. */
    const double least = least_exponent(sampling, vertex, sigma);
    if (isinf(least)) return 0;
    sum_up(sampling, vertex, sigma, least, totals);
    if (!(totals[0] > 0.0)) return 0;
  }
  for (size_t axis = 0; axis < 3; axis++) center[axis] = totals[1 + axis] / totals[0];
  return 1;
}

size_t sbs_count_blocks(const sbs_sampling *sampling, size_t vertex) {
  size_t count = 0;
  for (pair_cursor at = first_pair(sampling->rows, vertex); next_pair(sampling, vertex, &at);) count += at.count;
  return count;
}
