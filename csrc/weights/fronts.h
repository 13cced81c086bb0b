/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_FRONTS_H
#define SBS_WEIGHTS_FRONTS_H

#include "weights/dissect.h"

/* A part of the unknowns that is eliminated at once. Unknowns are named by their places in the order of elimination. */
typedef struct sbs_front {
  size_t begin, end;    /* its own unknowns */
  size_t border_count;  /* those of later parts that are in equations with them, once earlier parts are gone */
  int32_t *border;      /* (border_count) ascending */
  int32_t first_child;  /* fronts whose border begins in this one, which takes what they leave; -1: none */
  int32_t next_sibling; /* the next front with the same taker; -1: none */
} sbs_front;

/*
 * The symbolic factorization of a symmetric matrix: makes a front of each part. Released by sbs_fronts_free also where
 * that fails; then *fronts may be NULL.
 *
 *   fronts  (part_count)
 *
 * Errors: OUT_OF_MEMORY, CANCELLED.
 */
sbs_status sbs_fronts_new(const sbs_graph *graph, const sbs_dissection *dissection, const sbs_allocator *allocator,
                          sbs_front **fronts);

void sbs_fronts_free(sbs_front *fronts, size_t count, const sbs_allocator *allocator);

#endif
