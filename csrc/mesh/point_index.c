/* SPDX-License-Identifier: MIT */
#include "mesh/point_index.h"

#include <math.h>

#include "base/memory.h"

/* The most points in a leaf. With fewer the tree would need more memory than the points. */
enum {
  LEAF = 16
};

static int widest_axis(const sbs_indexed_point *points, size_t count) {
  int widest = 0;
  double extent = -1.0;
  for (int axis = 0; axis < 3; axis++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
      low = fmin(low, points[i].position[axis]);
      high = fmax(high, points[i].position[axis]);
    }
    if (high - low > extent) {
      extent = high - low;
      widest = axis;
    }
  }
  return widest;
}

static void swap_points(sbs_indexed_point *a, sbs_indexed_point *b) {
  const sbs_indexed_point point = *a;
  *a = *b;
  *b = point;
}

/*
 * Orders points along an axis so that none before `middle` is greater than the one there and none behind it is less:
 * Hoare's Find. The pivot is random, so that no regular order of points is slow.
 */
static void select_middle(sbs_indexed_point *points, ptrdiff_t count, ptrdiff_t middle, int axis, uint64_t *random) {
  ptrdiff_t first = 0, last = count - 1;
  while (first < last) {
    *random = *random * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    const double pivot = points[first + (ptrdiff_t)(*random >> 33) % (last - first + 1)].position[axis];
    ptrdiff_t low = first, high = last;
    while (low <= high) { /* none before low is greater than the pivot, none after high is less */
      while (points[low].position[axis] < pivot) low++;
      while (points[high].position[axis] > pivot) high--;
      if (low <= high) swap_points(points + low++, points + high--);
    }
    if (middle <= high) {
      last = high;
    } else if (middle >= low) {
      first = low;
    } else {
      return;
    }
  }
}

static void build(sbs_point_index *index, size_t node, size_t begin, size_t end, uint64_t *random) {
  if (end - begin <= LEAF) return;
  const size_t middle = begin + (end - begin) / 2;
  const int axis = widest_axis(index->points + begin, end - begin);
  select_middle(index->points + begin, (ptrdiff_t)(end - begin), (ptrdiff_t)(middle - begin), axis, random);
  index->splits[node] = (sbs_split){index->points[middle].position[axis], axis};
  build(index, 2 * node + 1, begin, middle, random);
  build(index, 2 * node + 2, middle, end, random);
}

sbs_status sbs_point_index_init(sbs_point_index *index, sbs_indexed_point *points, size_t count,
                                const sbs_allocator *allocator) {
  size_t nodes = 1; /* the largest leaf of a full tree has count / nodes points, rounded up */
  while ((count + nodes - 1) / nodes > LEAF) nodes *= 2;
  *index = (sbs_point_index){count, points, sbs_allocate(allocator, nodes, sizeof *index->splits)};
  if (!index->splits) return SBS_ERROR_OUT_OF_MEMORY;
  uint64_t random = 1;
  build(index, 0, 0, count, &random);
  return SBS_OK;
}

void sbs_point_index_free(sbs_point_index *index, const sbs_allocator *allocator) {
  sbs_release(allocator, index->splits);
}

typedef struct query {
  const double *center;
  double radius;
  int32_t *places;
  double *distances;
  size_t found;
} query;

static void search_leaf(const sbs_point_index *index, size_t begin, size_t end, query *asked) {
  for (size_t i = begin; i < end; i++) {
    const double *p = index->points[i].position;
    const double x = p[0] - asked->center[0], y = p[1] - asked->center[1], z = p[2] - asked->center[2];
    const double distance = sqrt(x * x + y * y + z * z);
    if (!(distance <= asked->radius)) continue;
    asked->places[asked->found] = (int32_t)i;
    asked->distances[asked->found++] = distance;
  }
}

static void search(const sbs_point_index *index, size_t node, size_t begin, size_t end, query *asked) {
  if (end - begin <= LEAF) {
    search_leaf(index, begin, end, asked);
    return;
  }
  const size_t middle = begin + (end - begin) / 2;
  const double beyond = asked->center[index->splits[node].axis] - index->splits[node].position;
  if (beyond <= asked->radius) search(index, 2 * node + 1, begin, middle, asked);
  if (-beyond <= asked->radius) search(index, 2 * node + 2, middle, end, asked);
}

size_t sbs_point_index_within(const sbs_point_index *index, const double center[3], double radius, int32_t *places,
                              double *distances) {
  query asked = {center, radius, places, distances, 0};
  search(index, 0, 0, index->count, &asked);
  return asked.found;
}
