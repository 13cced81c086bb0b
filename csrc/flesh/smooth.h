/* SPDX-License-Identifier: MIT */
#ifndef SBS_FLESH_SMOOTH_H
#define SBS_FLESH_SMOOTH_H

#include <math.h>

#include "base/algebra.h"

/* From 0 at 0 to 1 at 1, without a corner. */
static inline double sbs_smooth_step(double x) {
  const double t = fmin(fmax(x, 0.0), 1.0);
  return t * t * (3.0 - 2.0 * t);
}

/* The way from the nearest point of a bone, head and tail, to a point; returns its length. */
static inline double sbs_flesh_bone_way(const double *bone, const double *point, double way[3]) {
  double along[3], from[3];
  for (int i = 0; i < 3; i++) along[i] = bone[3 + i] - bone[i], from[i] = point[i] - bone[i];
  const double square = sbs_dot(along, along);
  const double at = square > 0.0 ? fmin(fmax(sbs_dot(from, along) / square, 0.0), 1.0) : 0.0;
  for (int i = 0; i < 3; i++) way[i] = from[i] - at * along[i];
  return sqrt(sbs_dot(way, way));
}

#endif
