/* SPDX-License-Identifier: MIT */
/* The formula of capsule weights, for a block of points. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weights/capsule_falloff.h"
#include "weights/capsules.h"

/* More than the rounding of a distance if no number is above 1. */
static const double slack = 1e-12;

/* Squares are multiplied by this before a test that may err on one side only. */
static const double margin = 1.0 + 16.0 * DBL_EPSILON;

/* ----------------------------------------------------------------------------------------------------- distances -- */

/*
 * Measures squared distances from points to the segment of a capsule, and where the nearest point is, from 0 (head) to
 * 1 (tail).
 */
static inline void measure(const sbs_capsule *capsule, const double *x, const double *y, const double *z, size_t count,
                           double *restrict squares, double *restrict places) {
  const double hx = capsule->head[0], hy = capsule->head[1], hz = capsule->head[2];
  const double ax = capsule->axis[0], ay = capsule->axis[1], az = capsule->axis[2];
  const double inverse_square = capsule->inverse_square;
  for (size_t i = 0; i < count; i++) {
    const double px = x[i] - hx, py = y[i] - hy, pz = z[i] - hz;
    double u = (px * ax + py * ay + pz * az) * inverse_square;
    u = u > 0.0 ? u : 0.0;
    u = u < 1.0 ? u : 1.0;
    const double dx = px - u * ax, dy = py - u * ay, dz = pz - u * az;
    squares[i] = dx * dx + dy * dy + dz * dz;
    places[i] = u;
  }
}

/* Distances of all points of a block to a capsule. */
typedef struct distances {
  double squares[SBS_CAPSULE_BLOCK];
  double outer[SBS_CAPSULE_BLOCK]; /* r_outer at the nearest point */
  double places[SBS_CAPSULE_BLOCK];
} distances;

static void measure_block(const sbs_capsule_block *block, const sbs_capsule *capsule, distances *result) {
  measure(capsule, block->points[0], block->points[1], block->points[2], SBS_CAPSULE_BLOCK, result->squares,
          result->places);
  for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) {
    result->outer[i] = capsule->outer + result->places[i] * capsule->outer_rise;
  }
}

/* ------------------------------------------------------------------------------------------------------- culling -- */

typedef struct ball {
  double center[3];
  double radius;
} ball;

static ball ball_around(const sbs_capsule_block *block) {
  ball result;
  double squares[SBS_CAPSULE_BLOCK] = {0.0}, largest = 0.0;
  for (int axis = 0; axis < 3; axis++) {
    const double *points = block->points[axis];
    double low = points[0], high = points[0];
    for (size_t i = 1; i < SBS_CAPSULE_BLOCK; i++) {
      low = points[i] < low ? points[i] : low;
      high = points[i] > high ? points[i] : high;
    }
    const double center = result.center[axis] = 0.5 * (low + high);
    for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) squares[i] += (points[i] - center) * (points[i] - center);
  }
  for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) largest = squares[i] > largest ? squares[i] : largest;
  result.radius = sqrt(largest);
  return result;
}

/*
 * Bounds d - r_outer of every capsule over the block, for a distance changes no faster than the point moves. Returns an
 * upper bound of the smallest d - r_outer of any point.
 */
static double bound_gaps(sbs_capsule_block *block) {
  const ball around = ball_around(block);
  double upper = INFINITY;
  for (size_t c = 0; c < block->capsule_count; c++) {
    const sbs_capsule *capsule = block->capsules + c;
    double square, place;
    measure(capsule, &around.center[0], &around.center[1], &around.center[2], 1, &square, &place);
    const double distance = sqrt(square);
    block->lowest_gaps[c] = distance - around.radius - capsule->largest_outer - slack;
    const double highest = distance + around.radius - capsule->smallest_outer + slack;
    upper = highest < upper ? highest : upper;
  }
  return upper;
}

/* ---------------------------------------------------------------------------------------------------------- hits -- */

/* Adds a hit with m f and d of a point if f is not 0. */
static void add_hit(sbs_capsule_block *block, const sbs_capsule *capsule, size_t i, const distances *measured,
                    size_t *count) {
  const double distance = sqrt(measured->squares[i]), r_outer = measured->outer[i];
  const double r_inner = capsule->inner + measured->places[i] * capsule->inner_rise;
  double value = capsule->multiplier;
  if (distance > r_inner) {
    if (distance >= r_outer) return;
    value *= sbs_falloff_at(capsule->falloff, (distance - r_inner) / (r_outer - r_inner));
  }
  if (!(value > 0.0)) return;
  const double reach = block->reaches[i] > capsule->reach ? block->reaches[i] : capsule->reach;
  const int on_axis = distance <= block->tolerance * reach;
  block->hits[i * block->capsule_count + (*count)++] =
      (sbs_capsule_hit){on_axis ? 0.0 : distance, value, capsule->joint};
}

