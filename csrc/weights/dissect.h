/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_DISSECT_H
#define SBS_WEIGHTS_DISSECT_H

#include "sbs/sbs.h"

/* Which unknowns share an equation: lists as of sbs_mesh_adjacency, each pair in the lists of both. */
typedef struct sbs_graph {
  const size_t *offsets;
  const int32_t *neighbors;
  const double *places; /* (W, 3) where the unknowns are; those that share equations should be near to each other */
} sbs_graph;

/* An order of elimination. Each part is eliminated at once. */
typedef struct sbs_dissection {
  size_t count;      /* n */
  int32_t *order;    /* (n) the unknowns, part by part */
  int32_t *slots;    /* (W) the place of each unknown in `order`; not set for others */
  size_t part_count; /* P */
  size_t *ends;      /* (P) where each part ends in `order`; the next one begins there */
} sbs_dissection;

/*
 * Nested dissection by places: two halves that share no equation, then what separates them, and the same within each
 * half. Call sbs_dissection_free also if this fails.
 *
 *   George, A. 1973. Nested Dissection of a Regular Finite Element Mesh. SIAM Journal on Numerical Analysis 10(2).
 *
 *   size      W, of all unknowns of the graph
 *   unknowns  (n) distinct; the unknowns to order. No equation of theirs may contain others
 *
 * Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_dissection_init(sbs_dissection *dissection, const sbs_graph *graph, size_t size, const int32_t *unknowns,
                               size_t count, const sbs_allocator *allocator);

void sbs_dissection_free(sbs_dissection *dissection, const sbs_allocator *allocator);

#endif
