/* SPDX-License-Identifier: MIT */
#include "skin/validate.h"

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "skin/skin.h"
#include "twist/twist.h"

static sbs_status check_counts(const sbs_skin_desc *desc, sbs_fault *fault) {
  if (!desc->vertex_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "vertex_count");
  if (!desc->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (!desc->influences_per_vertex) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "influences_per_vertex");

  /* vertices and joints are numbered by int32_t; a padded block must not overflow either */
  const size_t most = INT32_MAX - SBS_BLOCK;
  if (desc->vertex_count > most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "vertex_count", (double)desc->vertex_count, (double)most);
  }
  if (desc->joint_count > most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)desc->joint_count, (double)most);
  }
  const size_t influences = SIZE_MAX / sizeof(double) / desc->vertex_count;
  if (desc->influences_per_vertex > influences) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)desc->influences_per_vertex,
                            (double)influences);
  }
  return SBS_OK;
}

static sbs_status check_joint_indices(const sbs_skin_desc *desc, sbs_fault *fault) {
  const size_t columns = desc->influences_per_vertex;
  for (size_t v = 0; v < desc->vertex_count; v++) {
    for (size_t k = 0; k < columns; k++) {
      int32_t joint = desc->joint_indices[v * columns + k];
      if (joint < 0 || (size_t)joint >= desc->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", v, k, joint, (double)desc->joint_count);
      }
    }
  }
  return SBS_OK;
}

sbs_status sbs_validate_desc_form(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_fault *fault) {
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!desc->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (!options->allocator.allocate) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.allocate");
  if (!options->allocator.release) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.release");
  if (!sbs_scalar_has_kernels(desc->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, 0.0);
  }
  if (!sbs_scalar_is_valid(desc->weight_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "weight_scalar", (double)desc->weight_scalar, 0.0);
  }
  if (!(options->sum_tolerance >= 0.0)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "sum_tolerance", options->sum_tolerance, 0.0);
  }

  const sbs_status status = check_counts(desc, fault);
  if (!status && desc->twist && desc->twist->joint_count != desc->joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "twist", (double)desc->twist->joint_count,
                            (double)desc->joint_count);
  }
  return status;
}

sbs_status sbs_validate_desc(const sbs_skin_desc *desc, const sbs_skin_options *options, sbs_fault *fault) {
  sbs_status status = sbs_validate_desc_form(desc, options, fault);
  if (status) return status;
  status = sbs_validate_vectors(desc->rest_positions, desc->rest_positions_stride, desc->scalar, desc->vertex_count,
                                "rest_positions", "rest_positions_stride", fault);
  if (status) return status;
  if (desc->rest_normals) {
    status = sbs_validate_vectors(desc->rest_normals, desc->rest_normals_stride, desc->scalar, desc->vertex_count,
                                  "rest_normals", "rest_normals_stride", fault);
    if (status) return status;
  }
  if (desc->twist_positions) {
    status = sbs_validate_vectors(desc->twist_positions, desc->rest_positions_stride, desc->scalar, desc->vertex_count,
                                  "twist_positions", "rest_positions_stride", fault);
    if (status) return status;
  }
  if (desc->joint_positions) {
    status = sbs_validate_vectors(desc->joint_positions, 0, SBS_FLOAT64, desc->joint_count, "joint_positions",
                                  "joint_positions", fault);
    if (status) return status;
  }
  if (desc->centers) {
    status = sbs_validate_vectors(desc->centers, 0, SBS_FLOAT64, desc->vertex_count, "centers", "centers", fault);
    if (status) return status;
  }
  status = check_joint_indices(desc, fault);
  if (status) return status;
  return desc->parents ? sbs_validate_parents(desc->parents, desc->joint_count, &options->allocator, fault) : SBS_OK;
}
