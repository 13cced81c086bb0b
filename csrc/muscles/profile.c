/* SPDX-License-Identifier: MIT */
#include "muscles/profile.h"

#include <math.h>

const double sbs_path_nodes[SBS_PATH_NODES] = {
    0.005299532504175031, 0.0277124884633837, 0.06718439880608412, 0.1222977958224985,
    0.19106187779867811,  0.2709916111713863, 0.35919822461037054, 0.4524937450811813,
    0.5475062549188188,   0.6408017753896295, 0.7290083888286136,  0.8089381222013219,
    0.8777022041775016,   0.9328156011939159, 0.9722875115366163,  0.994700467495825};
const double sbs_path_weights[SBS_PATH_NODES] = {
    0.013576229705877088, 0.031126761969323728, 0.0475792558412463,   0.062314485627767036,
    0.07479799440828835,  0.08457825969750132,  0.09130170752246182,  0.09472530522753432,
    0.09472530522753432,  0.09130170752246182,  0.08457825969750132,  0.07479799440828835,
    0.062314485627767036, 0.0475792558412463,   0.031126761969323728, 0.013576229705877088};

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
  for (int i = 0; i <= SBS_PROFILE_STEPS && muscle->profile_count; i++) {
    const float *before = profile->cubics + 4 * (i ? i - 1 : 0), *after = profile->cubics + 4 * i;
    const float end = 2.0f * before[2] + 6.0f * before[3], begin = i < SBS_PROFILE_STEPS ? 2.0f * after[2] : end;
    profile->bends[i] = i ? 0.5f * (end + begin) : begin;
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
