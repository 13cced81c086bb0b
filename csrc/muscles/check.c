/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "muscles/bound.h"
#include "muscles/path.h"
#include "pose/check.h"

/* Sections that are thin along the path, by less than this angle, have no direction. */
#define LEAST_SINE 1e-3

static sbs_status check_joints(const int32_t *joints, size_t count, const char *name, size_t muscle, size_t joint_count,
                               sbs_fault *fault) {
  for (size_t i = 0; i < count; i++) {
    if (joints[i] < 0 || (size_t)joints[i] >= joint_count) {
      return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, name, muscle, i, joints[i], (double)joint_count);
    }
  }
  return SBS_OK;
}

/* Checks numbers by their ranges; in `open` ranges they may not be at the lower end. */
static sbs_status check_numbers(const sbs_muscle *muscle, size_t number, sbs_fault *fault) {
  const struct {
    const char *name;
    double value, least, most;
    int open;
  } numbers[] = {
      {"radius", muscle->radius, 0.0, INFINITY, 1},      {"tendons", muscle->tendons[0], 0.0, 1.0, 0},
      {"tendons", muscle->tendons[1], 0.0, 1.0, 0},      {"flattening", muscle->flattening, 1.0, INFINITY, 0},
      {"contraction", muscle->contraction, 0.0, 1.0, 0}, {"most_growth", muscle->most_growth, 1.0, INFINITY, 0},
      {"reach", muscle->reach, 0.0, INFINITY, 1},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const double value = numbers[i].value, least = numbers[i].least, most = numbers[i].most;
    const int fits = numbers[i].open ? value > least : value >= least;
    if (!fits || !(value < most)) return sbs_fault_row(fault, SBS_ERROR_OPTION, numbers[i].name, number, value, least);
    if (value > SBS_MUSCLE_LARGEST) {
      return sbs_fault_row(fault, SBS_ERROR_TOO_LARGE, numbers[i].name, number, value, SBS_MUSCLE_LARGEST);
    }
  }
  const double tendons = muscle->tendons[0] + muscle->tendons[1];
  if (!(tendons < 1.0)) return sbs_fault_row(fault, SBS_ERROR_OPTION, "tendons", number, tendons, 1.0);
  if (muscle->profile_count == 1) return sbs_fault_row(fault, SBS_ERROR_OPTION, "profile", number, 1.0, 2.0);
  if (muscle->profile_count && !muscle->profile) return sbs_fault_in(fault, SBS_ERROR_NULL, "profile");
  double largest = 0.0;
  for (size_t i = 0; i < muscle->profile_count; i++) {
    const double radius = muscle->profile[i];
    if (!(radius >= 0.0 && radius <= 1.0)) {
      return sbs_fault_at(fault, SBS_ERROR_OPTION, "profile", number, i, radius, 1.0);
    }
    largest = fmax(largest, radius);
  }
  if (muscle->profile_count && largest == 0.0) {
    return sbs_fault_row(fault, SBS_ERROR_OPTION, "profile", number, 0.0, 0.0);
  }
  return SBS_OK;
}

static sbs_status check_path(const sbs_muscle *muscle, size_t number, sbs_fault *fault) {
  for (size_t i = 0; i < muscle->point_count; i++) {
    for (int axis = 0; axis < 3; axis++) {
      const double value = muscle->points[i][axis];
      const sbs_status status = sbs_validate_number(value, SBS_MUSCLE_LARGEST, "points", number, i, fault);
      if (status) return status;
    }
  }
  const double *origin = muscle->points[0], *insertion = muscle->points[muscle->point_count - 1];
  double squared = 0.0;
  sbs_path path;
  for (int axis = 0; axis < 3; axis++) squared += (insertion[axis] - origin[axis]) * (insertion[axis] - origin[axis]);
  sbs_bezier(muscle->points[0], muscle->point_count, &path);
  const double length = sbs_path_length(&path);
  if (!(squared > 0.0) || !isfinite(length)) {
    return sbs_fault_row(fault, SBS_ERROR_OPTION, "points", number, sqrt(squared), 0.0);
  }
  if (muscle->flattening == 1.0) return SBS_OK;

  const double *thin = muscle->thin_direction;
  double along = 0.0, thin_squared = 0.0;
  for (int axis = 0; axis < 3; axis++) {
    along += thin[axis] * (insertion[axis] - origin[axis]);
    thin_squared += thin[axis] * thin[axis];
  }
  const double across = 1.0 - along * along / (squared * thin_squared);
  if (!isfinite(thin_squared) || !(across > LEAST_SINE * LEAST_SINE)) {
    return sbs_fault_row(fault, SBS_ERROR_OPTION, "thin_direction", number, across, 0.0);
  }
  return SBS_OK;
}

