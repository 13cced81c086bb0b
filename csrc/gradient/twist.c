/* SPDX-License-Identifier: MIT */
/* docs/fitting.md has what is differentiated here. */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "pose/batches.h"
#include "pose/joint.h"
#include "pose/linear_algebra.h"
#include "pose/twist.h"
#include "twist/twist.h"

/* ------------------------------------------------------------------------------------------------------ the pose -- */

/* out = m v, of rows */
static void apply(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = sbs_dot(m + 3 * i, v);
}

/* out = m^T v, of rows */
static void apply_transposed(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/* A joint's matrix taken apart, A = R S; rows of R and S, and the quaternion of R. */
typedef struct rotation {
  double rotation[9], stretch[9];
  sbs_vec4 quaternion;
} rotation;

/* The 3x4 matrix of a joint. */
static void read_matrix(const sbs_pose *pose, size_t joint, double matrix[12]) {
  const size_t first = joint * 4 * pose->rows;
  for (size_t i = 0; i < 12; i++) matrix[i] = sbs_scalar_get(pose->skinning_matrices, pose->scalar, first + i);
}

static sbs_status take_apart(const sbs_twist *twist, const sbs_pose *pose, size_t number, rotation *of) {
  double matrix[12];
  sbs_joint joint;
  sbs_stretch stretch;
  unsigned char kind;
  read_matrix(pose, number, matrix);
  const sbs_joints_args args = {.matrices = matrix, .scalar = SBS_FLOAT64, .rows = 3, .joints = &joint, .kinds = &kind};
  sbs_joints_batch_of(twist->isa)(&args, 0, 1);
  const sbs_status status = sbs_decompose_joint(&joint, kind, &stretch);
  for (int i = 0; i < 9; i++) {
    of->rotation[i] = stretch.rotation[i % 3][i / 3];
    of->stretch[i] = stretch.stretch[i % 3][i / 3];
  }
  of->quaternion = joint.quaternion;
  return status;
}

/* By the twist of conj(from) to about n: the torque that turns `to`, whose opposite turns `from`. */
static void torque_of(sbs_vec4 from, sbs_vec4 to, const double n[3], double by_angle, double torque[3]) {
  const double relative[4] = {
      from[0] * to[0] + from[1] * to[1] + from[2] * to[2] + from[3] * to[3],
      from[0] * to[1] - from[1] * to[0] - from[2] * to[3] + from[3] * to[2],
      from[0] * to[2] - from[2] * to[0] - from[3] * to[1] + from[1] * to[3],
      from[0] * to[3] - from[3] * to[0] - from[1] * to[2] + from[2] * to[1],
  };
  const double w = relative[0], *v = relative + 1, along = sbs_dot(v, n), square = w * w + along * along;
  const double u[3] = {from[1], from[2], from[3]};
  double across[3], c[3], once[3], twice[3];
  memset(torque, 0, 3 * sizeof *torque);
  if (!(sqrt(square) > SBS_NO_TWIST)) return;
  sbs_cross(v, n, across);
  for (int i = 0; i < 3; i++) c[i] = by_angle * (w * w * n[i] + w * across[i] + along * v[i]) / square;
  sbs_cross(u, c, once); /* turned by `from` */
  sbs_cross(u, once, twice);
  for (int i = 0; i < 3; i++) torque[i] = c[i] + 2.0 * (from[0] * once[i] + twice[i]);
}

/*
 * Adds the gradient by the linear part A = R S of a matrix (3, 4), given that by the rotation vector of R: R [y] with
 * (tr S - S) y = R^T torque, S being 1 for a rigid joint. Nothing where the joint is scaled to nothing along two axes.
 */
static void add_torque(const rotation *of, const double torque[3], double matrix[12]) {
  double right[3], y[3], m[9], cofactors[9];
  apply_transposed(of->rotation, torque, right);
  const double trace = of->stretch[0] + of->stretch[4] + of->stretch[8];
  for (int i = 0; i < 9; i++) m[i] = (i % 4 ? 0.0 : trace) - of->stretch[i];
  sbs_cofactors(m, cofactors);
  const double determinant = sbs_determinant(m), norm = sbs_norm_squared(m);
  const double least = fmax(1e-12 * norm * sqrt(norm), 1e-300); /* of which the inverse can be represented */
  const double scale = fabs(determinant) > least ? 1.0 / determinant : 0.0;
  for (int i = 0; i < 3; i++) y[i] = scale * sbs_dot(cofactors + 3 * i, right); /* symmetric */
  const double skew[9] = {0.0, -y[2], y[1], y[2], 0.0, -y[0], -y[1], y[0], 0.0};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 3; k++) matrix[4 * i + j] += of->rotation[3 * i + k] * skew[3 * k + j];
    }
  }
}

