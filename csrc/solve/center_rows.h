/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_CENTER_ROWS_H
#define SBS_SOLVE_CENTER_ROWS_H

#include "base/arena.h"
#include "base/key_table.h"
#include "sbs/sbs.h"

/* The influences of all vertices, as sbs_influences_read gives them. */
typedef struct sbs_rows {
  size_t vertex_count;
  size_t *offsets; /* (vertex_count + 1) vertex v has numbers offsets[v] to offsets[v + 1] - 1 */
  int32_t *joints; /* ascending for each vertex */
  double *weights;
  size_t largest; /* the most influences of a vertex */
} sbs_rows;

/* Reads the influences of a valid description. */
sbs_status sbs_rows_new(sbs_rows *rows, const sbs_skin_desc *desc, sbs_arena *arena);

static inline size_t sbs_rows_count(const sbs_rows *rows, size_t vertex) {
  return rows->offsets[vertex + 1] - rows->offsets[vertex];
}

/* The weight of a joint at a vertex. */
static inline double sbs_rows_weight(const sbs_rows *rows, size_t vertex, int32_t joint) {
  for (size_t i = rows->offsets[vertex]; i < rows->offsets[vertex + 1]; i++) {
    if (rows->joints[i] == joint) return rows->weights[i];
  }
  return 0.0;
}

/* The pairs of joints j < k that influence a vertex together, numbered in the order of the vertices. */
typedef struct sbs_pairs {
  sbs_key_table table; /* keys of both joints */
  int32_t (*joints)[2];
} sbs_pairs;

/* Errors: OUT_OF_MEMORY, also if there are too many pairs to number. */
sbs_status sbs_pairs_new(sbs_pairs *pairs, const sbs_rows *rows, size_t joint_count, sbs_arena *arena);

/* The number of a pair, or -1 if no vertex has it. */
int32_t sbs_pairs_find(const sbs_pairs *pairs, int32_t j, int32_t k);

#endif
