/* SPDX-License-Identifier: MIT */
#include "fit/check.h"

#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "pose/check.h"

/* Each vertex may use a joint, and is drawn to weights that are finite. */
static sbs_status check_joints_of_vertices(const sbs_fit_desc *desc, sbs_fault *fault) {
  const size_t joints = desc->joint_count;
  for (size_t v = 0; v < desc->vertex_count; v++) {
    size_t any = desc->allowed == NULL;
    for (size_t j = 0; !any && j < joints; j++) any = desc->allowed[v * joints + j] != 0;
    if (!any) return sbs_fault_row(fault, SBS_ERROR_OPTION, "allowed", v, 0.0, 1.0);
    for (size_t j = 0; desc->toward && j < joints; j++) {
      const double value = desc->toward[v * joints + j];
      if (!isfinite(value)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "toward", v, j, value, 0.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_check_fit(const sbs_fit_desc *desc, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!desc->vertex_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "vertex_count");
  if (!desc->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (!desc->frame_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "frame_count");
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->posed) return sbs_fault_in(fault, SBS_ERROR_NULL, "posed");
  if (desc->vertex_count > INT32_MAX || desc->frame_count > SIZE_MAX / 64 / desc->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "frame_count", (double)desc->frame_count, 0.0);
  }
  if (desc->joint_count > UINT16_MAX || desc->frame_count > SIZE_MAX / 1024 / desc->joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)desc->joint_count, UINT16_MAX);
  }
  sbs_status status = sbs_validate_vectors(desc->rest_positions, 0, SBS_FLOAT64, desc->vertex_count, "rest_positions",
                                           "rest_positions", fault);
  if (!status) {
    status = sbs_validate_vectors(desc->posed, 0, SBS_FLOAT64, desc->frame_count * desc->vertex_count, "posed", "posed",
                                  fault);
  }
  if (!status && desc->centers) {
    status = sbs_validate_vectors(desc->centers, 0, SBS_FLOAT64, desc->vertex_count, "centers", "centers", fault);
  }
  if (!status) status = check_joints_of_vertices(desc, fault);
  return status ? status : sbs_check_poses(&desc->poses, desc->frame_count, desc->joint_count, fault);
}

sbs_status sbs_check_fit_influences(const sbs_fit_desc *desc, size_t width, const int32_t *indices,
                                    const double *weights, sbs_fault *fault) {
  if (!indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (!width) return sbs_fault_number(fault, SBS_ERROR_OPTION, "influences", 0.0, 1.0);
  if (width > SIZE_MAX / 64 / desc->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences", (double)width, 0.0);
  }
  for (size_t i = 0; i < desc->vertex_count * width; i++) {
    if (indices[i] < 0 || (size_t)indices[i] >= desc->joint_count) {
      return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", i / width, i % width, indices[i],
                          (double)desc->joint_count);
    }
    if (!isfinite(weights[i])) {
      return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "joint_weights", i / width, i % width, weights[i], 0.0);
    }
    if (weights[i] < 0.0) {
      return sbs_fault_at(fault, SBS_ERROR_NEGATIVE, "joint_weights", i / width, i % width, weights[i], 0.0);
    }
  }
  return SBS_OK;
}
