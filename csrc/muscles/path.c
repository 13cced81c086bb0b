/* SPDX-License-Identifier: MIT */
/* A muscle in a pose: its path, and from the length of that how thick the belly is. */
#include "muscles/path.h"

#include <math.h>

#include "base/algebra.h"
#include "base/scalar.h"
#include "muscles/profile.h"

#define PI 3.14159265358979323846

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
    const double x = start + span * sbs_path_nodes[i], squared = s0 + x * (s1 + x * (s2 + x * (s3 + x * s4)));
    sum += weights[i] * sqrt(squared > 0.0 ? squared : 0.0);
  }
  return sum;
}

double sbs_path_length(const sbs_path *path) {
  return sum_speeds(path, 0.0, 1.0, sbs_path_weights);
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
