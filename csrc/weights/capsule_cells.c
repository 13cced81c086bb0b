/* SPDX-License-Identifier: MIT */
#include "weights/capsule_cells.h"

#include <math.h>

#include "base/scalar.h"

enum {
  CELLS_ALONG = 16,
  CELLS = CELLS_ALONG * CELLS_ALONG * CELLS_ALONG
};

size_t sbs_points_stride(const sbs_capsules_points *points) {
  return points->points_stride ? points->points_stride : 3 * sbs_scalar_size(points->scalar);
}

void sbs_load_point(const sbs_capsules_points *points, size_t i, double scale, double point[3]) {
  const void *numbers = (const char *)points->points + i * sbs_points_stride(points);
  for (size_t axis = 0; axis < 3; axis++) point[axis] = scale * sbs_scalar_get(numbers, points->scalar, axis);
}

typedef struct grid {
  double low[3];
  double cells_per_length[3];
} grid;

static grid grid_over(const sbs_capsules_points *points, double scale) {
  grid result;
  double high[3], point[3];
  sbs_load_point(points, 0, scale, result.low);
  sbs_load_point(points, 0, scale, high);
  for (size_t i = 1; i < points->point_count; i++) {
    sbs_load_point(points, i, scale, point);
    for (int axis = 0; axis < 3; axis++) {
      result.low[axis] = point[axis] < result.low[axis] ? point[axis] : result.low[axis];
      high[axis] = point[axis] > high[axis] ? point[axis] : high[axis];
    }
  }
  for (int axis = 0; axis < 3; axis++) {
    const double length = high[axis] - result.low[axis];
    result.cells_per_length[axis] = length > 1e-300 ? CELLS_ALONG / length : 0.0;
  }
  return result;
}

/* The number of a point's cell: the bits of its three coordinates interleaved. */
static unsigned find_cell(const grid *over, const double point[3]) {
  static const unsigned short spread[CELLS_ALONG] = {0x000, 0x001, 0x008, 0x009, 0x040, 0x041, 0x048, 0x049,
                                                     0x200, 0x201, 0x208, 0x209, 0x240, 0x241, 0x248, 0x249};
  unsigned cell = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int at = (int)((point[axis] - over->low[axis]) * over->cells_per_length[axis]);
    cell |= (unsigned)spread[at < CELLS_ALONG ? at : CELLS_ALONG - 1] << axis;
  }
  return cell;
}

void sbs_order_by_cells(const sbs_capsules_points *points, double scale, int32_t *order) {
  const grid over = grid_over(points, scale);
  double point[3];
  int32_t next[CELLS + 1] = {0}; /* first the sizes of the cells, then where the next point of each goes */
  for (size_t i = 0; i < points->point_count; i++) {
    sbs_load_point(points, i, scale, point);
    next[find_cell(&over, point) + 1]++;
  }
  for (int cell = 0; cell < CELLS; cell++) next[cell + 1] += next[cell];
  for (size_t i = 0; i < points->point_count; i++) {
    sbs_load_point(points, i, scale, point);
    order[next[find_cell(&over, point)]++] = (int32_t)i;
  }
}
