/* SPDX-License-Identifier: MIT */
/* A muscle in a pose: its path, its radii along the belly, and from both how thick the belly is. */
#include "muscles/path.h"

#include <math.h>

#include "base/algebra.h"
#include "base/scalar.h"

#define PI 3.14159265358979323846

/* Nodes in (0, 1) and weights of the Gauss-Legendre quadrature. */
static const double path_nodes[SBS_PATH_NODES] = {
    0.005299532504175031, 0.0277124884633837, 0.06718439880608412, 0.1222977958224985,
    0.19106187779867811,  0.2709916111713863, 0.35919822461037054, 0.4524937450811813,
    0.5475062549188188,   0.6408017753896295, 0.7290083888286136,  0.8089381222013219,
    0.8777022041775016,   0.9328156011939159, 0.9722875115366163,  0.994700467495825};
static const double path_weights[SBS_PATH_NODES] = {
    0.013576229705877088, 0.031126761969323728, 0.0475792558412463,   0.062314485627767036,
    0.07479799440828835,  0.08457825969750132,  0.09130170752246182,  0.09472530522753432,
    0.09472530522753432,  0.09130170752246182,  0.08457825969750132,  0.07479799440828835,
    0.062314485627767036, 0.0475792558412463,   0.031126761969323728, 0.013576229705877088};

/* ------------------------------------------------------------------------------------------------------ the path -- */

void sbs_bezier(const double *points, size_t count, sbs_path *path) {
  for (int i = 0; i < 3; i++) {
    const double *p = points + i; /* every third number of it is on this axis */
    double by_power[4] = {p[0], p[3] - p[0], 0.0, 0.0};
    if (count == 3) {
      by_power[1] = 2.0 * (p[3] - p[0]);
      by_power[2] = p[0] - 2.0 * p[3] + p[6];
    } else if (count == 4) {
      by_power[1] = 3.0 * (p[3] - p[0]);
      by_power[2] = 3.0 * (p[0] - 2.0 * p[3] + p[6]);
      by_power[3] = p[9] - p[0] + 3.0 * (p[3] - p[6]);
    }
    for (int power = 0; power < 4; power++) path->by_power[power][i] = by_power[power];
  }
}

void sbs_path_at(const sbs_path *path, double x, double point[3]) {
  for (int i = 0; i < 3; i++) {
    const double p0 = path->by_power[0][i], p1 = path->by_power[1][i], p2 = path->by_power[2][i];
    point[i] = p0 + x * (p1 + x * (p2 + x * path->by_power[3][i]));
  }
}

double sbs_path_speed(const sbs_path *path, double x, double derivative[3]) {
  for (int i = 0; i < 3; i++) {
    derivative[i] = path->by_power[1][i] + x * (2.0 * path->by_power[2][i] + x * 3.0 * path->by_power[3][i]);
  }
  return sqrt(derivative[0] * derivative[0] + derivative[1] * derivative[1] + derivative[2] * derivative[2]);
}

/* sum_i weights[i] |c'(start + span x_i)| over the nodes of the quadrature. */
static double sum_speeds(const sbs_path *path, double start, double span, const double *weights) {
  const double (*p)[3] = path->by_power;
  const double s0 = sbs_dot(p[1], p[1]), s1 = 4.0 * sbs_dot(p[1], p[2]), s3 = 12.0 * sbs_dot(p[2], p[3]);
  const double s2 = 4.0 * sbs_dot(p[2], p[2]) + 6.0 * sbs_dot(p[1], p[3]), s4 = 9.0 * sbs_dot(p[3], p[3]);
  double sum = 0.0;
  for (int i = 0; i < SBS_PATH_NODES; i++) {
    const double x = start + span * path_nodes[i], squared = s0 + x * (s1 + x * (s2 + x * (s3 + x * s4)));
    sum += weights[i] * sqrt(squared > 0.0 ? squared : 0.0);
  }
  return sum;
}

double sbs_path_length(const sbs_path *path) {
  return sum_speeds(path, 0.0, 1.0, path_weights);
}

/* --------------------------------------------------------------------------------------------------- the profile -- */

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
    if (j != i) value *= (u - path_nodes[j]) / (path_nodes[i] - path_nodes[j]);
  }
  return value;
}

void sbs_make_squares(const sbs_profile *profile, double squares[SBS_PATH_NODES]) {
  for (int i = 0; i < SBS_PATH_NODES; i++) {
    squares[i] = 0.0;
    for (int step = 0; step < SBS_PROFILE_STEPS; step++) {
      for (int j = 0; j < SBS_PATH_NODES; j++) {
        const double u = (step + path_nodes[j]) / SBS_PROFILE_STEPS, r = sbs_radius_at(profile, u);
        squares[i] += path_weights[j] / SBS_PROFILE_STEPS * r * r * lagrange(i, u);
      }
    }
  }
}

/* ----------------------------------------------------------------------------------------------------- the belly -- */

