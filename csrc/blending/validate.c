/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "blending/bind.h"
#include "weights/row.h"

static sbs_status check_pointers(const sbs_blending_desc *desc, const sbs_blending *binding, sbs_fault *fault) {
  const struct {
    const void *pointer;
    const char *name;
  } needed[] = {
      {desc->rest_positions, "rest_positions"},
      {desc->parents, "parents"},
      {desc->joint_positions, "joint_positions"},
      {desc->inverse_bind_matrices, "inverse_bind_matrices"},
      {binding->attachment, "binding.attachment"},
      {binding->t, "binding.t"},
      {binding->t_min, "binding.t_min"},
      {binding->t_max, "binding.t_max"},
      {binding->joint_indices, "binding.joint_indices"},
      {binding->joint_weights, "binding.joint_weights"},
      {binding->centers, "binding.centers"},
      {binding->keeps, "binding.keeps"},
  };
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    if (!needed[i].pointer) return sbs_fault_in(fault, SBS_ERROR_NULL, needed[i].name);
  }
  return SBS_OK;
}

static sbs_status check_counts(const sbs_blending_desc *desc, sbs_fault *fault) {
  if (!desc->vertex_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "vertex_count");
  if (!desc->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (desc->vertex_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "vertex_count", (double)desc->vertex_count, INT32_MAX);
  }
  if (desc->joint_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)desc->joint_count, INT32_MAX);
  }
  return SBS_OK;
}

static sbs_status check_skeleton(const sbs_blending_desc *desc, const sbs_allocator *allocator, sbs_fault *fault) {
  sbs_status status = sbs_validate_parents(desc->parents, desc->joint_count, allocator, fault);
  if (!status) {
    status =
        sbs_validate_vectors(desc->joint_positions, 0, SBS_FLOAT64, desc->joint_count, "joint_positions", NULL, fault);
  }
  if (!status && desc->tails) {
    status = sbs_validate_vectors(desc->tails, 0, SBS_FLOAT64, desc->joint_count, "tails", NULL, fault);
  }
  for (size_t i = 0; i < 12 * desc->joint_count && !status; i++) {
    const double value = desc->inverse_bind_matrices[i];
    if (!isfinite(value)) {
      status = sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "inverse_bind_matrices", i / 12, i % 12, value, 0.0);
    }
  }
  return status;
}

/* Checks t_min or t_max, which may be NaN. */
static sbs_status check_ends(const double *ends, size_t joint_count, const char *name, sbs_fault *fault) {
  for (size_t j = 0; j < joint_count && ends; j++) {
    if (isinf(ends[j])) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, name, j, ends[j], 0.0);
  }
  return SBS_OK;
}

static sbs_status check_attachment(const sbs_blending_desc *desc, sbs_fault *fault) {
  for (size_t v = 0; v < desc->vertex_count && desc->attachment; v++) {
    const int32_t joint = desc->attachment[v];
    if (joint < -1 || joint >= (int32_t)desc->joint_count) {
      return sbs_fault_row(fault, SBS_ERROR_JOINT_INDEX, "attachment", v, joint, (double)desc->joint_count);
    }
  }
  return SBS_OK;
}

static sbs_status check_influences(const sbs_blending_desc *desc, sbs_fault *fault) {
  const sbs_influences_table *table = desc->influences;
  if (!table) return SBS_OK;
  if (table->vertex_count != desc->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "influences.vertex_count", (double)table->vertex_count,
                            (double)desc->vertex_count);
  }
  if (table->joint_count != desc->joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "influences.joint_count", (double)table->joint_count,
                            (double)desc->joint_count);
  }
  const sbs_status status = sbs_influences_validate_table(table, fault);
  return status ? status : sbs_influences_validate_joints(table, fault);
}

static sbs_status check_options(const sbs_blending_desc *desc, sbs_fault *fault) {
  if (!sbs_scalar_is_valid(desc->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, 0.0);
  }
  if (desc->profile != SBS_BLENDING_PROFILE_LINEAR && desc->profile != SBS_BLENDING_PROFILE_SMOOTHSTEP) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "profile", (double)desc->profile, 0.0);
  }
  if (!isfinite(desc->zone_scale)) {
    return sbs_fault_number(fault, SBS_ERROR_NOT_FINITE, "zone_scale", desc->zone_scale, 0.0);
  }
  if (desc->zone_scale < 0.0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "zone_scale", desc->zone_scale, 0.0);
  return SBS_OK;
}

sbs_status sbs_blending_validate(const sbs_blending_desc *desc, const sbs_blending *binding,
                                 const sbs_allocator *allocator, sbs_fault *fault) {
  sbs_status status = check_pointers(desc, binding, fault);
  if (!status) status = check_options(desc, fault);
  if (!status) status = check_counts(desc, fault);
  if (!status) {
    status = sbs_validate_vectors(desc->rest_positions, desc->rest_positions_stride, desc->scalar, desc->vertex_count,
                                  "rest_positions", "rest_positions_stride", fault);
  }
  if (!status) status = check_skeleton(desc, allocator, fault);
  if (!status) status = check_influences(desc, fault);
  if (!status) status = check_attachment(desc, fault);
  if (!status) status = check_ends(desc->t_min, desc->joint_count, "t_min", fault);
  if (!status) status = check_ends(desc->t_max, desc->joint_count, "t_max", fault);
  return status;
}
