/* SPDX-License-Identifier: MIT */
/* A k-d tree: finds the points within a radius, even if they are unevenly distributed. */
#ifndef SBS_MESH_POINT_INDEX_H
#define SBS_MESH_POINT_INDEX_H

#include "sbs/sbs.h"

typedef struct sbs_indexed_point {
  double position[3];
  int32_t id; /* the caller's */
} sbs_indexed_point;

typedef struct sbs_split {
  double position; /* points before the middle of the node are at most this, the others at least */
  int axis;
} sbs_split;

typedef struct sbs_point_index {
  size_t count;
  sbs_indexed_point *points; /* (count) leaf by leaf */
  sbs_split *splits;         /* by node: the root is 0, the halves of node i are 2 i + 1 and 2 i + 2 */
} sbs_point_index;

/*
 * Sorts the points into leaves. They are not copied and still belong to the caller. O(n log n) time.
 *
 * Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_point_index_init(sbs_point_index *index, sbs_indexed_point *points, size_t count,
                                const sbs_allocator *allocator);

void sbs_point_index_free(sbs_point_index *index, const sbs_allocator *allocator);

/*
 * Finds the points that are at most `radius` away from the center. Writes their places in `points` to `places`, and how
 * far away they are to `distances`, both with room for all points; returns how many there are.
 */
size_t sbs_point_index_within(const sbs_point_index *index, const double center[3], double radius, int32_t *places,
                              double *distances);

#endif