void sbs_place_belly(const sbs_bound_muscle *muscle, double length, double belly_length, sbs_posed_muscle *posed) {
  const double both = muscle->tendons[0] + muscle->tendons[1];
  const double first = both > 0.0 ? muscle->tendons[0] / both : 0.5;
  const double whole = fmax(length, belly_length); /* one that is longer than the path goes on beyond both ends */
  posed->start = (length - belly_length) * first / whole;
  posed->end = posed->start + belly_length / whole;
}

double sbs_belly_volume(const sbs_bound_muscle *muscle, const sbs_posed_muscle *posed) {
  const double span = posed->end - posed->start;
  return PI * span * sum_speeds(&posed->path, posed->start, span, muscle->squares);
}

/* ------------------------------------------------------------------------------------------------------ the pose -- */

/* Transforms a point (w = 1) or a direction (w = 0) by the matrix C of a joint. */
static void transform(const sbs_pose *pose, int32_t joint, const double v[3], double w, double out[3]) {
  const size_t first = (size_t)joint * 4 * pose->rows;
  for (size_t i = 0; i < 3; i++) {
    double row[4];
    for (size_t j = 0; j < 4; j++) row[j] = sbs_scalar_get(pose->skinning_matrices, pose->scalar, first + 4 * i + j);
    out[i] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + row[3] * w;
  }
}

/* A character that is larger or smaller by less than this share has the size of the bind pose. */
#define SAME_SIZE 1e-4

double sbs_size_in(const sbs_muscles *muscles, const sbs_pose *pose) {
  double volumes[SBS_SIZE_JOINTS]; /* in ascending order */
  for (size_t i = 0; i < muscles->size_joint_count; i++) {
    const size_t first = (size_t)muscles->size_joints[i] * 4 * pose->rows;
    double linear[9];
    for (size_t j = 0; j < 9; j++) {
      linear[j] = sbs_scalar_get(pose->skinning_matrices, pose->scalar, first + j / 3 * 4 + j % 3);
    }
    const double volume = fabs(sbs_determinant(linear));
    size_t place = i;
    for (; place > 0 && volumes[place - 1] > volume; place--) volumes[place] = volumes[place - 1];
    volumes[place] = volume;
  }
  const double size = cbrt(volumes[muscles->size_joint_count / 2]);
  return isfinite(size) && size > 0.0 && fabs(size - 1.0) > SAME_SIZE ? size : 1.0;
}

static void pose_path(const sbs_bound_muscle *muscle, const sbs_pose *pose, double size, sbs_posed_muscle *posed) {
  double points[SBS_MUSCLE_POINTS][3];
  for (size_t i = 0; i < muscle->point_count; i++) {
    transform(pose, muscle->joints[i], muscle->points[i], 1.0, points[i]);
    for (int axis = 0; axis < 3; axis++) points[i][axis] /= size;
  }
  sbs_bezier(points[0], muscle->point_count, &posed->path);
}

static void pose_sections(const sbs_bound_muscle *muscle, const sbs_pose *pose, sbs_posed_muscle *posed) {
  posed->flattening = muscle->flattening;
  if (muscle->flattening == 1.0) return;
  double *thin = posed->thin_direction;
  transform(pose, muscle->thin_joint, muscle->thin_direction, 0.0, thin);
  const double length = sqrt(thin[0] * thin[0] + thin[1] * thin[1] + thin[2] * thin[2]);
  for (int i = 0; i < 3; i++) thin[i] = length > 0.0 ? thin[i] / length : muscle->thin_direction[i];
}

void sbs_pose_muscle(const sbs_bound_muscle *muscle, const sbs_pose *pose, double size, double activation,
                     sbs_posed_muscle *posed, sbs_muscle_state *state) {
  const double most = muscle->most_growth;
  pose_path(muscle, pose, size, posed);
  pose_sections(muscle, pose, posed);
  posed->profile = &muscle->profile;
  posed->rounding = 1e-5 * muscle->length;
  posed->step_squared = 1e-6 * muscle->reach * muscle->reach;

  /* A belly that may not grow further keeps some length, even if its tendons fill the path. */
  const double length = sbs_path_length(&posed->path);
  const double between = (length - muscle->tendons[0] - muscle->tendons[1]) * (1.0 - activation * muscle->contraction);
  const double belly_length = fmax(between, muscle->belly_length / (most * most));
  sbs_place_belly(muscle, length, belly_length, posed);
  const double volume = sbs_belly_volume(muscle, posed);
  const double growth = sqrt(muscle->rest_volume / volume);
  posed->growth = growth < most ? growth : most; /* also where the path has no length */
  if (!state) return;
  *state = (sbs_muscle_state){.length = length,
                              .belly_length = belly_length,
                              .growth = posed->growth,
                              .volume = volume * posed->growth * posed->growth,
                              .is_limited = !(growth < most) || between < belly_length};
}