static sbs_status check_muscle(const sbs_muscles_desc *desc, size_t number, sbs_fault *fault) {
  const sbs_muscle *muscle = desc->muscles + number;
  const size_t points = muscle->point_count, joints = desc->joint_count;
  if (points < 2 || points > SBS_MUSCLE_POINTS) {
    return sbs_fault_row(fault, SBS_ERROR_OPTION, "point_count", number, (double)points, SBS_MUSCLE_POINTS);
  }
  sbs_status status = check_joints(muscle->joints, points, "joints", number, joints, fault);
  if (!status && muscle->flattening != 1.0) {
    status = check_joints(&muscle->thin_joint, 1, "thin_joint", number, joints, fault);
  }
  if (status) return status;
  if (muscle->covered_count && !muscle->covered) return sbs_fault_in(fault, SBS_ERROR_NULL, "covered");
  status = check_joints(muscle->covered, muscle->covered_count, "covered", number, joints, fault);
  if (!status) status = check_numbers(muscle, number, fault);
  return status ? status : check_path(muscle, number, fault);
}

static sbs_status check_weights(const sbs_muscles_desc *desc, sbs_fault *fault) {
  const size_t columns = desc->influences_per_vertex;
  if (!columns) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "influences_per_vertex");
  if (!desc->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (!sbs_scalar_is_valid(desc->weight_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "weight_scalar", (double)desc->weight_scalar, 0.0);
  }
  for (size_t v = 0; v < desc->vertex_count; v++) {
    for (size_t k = 0; k < columns; k++) {
      const int32_t joint = desc->joint_indices[v * columns + k];
      if (joint < 0 || (size_t)joint >= desc->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", v, k, joint, (double)desc->joint_count);
      }
    }
  }
  return SBS_OK;
}

sbs_status sbs_check_muscles_desc(const sbs_muscles_desc *desc, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!desc->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (!desc->muscle_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "muscle_count");
  if (!desc->muscles) return sbs_fault_in(fault, SBS_ERROR_NULL, "muscles");
  if (desc->muscle_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "muscle_count", (double)desc->muscle_count, INT32_MAX);
  }
  if (desc->vertex_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "vertex_count", (double)desc->vertex_count, INT32_MAX);
  }
  sbs_status status = SBS_OK;
  for (size_t m = 0; m < desc->muscle_count && !status; m++) status = check_muscle(desc, m, fault);
  if (status || !desc->vertex_count) return status;
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!sbs_scalar_is_valid(desc->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, 0.0);
  }
  status =
      sbs_validate_vectors(desc->rest_positions, 0, desc->scalar, desc->vertex_count, "rest_positions", NULL, fault);
  if (!status && desc->rest_normals) {
    status = sbs_validate_vectors(desc->rest_normals, 0, desc->scalar, desc->vertex_count, "rest_normals", NULL, fault);
  }
  if (!status && desc->triangle_count && !desc->triangles) return sbs_fault_in(fault, SBS_ERROR_NULL, "triangles");
  return status || !desc->joint_indices ? status : check_weights(desc, fault);
}

sbs_status sbs_check_muscle_pose(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                                 sbs_fault *fault) {
  if (!muscles) return sbs_fault_in(fault, SBS_ERROR_NULL, "muscles");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  for (size_t m = 0; activations && m < muscles->muscle_count; m++) {
    if (!(activations[m] >= 0.0 && activations[m] <= 1.0)) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "activations", m, activations[m], 1.0);
    }
  }
  return sbs_check_bounded_poses(pose, 1, muscles->joint_count, fault);
}
