/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "flesh/flesh.h"

static sbs_status check_counts(const sbs_flesh_desc *desc, sbs_fault *fault) {
  const struct {
    const char *name;
    size_t count, most;
  } counts[] = {{"vertex_count", desc->vertex_count, INT32_MAX},
                {"triangle_count", desc->triangle_count, INT32_MAX / 16}, /* of the corners of all rims, too */
                {"joint_count", desc->joint_count, INT32_MAX / 8},
                {"influences_per_vertex", desc->influences_per_vertex, INT32_MAX}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    if (!counts[i].count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, counts[i].name);
    if (counts[i].count > counts[i].most) {
      return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, counts[i].name, (double)counts[i].count,
                              (double)counts[i].most);
    }
  }
  return SBS_OK;
}

static sbs_status check_pointers(const sbs_flesh_desc *desc, sbs_fault *fault) {
  const struct {
    const char *name;
    const void *given;
  } pointers[] = {
      {"rest_positions", desc->rest_positions}, {"triangles", desc->triangles}, {"joint_indices", desc->joint_indices},
      {"joint_weights", desc->joint_weights},   {"parents", desc->parents},     {"bones", desc->bones}};
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    if (!pointers[i].given) return sbs_fault_in(fault, SBS_ERROR_NULL, pointers[i].name);
  }
  if (!sbs_scalar_is_valid(desc->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, 0.0);
  }
  if (!sbs_scalar_is_valid(desc->weight_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "weight_scalar", (double)desc->weight_scalar, 0.0);
  }
  return SBS_OK;
}

static sbs_status check_indices(const sbs_flesh_desc *desc, sbs_fault *fault) {
  for (size_t v = 0; v < desc->vertex_count; v++) {
    for (size_t k = 0; k < desc->influences_per_vertex; k++) {
      const int32_t joint = desc->joint_indices[v * desc->influences_per_vertex + k];
      if (joint < 0 || (size_t)joint >= desc->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", v, k, joint, (double)desc->joint_count);
      }
    }
    for (size_t axis = 0; axis < 3; axis++) {
      const double at = sbs_scalar_get(desc->rest_positions, desc->scalar, 3 * v + axis);
      const sbs_status status = sbs_validate_number(at, SBS_LARGEST, "rest_positions", v, axis, fault);
      if (status) return status;
    }
    const double amount = desc->amounts ? desc->amounts[v] : 0.0;
    if (!(amount >= 0.0 && amount <= 1.0)) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "amounts", v, amount, 1.0);
    }
  }
  for (size_t i = 0; i < 3 * desc->triangle_count; i++) {
    const int32_t vertex = desc->triangles[i];
    if (vertex < 0 || (size_t)vertex >= desc->vertex_count) {
      return sbs_fault_at(fault, SBS_ERROR_VERTEX_INDEX, "triangles", i / 3, i % 3, vertex, (double)desc->vertex_count);
    }
  }
  return SBS_OK;
}

static sbs_status check_options(const sbs_flesh_options *options, sbs_fault *fault) {
  const struct {
    const char *name;
    double value, most;
  } numbers[] = {{"bending", options->bending, 1e6}, {"hold", options->hold, 1e6},
                 {"crease", options->crease, 1e6},   {"margin", options->margin, 1.0},
                 {"thinner", options->thinner, 1e6}, {"thicker", options->thicker, 1e6}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (!(numbers[i].value >= 0.0 && numbers[i].value <= numbers[i].most)) {
      return sbs_fault_number(fault, SBS_ERROR_OPTION, numbers[i].name, numbers[i].value, numbers[i].most);
    }
  }
  return SBS_OK;
}

sbs_status sbs_flesh_check(const sbs_flesh_desc *desc, const sbs_flesh_options *options, const sbs_allocator *allocator,
                           sbs_fault *fault) {
  sbs_status status = check_counts(desc, fault);
  if (!status) status = check_pointers(desc, fault);
  if (!status) status = check_options(options, fault);
  if (!status) status = check_indices(desc, fault);
  if (!status) status = sbs_validate_numbers(desc->bones, desc->joint_count, 6, "bones", fault);
  return status ? status : sbs_validate_parents(desc->parents, desc->joint_count, allocator, fault);
}
