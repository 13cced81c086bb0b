/* SPDX-License-Identifier: MIT */
/* docs/fitting.md has the formulas. */
#include "gradient/twist.h"

#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "pose/batches.h"
#include "pose/joint.h"
#include "pose/twist.h"
#include "skin/influences.h"

/* ------------------------------------------------------------------------------------------------------ the pose -- */

/* A joint's matrix taken apart, A = R S; rows of R and S, and the quaternion of R. */
typedef struct rotation {
  double rotation[9], stretch[9];
  sbs_vec4 quaternion;
} rotation;

static sbs_status take_apart(const sbs_twist *twist, const sbs_pose *pose, size_t number, rotation *parts) {
  double matrix[12];
  sbs_joint joint;
  sbs_stretch stretch;
  unsigned char kind;
  sbs_read_matrices(pose, number, 1, matrix);
  const sbs_joints_args args = {.matrices = matrix, .scalar = SBS_FLOAT64, .rows = 3, .joints = &joint, .kinds = &kind};
  sbs_choose_joints_batch(twist->isa)(&args, 0, 1);
  const sbs_status status = sbs_decompose_joint(&joint, kind, &stretch);
  for (int i = 0; i < 9; i++) {
    parts->rotation[i] = stretch.rotation[i % 3][i / 3];
    parts->stretch[i] = stretch.stretch[i % 3][i / 3];
  }
  parts->quaternion = joint.quaternion;
  return status;
}

/* By the twist of conj(from) to about n: the torque that turns `to`, whose opposite turns `from`. */
static void find_torque(sbs_vec4 from, sbs_vec4 to, const double n[3], double by_angle, double torque[3]) {
  const sbs_vec4 relative = sbs_quaternion_multiply(sbs_quaternion_conjugate(from), to);
  const double w = relative[0], v[3] = {relative[1], relative[2], relative[3]};
  const double along = sbs_dot(v, n), square = w * w + along * along;
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
static void add_torque(const rotation *parts, const double torque[3], double matrix[12]) {
  double right[3];
  sbs_apply_transposed(parts->rotation, torque, right);
  const sbs_vec4 y = sbs_solve_axial(parts->stretch, sbs_vec4_read(right));
  const double skew[9] = {0.0, -y[2], y[1], y[2], 0.0, -y[0], -y[1], y[0], 0.0};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 3; k++) matrix[4 * i + j] += parts->rotation[3 * i + k] * skew[3 * k + j];
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
    find_torque(from->quaternion, to->quaternion, n, by_angles[i], torque);
    for (int k = 0; k < 3; k++) opposite[k] = -torque[k];
    add_torque(to, torque, matrices + 12 * (size_t)(i ? others[i] : bone->joint));
    add_torque(from, opposite, matrices + 12 * (size_t)(i ? bone->joint : others[i]));
  }
  return status;
}

/*
 * Adds the gradient by C of one frame F = C T, T the rotation about the bone by an angle; returns that by the angle.
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
  sbs_apply(turn, head, turned);
  sbs_apply(slope, head, moved);
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
                                   const double *by_matrices, double *by_skinning_matrices, double *by_angles) {
  sbs_status status = SBS_OK;
  memcpy(by_skinning_matrices, by_matrices, 12 * twist->joint_count * sizeof *by_matrices);
  for (size_t b = 0; b < twist->bone_count && !status; b++) {
    const sbs_twist_bone *bone = twist->bones + b;
    double found[2], by[2] = {0.0, 0.0}, joint[12];
    const double *bone_angles = angles ? angles + 2 * b : found;
    if (!angles) status = sbs_twist_find_angles(twist, pose, b, 1, NULL, found);
    if (status) break;
    sbs_read_matrices(pose, (size_t)bone->joint, 1, joint);
    for (size_t k = 0; k < twist->frames; k++) {
      const double share = (double)k / (double)(twist->frames - 1);
      const double by_angle =
          add_frame(bone, bone_angles[1] * share - bone_angles[0] * (1.0 - share), joint,
                    by_matrices + 12 * (sbs_twist_first_frame(twist, b) + k), by_skinning_matrices + 12 * bone->joint);
      by[0] -= (1.0 - share) * by_angle;
      by[1] += share * by_angle;
    }
    if (by_angles) memcpy(by_angles + 2 * b, by, sizeof by);
    if (!angles) status = add_angles(twist, bone, pose, by, by_skinning_matrices);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------ the influences -- */

/*
 * From the gradient by the weights of the two frames that an influence is spread to, to that by its weight and by its
 * share of the bone.
 */
static void gather(const sbs_twist *twist, const sbs_gradient_spread *spread, double weight, const double by[2],
                   double *by_weight, double *by_share) {
  double above;
  *by_weight = by[0];
  *by_share = 0.0;
  if (spread->bone < 0) return;
  sbs_twist_frame_below(twist, spread->share, &above);
  *by_weight += above * (by[1] - by[0]);
  *by_share = sbs_usable_weight(weight) * (double)(twist->frames - 1) * (by[1] - by[0]);
}

