/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_SEGMENT_H
#define SBS_MESH_SEGMENT_H

#include <math.h>

#include "base/algebra.h"

/* Triangles overlap by this share of their sides, so that no segment slips through between two of them. */
static const double sbs_segment_overlap = 1e-9;

/* A segment counts as parallel to a triangle if the sine of its angle to it is less than this. */
static const double sbs_segment_parallel = 1e-12;

/* The place on the segment from p to p + d, as a number from 0 to 1, that is nearest to the point p + q. */
static inline double sbs_segment_nearest(sbs_vec3 q, sbs_vec3 d) {
  const double square = sbs_vec3_dot(d, d);
  if (!(square > 0.0)) return 0.0;
  return fmin(fmax(sbs_vec3_dot(q, d) / square, 0.0), 1.0);
}

/*
 * Whether a segment crosses a triangle strictly between its ends. The direction is from its start to its end.
 *
 *   Moller, T. and Trumbore, B. 1997. Fast, Minimum Storage Ray-Triangle Intersection. Journal of Graphics Tools 2(1).
 */
static inline int sbs_segment_crosses(sbs_vec3 start, sbs_vec3 direction, double (*corners)[3]) {
  const sbs_vec3 a = sbs_vec3_read(corners[0]);
  const sbs_vec3 ab = sbs_vec3_subtract(sbs_vec3_read(corners[1]), a);
  const sbs_vec3 ac = sbs_vec3_subtract(sbs_vec3_read(corners[2]), a);
  const sbs_vec3 p = sbs_vec3_cross(direction, ac);
  const double determinant = sbs_vec3_dot(ab, p);
  const double largest =
      sqrt(sbs_vec3_dot(direction, direction)) * sqrt(sbs_vec3_dot(ab, ab)) * sqrt(sbs_vec3_dot(ac, ac));
  if (!(fabs(determinant) > sbs_segment_parallel * largest)) return 0;
  const sbs_vec3 from_a = sbs_vec3_subtract(start, a);
  const double u = sbs_vec3_dot(from_a, p) / determinant;
  if (!(u >= -sbs_segment_overlap && u <= 1.0 + sbs_segment_overlap)) return 0;
  const sbs_vec3 q = sbs_vec3_cross(from_a, ab);
  const double v = sbs_vec3_dot(direction, q) / determinant;
  if (!(v >= -sbs_segment_overlap && u + v <= 1.0 + sbs_segment_overlap)) return 0;
  const double t = sbs_vec3_dot(ac, q) / determinant;
  return t > 0.0 && t < 1.0;
}

#endif
