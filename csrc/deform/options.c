/* SPDX-License-Identifier: MIT */
#include "deform/options.h"

#include <math.h>
#include <string.h>

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

/* The options of one method: of the method itself, or of the base that it is blended with. */
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

/* The name of an option of the base, for a fault. */
static const char *name_in_base(const char *option) {
  static const char *const names[][2] = {{"method", "base.method"},
                                         {"rotation", "base.rotation"},
                                         {"center", "base.center"},
                                         {"damping", "base.damping"},
                                         {"centers", "centers"}}; /* which are the skin's */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!strcmp(option, names[i][0])) return names[i][1];
  }
  return "base.rcond";
}

static sbs_status check_options(const sbs_skin *skin, const sbs_deform_options *options, sbs_fault *fault) {
  sbs_status status = check_method(skin, options, fault);
  if (status) return status;
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  status = check_stride(skin, options->positions_stride, "positions_stride", fault);
  return status ? status : check_stride(skin, options->normals_stride, "normals_stride", fault);
}

/* Whether shapes of a skin are for another: the same, or the same with other positions. */
static int has_blocks_of(const sbs_skin *skin, const sbs_skin *other) {
  if (skin == other) return 1;
  if (!skin->is_moved || skin->scalar != other->scalar || !skin->normals != !other->normals) return 0;
  if (skin->vertex_count != other->vertex_count || skin->block_count != other->block_count) return 0;
  return !memcmp(skin->vertices, other->vertices, skin->block_count * SBS_BLOCK * sizeof *skin->vertices);
}

/* Shapes, of so many frames. */
static sbs_status check_shapes(const sbs_skin *skin, const sbs_deform_options *options, size_t frame_count,
                               sbs_fault *fault) {
  if (!options->shapes) {
    return options->shape_weights ? sbs_fault_in(fault, SBS_ERROR_OPTION, "shape_weights") : SBS_OK;
  }
  if (!has_blocks_of(skin, options->shapes->skin)) return sbs_fault_in(fault, SBS_ERROR_OPTION, "shapes");
  if (!options->shape_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "shape_weights");
  const size_t shape_count = sbs_shapes_count(options->shapes);
  return sbs_validate_numbers(options->shape_weights, frame_count, shape_count, "shape_weights", fault);
}

/* Adds the base. Options that do not belong to one method are the same for both. */
static sbs_status add_base(const sbs_skin *skin, const sbs_deform_options *options, sbs_methods *methods,
                           sbs_fault *fault) {
  if (!sbs_scalar_is_valid(options->amount_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "amount_scalar", (double)options->amount_scalar, 0.0);
  }
  sbs_deform_options *base = &methods->made;
  *base = *options;
  base->method = SBS_METHOD_LINEAR;
  if (options->base) {
    sbs_fault found = {0};
    const sbs_status status = check_method(skin, options->base, &found);
    if (status) return sbs_fault_number(fault, status, name_in_base(found.argument), found.value, found.limit);
    base->method = options->base->method;
    base->rotation = options->base->rotation;
    base->center = options->base->center;
    base->damping = options->base->damping;
    base->rcond = options->base->rcond;
  }
  methods->base = base;
  return SBS_OK;
}

sbs_status sbs_choose_methods(const sbs_skin *skin, const sbs_deform_options *options, size_t frame_count,
                              sbs_methods *methods, sbs_fault *fault) {
  *methods = (sbs_methods){.options = options};
  sbs_status status = check_options(skin, options, fault);
  if (!status) status = check_shapes(skin, options, frame_count, fault);
  return status || !options->amount ? status : add_base(skin, options, methods, fault);
}
