/* SPDX-License-Identifier: MIT */
#include "solve/check.h"

#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "pose/check.h"
#include "pose/twist.h"
#include "skin/influences.h"

sbs_status sbs_check_formula(const sbs_fit_formula *formula, int has_centers, sbs_fault *fault) {
  const int is_spherical = formula->method == SBS_METHOD_SPHERICAL;
  if (!is_spherical && formula->method != SBS_METHOD_LINEAR && formula->method != SBS_METHOD_DUAL_QUATERNION) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "method", formula->method, SBS_METHOD_DUAL_QUATERNION);
  }
  if ((int)formula->center < SBS_CENTER_JOINT_SET || formula->center > SBS_CENTER_OPTIMIZED) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "center", formula->center, SBS_CENTER_OPTIMIZED);
  }
  if (is_spherical && formula->center == SBS_CENTER_OPTIMIZED && !has_centers) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
  }
  if (!(formula->damping > 0.0 && formula->damping <= SBS_LARGEST)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "damping", formula->damping, 0.0);
  }
  return SBS_OK;
}

/* Each vertex may use a joint. */
static sbs_status check_allowed(const sbs_fit_desc *desc, sbs_fault *fault) {
  const size_t joints = desc->joint_count;
  for (size_t v = 0; v < desc->vertex_count; v++) {
    size_t any = 0;
    for (size_t j = 0; !any && j < joints; j++) any = desc->allowed[v * joints + j] != 0;
    if (!any) return sbs_fault_row(fault, SBS_ERROR_OPTION, "allowed", v, 0.0, 1.0);
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
  const size_t vertices = desc->vertex_count, frames = desc->frame_count, joints = desc->joint_count;
  sbs_status status = sbs_validate_numbers(desc->rest_positions, vertices, 3, "rest_positions", fault);
  if (!status) status = sbs_validate_numbers(desc->posed, frames * vertices, 3, "posed", fault);
  if (!status && desc->centers) status = sbs_validate_numbers(desc->centers, vertices, 3, "centers", fault);
  if (!status && desc->allowed) status = check_allowed(desc, fault);
  if (!status && desc->toward) status = sbs_validate_numbers(desc->toward, vertices, joints, "toward", fault);
  if (!status && desc->twist && desc->twist->joint_count != joints) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "twist", (double)desc->twist->joint_count, (double)joints);
  }
  if (!status) status = sbs_check_bounded_poses(&desc->poses, frames, joints, fault);
  return status ? status : sbs_check_twist_angles(desc->twist, &desc->poses, frames, fault);
}

sbs_status sbs_check_fit_width(const sbs_fit_desc *desc, size_t width, sbs_fault *fault) {
  if (!width) return sbs_fault_number(fault, SBS_ERROR_OPTION, "influences", 0.0, 1.0);
  if (width <= SIZE_MAX / 64 / desc->vertex_count) return SBS_OK;
  return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences", (double)width, 0.0);
}

sbs_status sbs_check_fit_influences(const sbs_fit_desc *desc, size_t width, const int32_t *indices,
                                    const double *weights, sbs_fault *fault) {
  if (!indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  const sbs_status status = sbs_check_fit_width(desc, width, fault);
  for (size_t i = 0; !status && i < desc->vertex_count * width; i++) {
    if (indices[i] < 0 || (size_t)indices[i] >= desc->joint_count) {
      return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", i / width, i % width, indices[i],
                          (double)desc->joint_count);
    }
    if (sbs_usable_weight(weights[i]) > SBS_LARGEST) {
      return sbs_fault_at(fault, SBS_ERROR_TOO_LARGE, "joint_weights", i / width, i % width, weights[i], SBS_LARGEST);
    }
  }
  return status;
}

sbs_status sbs_end_fit(sbs_status status, sbs_fault *fault) {
  if (!status) return SBS_OK;
  const int is_of_poses = status != SBS_ERROR_OUT_OF_MEMORY && status != SBS_ERROR_CANCELLED;
  return sbs_fault_in(fault, status, is_of_poses ? "skinning_matrices" : NULL);
}
