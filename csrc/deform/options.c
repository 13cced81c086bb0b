/* SPDX-License-Identifier: MIT */
#include "deform/options.h"

#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "correctives/shapes.h"

static sbs_status check_stride(const sbs_skin *skin, size_t stride, const char *name, sbs_fault *fault) {
  const size_t size = sbs_scalar_size(skin->scalar);
  if (stride && (stride < 3 * size || stride % size)) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, name, (double)stride, (double)(3 * size));
  }
  return SBS_OK;
}

static sbs_status check_method(const sbs_skin *skin, const sbs_deform_options *options, sbs_fault *fault) {
  if ((int)options->method < SBS_METHOD_RIGID || options->method > SBS_METHOD_DUAL_QUATERNION) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "method", (double)options->method, SBS_METHOD_DUAL_QUATERNION);
  }
  if ((int)options->rotation < SBS_ROTATION_QLERP || options->rotation > SBS_ROTATION_AVERAGE) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "rotation", (double)options->rotation, SBS_ROTATION_AVERAGE);
  }
  if ((int)options->center < SBS_CENTER_JOINT_SET || options->center > SBS_CENTER_OPTIMIZED) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "center", (double)options->center, SBS_CENTER_OPTIMIZED);
  }
  if (options->center == SBS_CENTER_OPTIMIZED && !skin->centers) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
  }
  if (!(options->damping > 0.0) || isinf(options->damping)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "damping", options->damping, 0.0);
  }
  if (!(options->rcond >= 0.0 && options->rcond < 1.0)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "rcond", options->rcond, 1.0);
  }
  return SBS_OK;
}

static sbs_status check_layout(const sbs_skin *skin, const sbs_deform_options *options, sbs_fault *fault) {
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  const sbs_status status = check_stride(skin, options->positions_stride, "positions_stride", fault);
  return status ? status : check_stride(skin, options->normals_stride, "normals_stride", fault);
}

static sbs_status check_rest_positions(const sbs_skin *skin, const sbs_deform_options *options, sbs_fault *fault) {
  if (!options->rest_positions) {
    return options->rest_positions_stride ? sbs_fault_number(fault, SBS_ERROR_OPTION, "rest_positions_stride",
                                                             (double)options->rest_positions_stride, 0.0)
                                          : SBS_OK;
  }
  return sbs_validate_vectors(options->rest_positions, options->rest_positions_stride, skin->scalar, skin->vertex_count,
                              "rest_positions", "rest_positions_stride", fault);
}

static sbs_status check_amount(const sbs_deform_options *options, sbs_fault *fault) {
  if (!options->amount) return SBS_OK;
  if (!sbs_has_rotations(options)) return sbs_fault_in(fault, SBS_ERROR_OPTION, "amount");
  if (sbs_scalar_is_valid(options->amount_scalar)) return SBS_OK;
  return sbs_fault_number(fault, SBS_ERROR_OPTION, "amount_scalar", (double)options->amount_scalar, 0.0);
}

static sbs_status check_shapes(const sbs_skin *skin, const sbs_deform_options *options, size_t frame_count,
                               sbs_fault *fault) {
  if (!options->shapes) {
    return options->shape_weights ? sbs_fault_in(fault, SBS_ERROR_OPTION, "shape_weights") : SBS_OK;
  }
  if (options->shapes->skin != skin) return sbs_fault_in(fault, SBS_ERROR_OPTION, "shapes");
  if (!options->shape_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "shape_weights");
  const size_t shape_count = sbs_shapes_count(options->shapes);
  return sbs_validate_numbers(options->shape_weights, frame_count, shape_count, "shape_weights", fault);
}

sbs_status sbs_check_deform_options(const sbs_skin *skin, const sbs_deform_options *options, size_t frame_count,
                                    sbs_fault *fault) {
  sbs_status status = check_method(skin, options, fault);
  if (!status) status = check_layout(skin, options, fault);
  if (!status) status = check_rest_positions(skin, options, fault);
  if (!status) status = check_amount(options, fault);
  return status ? status : check_shapes(skin, options, frame_count, fault);
}

sbs_status sbs_check_amounts(const sbs_deform_options *options, size_t begin, size_t end, sbs_fault *fault) {
  for (size_t v = begin; v < end; v++) {
    const double amount = sbs_scalar_get(options->amount, options->amount_scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}
