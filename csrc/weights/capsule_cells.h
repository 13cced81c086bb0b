/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_CAPSULE_CELLS_H
#define SBS_WEIGHTS_CAPSULE_CELLS_H

#include "sbs/capsules.h"

/* Bytes from point to point. */
size_t sbs_points_stride(const sbs_capsules_points *points);

/* The coordinates of a point, times `scale`. */
void sbs_load_point(const sbs_capsules_points *points, size_t i, double scale, double point[3]);

/*
 * Orders points so that consecutive ones are close together: by the cells of a grid of 16^3 over all of them, the cells
 * along a Z-order curve. Writes their numbers to order (point_count). O(point_count) time.
 *
 *   scale  a factor that makes every coordinate at most 1
 */
void sbs_order_by_cells(const sbs_capsules_points *points, double scale, int32_t *order);

#endif
