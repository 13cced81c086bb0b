/* SPDX-License-Identifier: MIT */
#include "pose/twist.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "pose/check.h"
#include "pose/rotations.h"

/*
 * The rotations of some bones' joints, in the order joint, parent, child; where there is none, that of the joint
 * itself.
 */
static sbs_status find_rotations(const sbs_twist *twist, const sbs_pose *pose, size_t first, size_t count,
                                 sbs_vec4 quaternions[3 * SBS_TWIST_BONES]) {
  int32_t joints[3 * SBS_TWIST_BONES] = {0};
  for (size_t b = 0; b < count; b++) {
    const sbs_twist_bone *bone = twist->bones + first + b;
    joints[3 * b] = bone->joint;
    joints[3 * b + 1] = bone->parent < 0 ? bone->joint : bone->parent;
    joints[3 * b + 2] = bone->child < 0 ? bone->joint : bone->child;
  }
  return sbs_find_rotations(twist->isa, pose, joints, 3 * count, quaternions);
}

/* The twist about an axis of one rotation as another one sees it, conj(from) to. */
static double twist_between(sbs_vec4 from, sbs_vec4 to, sbs_vec3 axis, double expected) {
  const sbs_vec4 q = sbs_quaternion_multiply(sbs_quaternion_conjugate(from), to);
  const double relative[4] = {q[0], q[1], q[2], q[3]}, about[3] = {axis.x, axis.y, axis.z};
  return sbs_twist_angle(relative, about, expected);
}

sbs_status sbs_twist_find_angles(const sbs_twist *twist, const sbs_pose *pose, size_t first, size_t count,
                                 const double *previous, double *angles) {
  sbs_vec4 quaternions[3 * SBS_TWIST_BONES];
  const sbs_status status = find_rotations(twist, pose, first, count, quaternions);
  for (size_t b = 0; b < count && !status; b++) {
    const sbs_twist_bone *bone = twist->bones + first + b;
    const sbs_vec4 *own = quaternions + 3 * b, *parent = own + 1, *child = own + 2;
    const double *expected = previous ? previous + 2 * (first + b) : (const double[2]){0.0, 0.0};
    angles[2 * b] = bone->parent < 0 ? 0.0 : twist_between(*parent, *own, bone->axis, expected[0]);
    angles[2 * b + 1] = bone->child < 0 ? 0.0 : twist_between(*own, *child, bone->axis, expected[1]);
  }
  return status;
}

/* How many bones are worked on together from one on. */
static size_t bones_from(const sbs_twist *twist, size_t first) {
  const size_t remaining = twist->bone_count - first;
  return remaining < SBS_TWIST_BONES ? remaining : SBS_TWIST_BONES;
}

sbs_status sbs_twist_check_pose(const sbs_twist *twist, const sbs_pose *pose, const double *angles, const char *name,
                                sbs_fault *fault) {
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  const sbs_status status = angles ? sbs_validate_numbers(angles, twist->bone_count, 2, name, fault) : SBS_OK;
  return status ? status : sbs_check_bounded_poses(pose, 1, twist->joint_count, fault);
}

sbs_status sbs_twist_angles(const sbs_twist *twist, const sbs_pose *pose, const double *previous, double *angles,
                            sbs_fault *fault) {
  sbs_status status = sbs_twist_check_pose(twist, pose, previous, "previous", fault);
  if (status) return status;
  if (!angles) return sbs_fault_in(fault, SBS_ERROR_NULL, "angles");
  status = sbs_tell(0.0);
  for (size_t b = 0; b < twist->bone_count && !status; b += SBS_TWIST_BONES) {
    const size_t count = bones_from(twist, b);
    double found[2 * SBS_TWIST_BONES];
    status = sbs_twist_find_angles(twist, pose, b, count, previous, found);
    if (!status) memcpy(angles + 2 * b, found, 2 * count * sizeof *found);
  }
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}

sbs_status sbs_check_twist_angles(const sbs_twist *twist, const sbs_pose *poses, size_t frame_count, sbs_fault *fault) {
  if (!poses->twist_angles) return SBS_OK;
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist_angles");
  const size_t rows = frame_count * twist->bone_count; /* no more than there are matrices */
  return sbs_validate_numbers(poses->twist_angles, rows, 2, "twist_angles", fault);
}

sbs_status sbs_check_skin_poses(const sbs_skin *skin, const sbs_pose *poses, size_t frame_count, sbs_fault *fault) {
  const size_t joint_count = skin->skeleton_joint_count;
  const sbs_status status = skin->twist ? sbs_check_bounded_poses(poses, frame_count, joint_count, fault)
                                        : sbs_check_poses(poses, frame_count, joint_count, fault);
  return status ? status : sbs_check_twist_angles(skin->twist, poses, frame_count, fault);
}

sbs_pose sbs_pose_number(const sbs_pose *poses, size_t joint_count, const sbs_twist *twist, size_t frame) {
  const size_t size = joint_count * 4 * poses->rows * sbs_scalar_size(poses->scalar);
  sbs_pose pose = *poses;
  pose.skinning_matrices = (const char *)poses->skinning_matrices + frame * size;
  if (pose.twist_angles) pose.twist_angles += frame * 2 * twist->bone_count;
  return pose;
}

/*
 * C T(angle) for any angle, T the rotation about the bone, which comes before the joint moves. With the linear
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

sbs_status sbs_twist_pose_joints(const sbs_twist *twist, const sbs_pose *pose, const double *angles, double *matrices) {
  sbs_status status = SBS_OK;
  sbs_read_matrices(pose, 0, twist->joint_count, matrices);
  for (size_t b = 0; b < twist->bone_count && !status; b += SBS_TWIST_BONES) {
    const size_t count = bones_from(twist, b);
    double found[2 * SBS_TWIST_BONES];
    if (!angles) status = sbs_twist_find_angles(twist, pose, b, count, NULL, found);
    for (size_t i = 0; i < count && !status; i++) {
      write_frames(twist, b + i, angles ? angles + 2 * (b + i) : found + 2 * i, matrices);
    }
  }
  return status;
}

sbs_status sbs_twist_pose(const sbs_twist *twist, const sbs_pose *pose, const double *angles, double *matrices,
                          sbs_fault *fault) {
  sbs_status status = sbs_twist_check_pose(twist, pose, angles, "angles", fault);
  if (status) return status;
  if (!matrices) return sbs_fault_in(fault, SBS_ERROR_NULL, "matrices");
  status = sbs_tell(0.0);
  if (!status) status = sbs_twist_pose_joints(twist, pose, angles, matrices);
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}
