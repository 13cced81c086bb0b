/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "twist/twist.h"

static const double TURN = 6.283185307179586476925286766559;

double sbs_twist_angle(const double *quaternion, const double *axis, double expected) {
  const double w = quaternion[0], *v = quaternion + 1;
  const double along = v[0] * axis[0] + v[1] * axis[1] + v[2] * axis[2];
  const double squares = w * w + v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
  if (!(w * w + along * along > SBS_NO_TWIST * SBS_NO_TWIST * squares)) return expected;
  const double angle = 2.0 * atan2(along, w);
  return angle + TURN * round((expected - angle) / TURN);
}
