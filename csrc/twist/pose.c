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

/*
 * C T(angle) for any angle, T the rotation about the bone: what is turned before the joint moves it. With the linear
 * part L of C, that of the product is L n n^T + cos(angle) (L - L n n^T) + sin(angle) L [n], [n] v being n cross v; and
 * the head stays where C has it.
 */
typedef struct {
  double still[3][3], across[3][3], along[3][3], head[3];
} turning;

static void prepare_turning(const double joint[12], const sbs_twist_bone *bone, turning *parts) {
  const double n[3] = {bone->axis.x, bone->axis.y, bone->axis.z};
  const double head[3] = {bone->head.x, bone->head.y, bone->head.z};
  for (int i = 0; i < 3; i++) {
    const double *row = joint + 4 * i;
    const double onto = row[0] * n[0] + row[1] * n[1] + row[2] * n[2];
    for (int j = 0; j < 3; j++) {
      const int one = (j + 1) % 3, other = (j + 2) % 3;
      parts->along[i][j] = onto * n[j];
      parts->still[i][j] = row[j] - parts->along[i][j];
      parts->across[i][j] = row[one] * n[other] - row[other] * n[one];
    }
    parts->head[i] = row[0] * head[0] + row[1] * head[1] + row[2] * head[2] + row[3];
  }
}

static void turn(const turning *parts, const sbs_twist_bone *bone, double cosine, double sine, double matrix[12]) {
  for (int i = 0; i < 3; i++) {
    double *row = matrix + 4 * i;
    for (int j = 0; j < 3; j++) {
      row[j] = parts->along[i][j] + cosine * parts->still[i][j] + sine * parts->across[i][j];
    }
    row[3] = parts->head[i] - (row[0] * bone->head.x + row[1] * bone->head.y + row[2] * bone->head.z);
  }
}

static void write_frames(const sbs_twist *twist, size_t number, const double angles[2], double *matrices) {
  const sbs_twist_bone *bone = twist->bones + number;
  const double *joint = matrices + 12 * (size_t)bone->joint;
  const double step = (angles[0] + angles[1]) / (double)(twist->frames - 1);
  const double step_cosine = cos(step), step_sine = sin(step);
  double cosine = cos(angles[0]), sine = -sin(angles[0]);
  turning parts;
  prepare_turning(joint, bone, &parts);
  for (size_t k = 0; k < twist->frames; k++) {
    const double share = (double)k / (double)(twist->frames - 1);
    double *matrix = matrices + 12 * (sbs_twist_first_frame(twist, number) + k);
    if (angles[1] * share - angles[0] * (1.0 - share) == 0.0) {
      memcpy(matrix, joint, 12 * sizeof *matrix);
    } else {
      turn(&parts, bone, cosine, sine, matrix);
    }
    const double next = cosine * step_cosine - sine * step_sine;
    sine = sine * step_cosine + cosine * step_sine;
    cosine = next;
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
