/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_FRONTS_H
#define SBS_WEIGHTS_FRONTS_H

#include "weights/dissect.h"

/* A part of the unknowns that is eliminated at once. Unknowns are numbered in the order of elimination. */
typedef struct sbs_front {
  size_t begin, end;   /* its own unknowns */
  size_t border_count; /* unknowns of later parts that share equations with them once earlier parts are eliminated */
  int32_t *border;     /* (border_count) ascending */
  int32_t
      first_child; /* the first of the fronts whose border begins in this one and whose rest is added to it; -1: none */
  int32_t next_sibling; /* the next front with the same parent; -1: none */
} sbs_front;

/*
 * The symbolic factorization of a symmetric matrix: makes a front of each part. Call sbs_fronts_free also if this
 * fails; *fronts may be NULL then.
 *
 *   fronts  (part_count)
 *
 * Errors: OUT_OF_MEMORY, CANCELLED.
 */
sbs_status sbs_fronts_new(const sbs_graph *graph, const sbs_dissection *dissection, const sbs_allocator *allocator,
                          sbs_front **fronts);

void sbs_fronts_free(sbs_front *fronts, size_t count, const sbs_allocator *allocator);

#endif
