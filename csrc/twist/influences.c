/* SPDX-License-Identifier: MIT */
#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "twist/twist.h"

double sbs_twist_share_at(const sbs_twist *twist, const sbs_twist_bone *bone, sbs_vec3 point, double slope[3]) {
  const double along = sbs_vec3_dot(sbs_vec3_subtract(point, bone->head), bone->axis) / bone->length;
  const double share = fmin(fmax(along, 0.0), 1.0);
  if (slope) { /* 0 beyond the ends */
    const double by_along = twist->smooth ? 6.0 * share * (1.0 - share) : 1.0;
    const double rise = share == along ? by_along / bone->length : 0.0;
    sbs_vec3_write((sbs_vec3){rise * bone->axis.x, rise * bone->axis.y, rise * bone->axis.z}, slope);
  }
  return twist->smooth ? share * share * (3.0 - 2.0 * share) : share;
}

size_t sbs_twist_frame_below(const sbs_twist *twist, double share, double *above) {
  const double place = share * (double)(twist->frames - 1);
  const size_t below = place < (double)(twist->frames - 1) ? (size_t)place : twist->frames - 2;
  *above = place - (double)below;
  return below;
}

/* Shares the weight of a joint among the two frames of its bone that a share is between. */
static void split(const sbs_twist *twist, size_t bone, double share, double weight, int32_t joints[2],
                  double weights[2]) {
  double above;
  const size_t below = sbs_twist_frame_below(twist, share, &above);
  joints[0] = (int32_t)(sbs_twist_first_frame(twist, bone) + below);
  joints[1] = joints[0] + 1;
  /* Of an infinite weight, 0 times it would be NaN: another fault than the one that was given. */
  weights[0] = above < 1.0 ? weight * (1.0 - above) : 0.0;
  weights[1] = above > 0.0 ? weight * above : 0.0;
}

void sbs_twist_spread(const sbs_twist *twist, int32_t joint, double weight, sbs_vec3 point, int32_t joints[2],
                      double weights[2]) {
  const int32_t bone = twist->bone_of_joint[joint];
  joints[0] = joint;
  joints[1] = 0;
  weights[0] = weight;
  weights[1] = 0.0;
  if (bone < 0) return;
  const double share = sbs_twist_share_at(twist, twist->bones + bone, point, NULL);
  split(twist, (size_t)bone, share, weight, joints, weights);
}

static sbs_status check(const sbs_twist *twist, size_t vertex_count, size_t columns, sbs_scalar weight_scalar,
                        const int32_t *joint_indices, const double *shares, sbs_fault *fault) {
  if (!columns) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "influences_per_vertex");
  if (!sbs_scalar_is_valid(weight_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "weight_scalar", (double)weight_scalar, 0.0);
  }
  for (size_t v = 0; v < vertex_count; v++) {
    for (size_t k = 0; k < columns; k++) {
      const int32_t joint = joint_indices[v * columns + k];
      if (joint < 0 || (size_t)joint >= twist->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", v, k, joint, (double)twist->joint_count);
      }
      const double share = shares && twist->bone_of_joint[joint] >= 0 ? shares[v * columns + k] : 0.0;
      if (!(share >= 0.0 && share <= 1.0)) return sbs_fault_at(fault, SBS_ERROR_OPTION, "shares", v, k, share, 1.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_twist_check_influences(const sbs_twist *twist, size_t vertex_count, sbs_scalar scalar,
                                      const void *rest_positions, size_t stride, size_t columns,
                                      const int32_t *joint_indices, sbs_scalar weight_scalar, const void *joint_weights,
                                      const double *shares, sbs_fault *fault) {
  if (!rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (!sbs_scalar_is_valid(scalar)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)scalar, 0.0);
  const sbs_status status =
      sbs_validate_vectors(rest_positions, stride, scalar, vertex_count, "rest_positions", "stride", fault);
  return status ? status : check(twist, vertex_count, columns, weight_scalar, joint_indices, shares, fault);
}

sbs_status sbs_twist_influences(const sbs_twist *twist, size_t vertex_count, sbs_scalar scalar,
                                const void *rest_positions, size_t stride, size_t influences_per_vertex,
                                const int32_t *joint_indices, sbs_scalar weight_scalar, const void *joint_weights,
                                const double *shares, int32_t *new_joint_indices, double *new_joint_weights,
                                sbs_fault *fault) {
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  if (!vertex_count) return SBS_OK;
  if (!new_joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "new_joint_indices");
  if (!new_joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "new_joint_weights");
  const sbs_status status =
      sbs_twist_check_influences(twist, vertex_count, scalar, rest_positions, stride, influences_per_vertex,
                                 joint_indices, weight_scalar, joint_weights, shares, fault);
  if (status) return status;

  const size_t columns = influences_per_vertex, step = stride ? stride : 3 * sbs_scalar_size(scalar);
  for (size_t v = 0; v < vertex_count; v++) {
    const sbs_status told = sbs_tell_some(v, vertex_count);
    if (told) return sbs_fault_in(fault, told, NULL);
    const void *at = (const char *)rest_positions + v * step;
    const sbs_vec3 point = {sbs_scalar_get(at, scalar, 0), sbs_scalar_get(at, scalar, 1),
                            sbs_scalar_get(at, scalar, 2)};
    for (size_t i = v * columns; i < (v + 1) * columns; i++) {
      const double weight = sbs_scalar_get(joint_weights, weight_scalar, i);
      const int32_t bone = twist->bone_of_joint[joint_indices[i]];
      int32_t joints[2];
      double weights[2];
      sbs_twist_spread(twist, joint_indices[i], weight, point, joints, weights);
      if (shares && bone >= 0) split(twist, (size_t)bone, shares[i], weight, joints, weights);
      for (size_t side = 0; side < 2; side++) {
        new_joint_indices[2 * i + side] = weights[side] == 0.0 ? 0 : joints[side];
        new_joint_weights[2 * i + side] = weights[side];
      }
    }
  }
  return SBS_OK;
}
