/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/scalar.h"
#include "pose/check.h"
#include "pose/joint.h"
#include "pose/linear_algebra.h"
#include "twist/twist.h"

/* The 3x4 matrix of a joint. */
static void read_matrix(const sbs_pose *pose, size_t joint, double matrix[12]) {
  const size_t first = joint * 4 * pose->rows;
  for (size_t i = 0; i < 12; i++) matrix[i] = sbs_scalar_get(pose->skinning_matrices, pose->scalar, first + i);
}

static int is_rigid(const double linear[9], double determinant) {
  double off = 0.0;
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) {
      const double product = linear[i] * linear[j] + linear[3 + i] * linear[3 + j] + linear[6 + i] * linear[6 + j];
      off = fmax(off, fabs(product - (i == j)));
    }
  }
  return off <= SBS_RIGID_TOLERANCE && determinant > 0.0;
}

/* The quaternion of a joint's rotation R. */
static sbs_status rotation_of(const sbs_pose *pose, size_t number, sbs_vec4 *quaternion) {
  double matrix[12], linear[9];
  read_matrix(pose, number, matrix);
  for (int i = 0; i < 9; i++) linear[i] = matrix[4 * (i / 3) + i % 3];
  const double determinant = sbs_determinant(linear);
  if (is_rigid(linear, determinant)) {
    /* One step of Newton's iteration to R: what is off by 1e-8, as products of float32 matrices are, is then exact. */
    double cofactors[9];
    sbs_cofactors(linear, cofactors);
    for (int i = 0; i < 9; i++) linear[i] = 0.5 * (linear[i] + cofactors[i] / determinant);
    *quaternion = sbs_rotation_quaternion(linear);
    return SBS_OK;
  }
  sbs_joint joint = {0};
  sbs_stretch stretch;
  sbs_vec4_from_rows(linear, joint.given);
  const sbs_status status = sbs_decompose_joint(&joint, SBS_JOINT_NONRIGID, &stretch);
  *quaternion = joint.quaternion;
  return status;
}

/* The twist about an axis of one rotation as another one sees it, conj(from) to. */
static double twist_between(sbs_vec4 from, sbs_vec4 to, sbs_vec3 axis, double expected) {
  const double relative[4] = {
      from[0] * to[0] + from[1] * to[1] + from[2] * to[2] + from[3] * to[3],
      from[0] * to[1] - from[1] * to[0] - from[2] * to[3] + from[3] * to[2],
      from[0] * to[2] - from[2] * to[0] - from[3] * to[1] + from[1] * to[3],
      from[0] * to[3] - from[3] * to[0] - from[1] * to[2] + from[2] * to[1],
  };
  const double about[3] = {axis.x, axis.y, axis.z};
  return sbs_twist_angle(relative, about, expected);
}

/* a and b of one bone in a pose that was checked. */
static sbs_status angles_of(const sbs_twist_bone *bone, const sbs_pose *pose, const double *previous,
                            double angles[2]) {
  const int32_t others[2] = {bone->parent, bone->child};
  sbs_vec4 own;
  sbs_status status = rotation_of(pose, (size_t)bone->joint, &own);
  for (int i = 0; i < 2 && !status; i++) {
    sbs_vec4 other = own;
    if (others[i] >= 0) status = rotation_of(pose, (size_t)others[i], &other);
    const double expected = previous ? previous[i] : 0.0;
    angles[i] = others[i] < 0 ? 0.0 : twist_between(i ? own : other, i ? other : own, bone->axis, expected);
  }
  return status;
}

static sbs_status check(const sbs_twist *twist, const sbs_pose *pose, const double *angles, const char *name,
                        sbs_fault *fault) {
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  for (size_t i = 0; angles && i < 2 * twist->bone_count; i++) {
    if (!isfinite(angles[i])) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, name, i / 2, i % 2, angles[i], 0.0);
  }
  return sbs_check_poses(pose, 1, twist->joint_count, fault);
}

sbs_status sbs_twist_angles(const sbs_twist *twist, const sbs_pose *pose, const double *previous, double *angles,
                            sbs_fault *fault) {
  sbs_status status = check(twist, pose, previous, "previous", fault);
  if (status) return status;
  if (!angles) return sbs_fault_in(fault, SBS_ERROR_NULL, "angles");
  for (size_t b = 0; b < twist->bone_count && !status; b++) {
    double found[2];
    status = angles_of(twist->bones + b, pose, previous ? previous + 2 * b : NULL, found);
    if (!status) memcpy(angles + 2 * b, found, sizeof found);
  }
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}

/* C T(angle), T the rotation about the bone: what is turned before the joint moves it. */
static void turn_before(const double joint[12], const sbs_twist_bone *bone, double angle, double matrix[12]) {
  const double s = sin(angle), c = cos(angle), rest = 1.0 - c;
  const double x = bone->axis.x, y = bone->axis.y, z = bone->axis.z;
  const double head[3] = {bone->head.x, bone->head.y, bone->head.z};
  const double turn[9] = {c + rest * x * x,     rest * x * y - s * z, rest * x * z + s * y,
                          rest * x * y + s * z, c + rest * y * y,     rest * y * z - s * x,
                          rest * x * z - s * y, rest * y * z + s * x, c + rest * z * z};
  double shift[3];
  for (int i = 0; i < 3; i++) {
    shift[i] = head[i] - (turn[3 * i] * head[0] + turn[3 * i + 1] * head[1] + turn[3 * i + 2] * head[2]);
  }
  for (int i = 0; i < 3; i++) {
    const double *row = joint + 4 * i;
    for (int j = 0; j < 3; j++) {
      matrix[4 * i + j] = row[0] * turn[j] + row[1] * turn[3 + j] + row[2] * turn[6 + j];
    }
    matrix[4 * i + 3] = row[0] * shift[0] + row[1] * shift[1] + row[2] * shift[2] + row[3];
  }
}

static void write_frames(const sbs_twist *twist, size_t number, const double angles[2], double *matrices) {
  const sbs_twist_bone *bone = twist->bones + number;
  const double *joint = matrices + 12 * (size_t)bone->joint;
  for (size_t k = 0; k < twist->frames; k++) {
    const double share = (double)k / (double)(twist->frames - 1);
    const double angle = angles[1] * share - angles[0] * (1.0 - share);
    double *matrix = matrices + 12 * (sbs_twist_first_frame(twist, number) + k);
    if (angle == 0.0) {
      memcpy(matrix, joint, 12 * sizeof *matrix);
    } else {
      turn_before(joint, bone, angle, matrix);
    }
  }
}

sbs_status sbs_twist_pose(const sbs_twist *twist, const sbs_pose *pose, const double *angles, double *matrices,
                          sbs_fault *fault) {
  sbs_status status = check(twist, pose, angles, "angles", fault);
  if (status) return status;
  if (!matrices) return sbs_fault_in(fault, SBS_ERROR_NULL, "matrices");
  for (size_t j = 0; j < twist->joint_count; j++) read_matrix(pose, j, matrices + 12 * j);
  for (size_t b = 0; b < twist->bone_count && !status; b++) {
    double found[2];
    if (!angles) status = angles_of(twist->bones + b, pose, NULL, found);
    if (!status) write_frames(twist, b, angles ? angles + 2 * b : found, matrices);
  }
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}