/* Finds the capsules that each point is in. */
static void find_hits(sbs_capsule_block *block, size_t counts[SBS_CAPSULE_BLOCK]) {
  memset(counts, 0, SBS_CAPSULE_BLOCK * sizeof *counts);
  for (size_t c = 0; c < block->capsule_count; c++) {
    if (block->lowest_gaps[c] > 0.0) continue;
    const sbs_capsule *capsule = block->capsules + c;
    distances measured;
    double beyond[SBS_CAPSULE_BLOCK];
    measure_block(block, capsule, &measured);
    for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) {
      beyond[i] = measured.squares[i] - measured.outer[i] * measured.outer[i] * margin;
    }
    for (size_t i = 0; i < block->point_count; i++) {
      if (!(beyond[i] > 0.0)) add_hit(block, capsule, i, &measured, counts + i);
    }
  }
}

/*
 * The lecture's w_j = f(d_j) / d_j, before they are divided by their sum: m f / d, times the smallest d, so that
 * nothing overflows. If that is 0, only joints with d = 0 keep a weight.
 */
static void divide_by_distance(sbs_capsule_hit *hits, size_t count) {
  double smallest = INFINITY;
  for (size_t i = 0; i < count; i++) {
    if (hits[i].distance < smallest) smallest = hits[i].distance;
  }
  for (size_t i = 0; i < count; i++) {
    if (hits[i].distance > smallest) hits[i].value *= smallest / hits[i].distance;
  }
}

static int compare_hits(const void *left, const void *right) {
  const sbs_capsule_hit *a = left, *b = right;
  if (a->value != b->value) return a->value > b->value ? -1 : 1;
  return a->joint < b->joint ? -1 : 1;
}

static void sort_hits(sbs_capsule_hit *hits, size_t count) {
  enum {
    FEW = 32
  };
  if (count > FEW) {
    qsort(hits, count, sizeof *hits, compare_hits);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    const sbs_capsule_hit hit = hits[i];
    size_t at = i;
    for (; at > 0 && compare_hits(&hit, hits + at - 1) < 0; at--) hits[at] = hits[at - 1];
    hits[at] = hit;
  }
}

/*
 * How many of the sorted hits have weight. Zero, or too small for float32 beside the first, counts as none.
 */
static size_t count_weights(const sbs_capsule_hit *hits, size_t count) {
  while (count && (hits[count - 1].value == 0.0 || hits[count - 1].value < (double)FLT_MIN * hits[0].value)) count--;
  return count;
}

/* ------------------------------------------------------------------------------------------------------- nearest -- */

/* Finds the joint of smallest d - r_outer for each point; `upper` bounds them. */
static void find_nearest(const sbs_capsule_block *block, double upper, int32_t joints[SBS_CAPSULE_BLOCK]) {
  double smallest[SBS_CAPSULE_BLOCK];
  for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) smallest[i] = INFINITY;
  for (size_t c = 0; c < block->capsule_count; c++) {
    if (block->lowest_gaps[c] > upper) continue;
    const sbs_capsule *capsule = block->capsules + c;
    distances measured;
    double gaps[SBS_CAPSULE_BLOCK];
    measure_block(block, capsule, &measured);
    for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) gaps[i] = sqrt(measured.squares[i]) - measured.outer[i];
    for (size_t i = 0; i < block->point_count; i++) {
      if (gaps[i] < smallest[i]) {
        smallest[i] = gaps[i];
        joints[i] = capsule->joint;
      }
    }
  }
}

void sbs_weigh_capsule_block(sbs_capsule_block *block, sbs_capsule_sink *sink, void *context) {
  const double upper = bound_gaps(block);
  size_t counts[SBS_CAPSULE_BLOCK];
  int any_outside = 0;
  find_hits(block, counts);
  for (size_t i = 0; i < block->point_count; i++) any_outside |= !counts[i];
  const int nearest = any_outside && block->outside == SBS_CAPSULES_OUTSIDE_NEAREST;
  int32_t joints[SBS_CAPSULE_BLOCK];
  if (nearest) find_nearest(block, upper, joints);

  for (size_t i = 0; i < block->point_count; i++) {
    sbs_capsule_hit *hits = block->hits + i * block->capsule_count;
    const int outside = !counts[i];
    if (!outside) {
      divide_by_distance(hits, counts[i]);
      sort_hits(hits, counts[i]);
      counts[i] = count_weights(hits, counts[i]);
    } else if (nearest) {
      hits[0] = (sbs_capsule_hit){0.0, 1.0, joints[i]};
      counts[i] = 1;
    }
    sink(context, &(sbs_capsule_row){i, hits, counts[i], outside});
  }
}