/* By the twists of a bone that were found, on to the rotations of its joint, the parent and the child. */
static sbs_status add_angles(const sbs_twist *twist, const sbs_twist_bone *bone, const sbs_pose *pose,
                             const double by_angles[2], double *matrices) {
  const double n[3] = {bone->axis.x, bone->axis.y, bone->axis.z};
  const int32_t others[2] = {bone->parent, bone->child};
  rotation own, other;
  sbs_status status = take_apart(twist, pose, (size_t)bone->joint, &own);
  for (int i = 0; i < 2 && !status; i++) {
    if (others[i] < 0) continue;
    status = take_apart(twist, pose, (size_t)others[i], &other);
    if (status) break;
    const rotation *from = i ? &own : &other, *to = i ? &other : &own;
    double torque[3], opposite[3];
    torque_of(from->quaternion, to->quaternion, n, by_angles[i], torque);
    for (int k = 0; k < 3; k++) opposite[k] = -torque[k];
    add_torque(to, torque, matrices + 12 * (size_t)(i ? others[i] : bone->joint));
    add_torque(from, opposite, matrices + 12 * (size_t)(i ? bone->joint : others[i]));
  }
  return status;
}

/*
 * Adds what one frame F = C T, T the rotation about the bone by an angle, is to C; returns the gradient by the angle.
 * `by` is that by F, `joint` is C, both (3, 4).
 */
static double add_frame(const sbs_twist_bone *bone, double angle, const double joint[12], const double by[12],
                        double by_joint[12]) {
  const double n[3] = {bone->axis.x, bone->axis.y, bone->axis.z}, cosine = cos(angle), sine = sin(angle);
  const double head[3] = {bone->head.x, bone->head.y, bone->head.z};
  const double cross[9] = {0.0, -n[2], n[1], n[2], 0.0, -n[0], -n[1], n[0], 0.0};
  double turn[9], slope[9], turned[3], moved[3], by_angle = 0.0; /* T's linear part, its derivative by the angle */
  for (int i = 0; i < 9; i++) {
    const double outer = n[i / 3] * n[i % 3], one = i % 4 == 0;
    turn[i] = outer + cosine * (one - outer) + sine * cross[i];
    slope[i] = sine * (outer - one) + cosine * cross[i];
  }
  apply(turn, head, turned);
  apply(slope, head, moved);
  for (int i = 0; i < 3; i++) {
    const double *row = by + 4 * i;
    for (int j = 0; j < 3; j++) {
      by_joint[4 * i + j] += sbs_dot(row, turn + 3 * j) + row[3] * (head[j] - turned[j]);
      by_angle += joint[4 * i + j] * (sbs_dot(row, slope + 3 * j) - row[3] * moved[j]);
    }
    by_joint[4 * i + 3] += row[3];
  }
  return by_angle;
}

