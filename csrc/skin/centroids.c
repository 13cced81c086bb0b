/* SPDX-License-Identifier: MIT */
#include "skin/centroids.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/scalar.h"

/*
 * Coordinates are added as integers, whose sums are exact in any order: of the 31 bits from the largest coordinate's
 * first on, and of the 31 that follow; what is below is less than a double would keep. No sum overflows, as vertices
 * are numbered by 31 bits.
 */
#define BITS 31

typedef struct centroid_sum {
  int64_t high[3], low[3];
  size_t count;
} centroid_sum;

/* The exponent of a power of two that is above all coordinates, and the inverse of which is a number as well. */
static int exponent_above(double largest) {
  int exponent;
  frexp(largest, &exponent);
  return exponent < BITS - 1000 ? BITS - 1000 : exponent;
}

static void add_position(centroid_sum *sum, const void *position, sbs_scalar scalar, double scale) {
  for (size_t axis = 0; axis < 3; axis++) {
    const double x = sbs_scalar_get(position, scalar, axis) * scale;
    const int64_t high = (int64_t)x;
    sum->high[axis] += high;
    sum->low[axis] += (int64_t)((x - (double)high) * (double)(INT64_C(1) << BITS));
  }
  sum->count++;
}

static void put_mean(const centroid_sum *sum, int exponent, double centroid[3]) {
  for (size_t axis = 0; axis < 3; axis++) {
    const double total = (double)sum->high[axis] + ldexp((double)sum->low[axis], -BITS);
    centroid[axis] = ldexp(total / (double)sum->count, exponent - BITS);
  }
}

sbs_status sbs_find_centroids(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *sets,
                              const unsigned char *wanted) {
  centroid_sum *sums = sbs_allocate(&skin->allocator, skin->set_count, sizeof *sums);
  if (!sums) return SBS_ERROR_OUT_OF_MEMORY;
  memset(sums, 0, skin->set_count * sizeof *sums);
  const int exponent = exponent_above(skin->largest);
  const double scale = ldexp(1.0, BITS - exponent);
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : 3 * sbs_scalar_size(desc->scalar);
  for (size_t v = 0; v < skin->vertex_count; v++) {
    centroid_sum *sum = sums + sets[v];
    if (wanted && !wanted[sets[v]]) {
      sum->count++;
    } else {
      add_position(sum, (const char *)desc->rest_positions + v * stride, desc->scalar, scale);
    }
  }
  for (size_t set = 0; set < skin->set_count; set++) {
    if (!sbs_set_size(skin, set)) skin->unweighted_vertex_count = sums[set].count;
    if (!wanted || wanted[set]) put_mean(sums + set, exponent, skin->set_centroids + 3 * set);
  }
  sbs_release(&skin->allocator, sums);
  return SBS_OK;
}