/* Adds the gradient by a rest position through the shares, which it determines. */
static void add_to_position(const sbs_twist *twist, const sbs_gradient_spread *spread, const sbs_skin_desc *desc,
                            size_t vertex, double by_share, void *by_rest_positions) {
  if (spread->bone < 0) return;
  double slope[3];
  sbs_twist_share_at(twist, twist->bones + spread->bone, sbs_twist_point(desc, vertex), slope);
  for (size_t i = 0; i < 3; i++) {
    const double by = sbs_scalar_get(by_rest_positions, desc->scalar, 3 * vertex + i) + by_share * slope[i];
    sbs_scalar_put(by_rest_positions, desc->scalar, 3 * vertex + i, by);
  }
}

static void finish_weights(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                           int moves_shares, const void *by_weights, const sbs_gradient_result *result) {
  const size_t columns = gradient->columns / 2;
  for (size_t i = 0; i < gradient->vertex_count * columns; i++) {
    const sbs_gradient_spread *spread = gradient->spread + i;
    const double weight = sbs_scalar_get(desc->joint_weights, desc->weight_scalar, i);
    const double by[2] = {sbs_scalar_get(by_weights, gradient->scalar, 2 * i),
                          sbs_scalar_get(by_weights, gradient->scalar, 2 * i + 1)};
    double by_weight, by_share;
    gather(skin->twist, spread, weight, by, &by_weight, &by_share);
    if (result->joint_weights) sbs_scalar_put(result->joint_weights, gradient->scalar, i, by_weight);
    if (result->twist_shares) result->twist_shares[i] = by_share;
    if (result->rest_positions && moves_shares) {
      add_to_position(skin->twist, spread, desc, i / columns, by_share, result->rest_positions);
    }
  }
}

void sbs_gradient_gather_jacobian(const sbs_gradient *gradient, const sbs_skin *skin, size_t vertex,
                                  const double *spread, double *jacobian) {
  if (!skin->twist) {
    memcpy(jacobian, spread, 3 * gradient->columns * sizeof *jacobian);
    return;
  }
  const size_t columns = gradient->columns / 2;
  for (size_t i = 0; i < 3 * columns; i++) {
    double by_share;
    gather(skin->twist, gradient->spread + vertex * columns + i % columns, 0.0, spread + 2 * i, jacobian + i,
           &by_share);
  }
}

/* ------------------------------------------------------------------------------------------------ there and back -- */

sbs_status sbs_gradient_begin_twist(const sbs_gradient *gradient, const sbs_skin *skin,
                                    const sbs_gradient_result *result, sbs_gradient_twist *twist) {
  const sbs_allocator *allocator = &gradient->allocator;
  *twist = (sbs_gradient_twist){.result = *result};
  if (!skin->twist) return SBS_OK;
  const int needs_matrices = result->skinning_matrices || result->twist_angles;
  const int needs_skeleton = needs_matrices && !result->skinning_matrices;
  const int needs_weights = result->joint_weights || result->twist_shares || result->rest_positions;
  if (needs_matrices) {
    twist->by_matrices = sbs_allocate(allocator, skin->joint_count, 12 * sizeof *twist->by_matrices);
  }
  if (needs_skeleton) {
    twist->by_skeleton = sbs_allocate(allocator, skin->skeleton_joint_count, 12 * sizeof *twist->by_skeleton);
  }
  if (needs_weights) {
    const size_t row = gradient->columns * sbs_scalar_size(gradient->scalar);
    twist->by_weights = sbs_allocate(allocator, gradient->vertex_count, row);
  }
  if ((needs_matrices && !twist->by_matrices) || (needs_skeleton && !twist->by_skeleton) ||
      (needs_weights && !twist->by_weights)) {
    return SBS_ERROR_OUT_OF_MEMORY;
  }
  twist->result.skinning_matrices = twist->by_matrices;
  twist->result.joint_weights = twist->by_weights;
  return SBS_OK;
}

sbs_status sbs_gradient_finish_twist(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                                     int moves_shares, const sbs_pose *pose, const sbs_gradient_result *result,
                                     const sbs_gradient_twist *twist) {
  if (twist->by_weights) finish_weights(gradient, skin, desc, moves_shares, twist->by_weights, result);
  if (!twist->by_matrices) return SBS_OK;
  double *by_skeleton = result->skinning_matrices ? result->skinning_matrices : twist->by_skeleton;
  return sbs_twist_pose_gradient(skin->twist, pose, pose->twist_angles, twist->by_matrices, by_skeleton,
                                 result->twist_angles);
}

void sbs_gradient_release_twist(const sbs_gradient *gradient, const sbs_gradient_twist *twist) {
  sbs_release(&gradient->allocator, twist->by_matrices);
  sbs_release(&gradient->allocator, twist->by_skeleton);
  sbs_release(&gradient->allocator, twist->by_weights);
}