sbs_status sbs_twist_pose_gradient(const sbs_twist *twist, const sbs_pose *pose, const double *angles,
                                   const double *by_matrices, double *by_skinning_matrices, double *by_angles,
                                   sbs_fault *fault) {
  sbs_status status = sbs_twist_check_pose(twist, pose, angles, "angles", fault);
  if (status) return status;
  if (!by_matrices) return sbs_fault_in(fault, SBS_ERROR_NULL, "by_matrices");
  if (!by_skinning_matrices) return sbs_fault_in(fault, SBS_ERROR_NULL, "by_skinning_matrices");
  memcpy(by_skinning_matrices, by_matrices, 12 * twist->joint_count * sizeof *by_matrices);
  for (size_t b = 0; b < twist->bone_count && !status; b++) {
    const sbs_twist_bone *bone = twist->bones + b;
    double found[2], by[2] = {0.0, 0.0}, joint[12];
    const double *of = angles ? angles + 2 * b : found;
    if (!angles) status = sbs_twist_angles_of(twist, pose, b, 1, NULL, found);
    if (status) break;
    read_matrix(pose, (size_t)bone->joint, joint);
    for (size_t k = 0; k < twist->frames; k++) {
      const double share = (double)k / (double)(twist->frames - 1);
      const double by_angle =
          add_frame(bone, of[1] * share - of[0] * (1.0 - share), joint,
                    by_matrices + 12 * (sbs_twist_first_frame(twist, b) + k), by_skinning_matrices + 12 * bone->joint);
      by[0] -= (1.0 - share) * by_angle;
      by[1] += share * by_angle;
    }
    if (by_angles) memcpy(by_angles + 2 * b, by, sizeof by);
    if (!angles) status = add_angles(twist, bone, pose, by, by_skinning_matrices);
  }
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}

/* ------------------------------------------------------------------------------------------------ the influences -- */

sbs_status sbs_twist_influences_gradient(const sbs_twist *twist, size_t vertex_count, sbs_scalar scalar,
                                         const void *rest_positions, size_t stride, size_t influences_per_vertex,
                                         const int32_t *joint_indices, sbs_scalar weight_scalar,
                                         const void *joint_weights, const double *shares,
                                         const double *by_new_joint_weights, double *by_joint_weights,
                                         double *by_shares, double *by_rest_positions, sbs_fault *fault) {
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  if (!vertex_count) return SBS_OK;
  if (!by_new_joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "by_new_joint_weights");
  const sbs_status status =
      sbs_twist_check_influences(twist, vertex_count, scalar, rest_positions, stride, influences_per_vertex,
                                 joint_indices, weight_scalar, joint_weights, shares, fault);
  if (status) return status;
  const size_t columns = influences_per_vertex, step = stride ? stride : 3 * sbs_scalar_size(scalar);
  if (by_rest_positions) memset(by_rest_positions, 0, 3 * vertex_count * sizeof *by_rest_positions);
  for (size_t v = 0; v < vertex_count; v++) {
    const void *at = (const char *)rest_positions + v * step;
    const sbs_vec3 point = {sbs_scalar_get(at, scalar, 0), sbs_scalar_get(at, scalar, 1),
                            sbs_scalar_get(at, scalar, 2)};
    for (size_t i = v * columns; i < (v + 1) * columns; i++) {
      const int32_t number = twist->bone_of_joint[joint_indices[i]];
      const double *by = by_new_joint_weights + 2 * i;
      double by_weight = by[0], by_share = 0.0;
      if (number >= 0) {
        const sbs_twist_bone *bone = twist->bones + number;
        double slope[3] = {0.0, 0.0, 0.0}, above;
        const double share = shares ? shares[i] : sbs_twist_share_of(twist, bone, point, slope);
        sbs_twist_place(twist, share, &above);
        by_weight += above * (by[1] - by[0]);
        by_share = sbs_scalar_get(joint_weights, weight_scalar, i) * (double)(twist->frames - 1) * (by[1] - by[0]);
        for (size_t axis = 0; axis < 3 && by_rest_positions; axis++) {
          by_rest_positions[3 * v + axis] += by_share * slope[axis];
        }
      }
      if (by_joint_weights) by_joint_weights[i] = by_weight;
      if (by_shares) by_shares[i] = by_share;
    }
  }
  return SBS_OK;
}
