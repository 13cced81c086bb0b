/* SPDX-License-Identifier: MIT */
#include "muscles/profile.h"

#include <math.h>

const double sbs_path_nodes[SBS_PATH_NODES] = {0.009219682876640375, 0.04794137181476257, 0.11504866290284765,
                                               0.2063410228566913,   0.3160842505009099,  0.43738329574426554,
                                               0.5626167042557345,   0.6839157494990901,  0.7936589771433087,
                                               0.8849513370971523,   0.9520586281852375,  0.9907803171233597};
const double sbs_path_weights[SBS_PATH_NODES] = {0.023587668193255914, 0.05346966299765921, 0.08003916427167311,
                                                 0.10158371336153296,  0.1167462682691774,  0.12457352290670139,
                                                 0.12457352290670139,  0.1167462682691774,  0.10158371336153296,
                                                 0.08003916427167311,  0.05346966299765921, 0.023587668193255914};

/* The cubic with these values and slopes, for a step of length 1, at its ends. */
static void put_cubic(double r0, double slope0, double r1, double slope1, double cubic[4]) {
  cubic[0] = r0;
  cubic[1] = slope0;
  cubic[2] = 3.0 * (r1 - r0) - 2.0 * slope0 - slope1;
  cubic[3] = 2.0 * (r0 - r1) + slope0 + slope1;
}

static double cubic_at(const double cubic[4], double f) {
  return cubic[0] + f * (cubic[1] + f * (cubic[2] + f * cubic[3]));
}

static double cubic_slope(const double cubic[4], double f) {
  return cubic[1] + f * (2.0 * cubic[2] + f * 3.0 * cubic[3]);
}

/* The slope between two intervals: the harmonic mean of theirs, and none at an extremum. */
static double slope_between(double before, double after) {
  return before * after > 0.0 ? 2.0 * before * after / (before + after) : 0.0;
}

static double slope_at(const double *radii, size_t count, size_t i) {
  if (i == 0) return radii[1] - radii[0];
  if (i == count - 1) return radii[i] - radii[i - 1];
  return slope_between(radii[i] - radii[i - 1], radii[i + 1] - radii[i]);
}

/* The radius given at u, and its derivative. */
static double given(const double *radii, size_t count, double u, double *slope) {
  const double place = u * (double)(count - 1);
  const size_t i = place < (double)(count - 1) ? (size_t)place : count - 2;
  double cubic[4];
  put_cubic(radii[i], slope_at(radii, count, i), radii[i + 1], slope_at(radii, count, i + 1), cubic);
  *slope = cubic_slope(cubic, place - (double)i) * (double)(count - 1);
  return cubic_at(cubic, place - (double)i);
}

void sbs_make_profile(const sbs_muscle *muscle, sbs_profile *profile) {
  const double step = 1.0 / SBS_PROFILE_STEPS;
  double radius = 0.0, slope = 0.0;
  *profile = (sbs_profile){.is_spindle = !muscle->profile_count, .radius = (float)muscle->radius};
  for (int i = 0; i <= SBS_PROFILE_STEPS && muscle->profile_count; i++) {
    double next_slope;
    const double next = given(muscle->profile, muscle->profile_count, i * step, &next_slope);
    if (i) {
      double cubic[4];
      put_cubic(radius, step * slope, next, step * next_slope, cubic);
      for (int k = 0; k < 4; k++) profile->cubics[4 * (i - 1) + k] = (float)(muscle->radius * cubic[k]);
    }
    radius = next, slope = next_slope;
  }
}

double sbs_radius_at(const sbs_profile *profile, double u) {
  const double share = fmin(fmax(u, 0.0), 1.0), place = share * SBS_PROFILE_STEPS;
  if (profile->is_spindle) return (double)profile->radius * pow(4.0 * share * (1.0 - share), 1.5);
  const int i = place < SBS_PROFILE_STEPS ? (int)place : SBS_PROFILE_STEPS - 1;
  double cubic[4];
  for (int k = 0; k < 4; k++) cubic[k] = (double)profile->cubics[4 * i + k];
  return cubic_at(cubic, place - i);
}

/* The polynomial that is 1 at node i and 0 at all others. */
static double lagrange(int i, double u) {
  double value = 1.0;
  for (int j = 0; j < SBS_PATH_NODES; j++) {
    if (j != i) value *= (u - sbs_path_nodes[j]) / (sbs_path_nodes[i] - sbs_path_nodes[j]);
  }
  return value;
}

void sbs_make_squares(const sbs_profile *profile, double squares[SBS_PATH_NODES]) {
  for (int i = 0; i < SBS_PATH_NODES; i++) {
    squares[i] = 0.0;
    for (int step = 0; step < SBS_PROFILE_STEPS; step++) {
      for (int j = 0; j < SBS_PATH_NODES; j++) {
        const double u = (step + sbs_path_nodes[j]) / SBS_PROFILE_STEPS, r = sbs_radius_at(profile, u);
        squares[i] += sbs_path_weights[j] / SBS_PROFILE_STEPS * r * r * lagrange(i, u);
      }
    }
  }
}
