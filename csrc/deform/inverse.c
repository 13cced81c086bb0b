/* SPDX-License-Identifier: MIT */
#include "deform/inverse.h"

#include <math.h>

#include "base/fault.h"
#include "base/scalar.h"
#include "deform/job.h"

/* ------------------------------------------------------------------------------------------------------ an item -- */

static sbs_inverse_method method_of(const sbs_frame *frame, const sbs_item *item) {
  const size_t group = (size_t)item->group, anchor = 4 * group * sbs_scalar_size(frame->skin->scalar);
  return (sbs_inverse_method){.args = sbs_describe_items(frame, item, 1),
                              .kernel = sbs_kernel_of(frame, group),
                              .anchor = (const char *)frame->scratch.anchors + anchor};
}

size_t sbs_invert_item(const sbs_frame *frame, const sbs_item *item) {
  const sbs_skin *skin = frame->skin;
  const double *origin = sbs_set_origin(skin, (size_t)skin->groups[item->group].set);
  sbs_inverse_args args = {
      .methods = {method_of(frame, item)},
      .posed = frame->posed.positions,
      .posed_stride = frame->posed.stride,
      .origin = {origin[0], origin[1], origin[2]},
      .size = skin->size_with_origin,
      .singular = frame->posed.singular,
  };
  if (frame->base) {
    args.methods[1] = method_of(frame->base, item);
    args.amount = frame->options->amount;
    args.amount_scalar = frame->options->amount_scalar;
  }
  return sbs_kernels_of(skin->isa, skin->scalar)->invert(&args);
}

/* ------------------------------------------------------------------------------------------------------- public -- */

static sbs_status check_posed(const sbs_skin *skin, const sbs_posed *posed, sbs_fault *fault) {
  const size_t size = sbs_scalar_size(skin->scalar);
  if (!posed->positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "posed_positions");
  if (posed->stride < 3 * size || posed->stride % size) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, "posed_stride", (double)posed->stride, (double)(3 * size));
  }
  for (size_t v = 0; v < skin->vertex_count; v++) {
    const char *position = (const char *)posed->positions + v * posed->stride;
    for (size_t axis = 0; axis < 3; axis++) {
      const double x = sbs_scalar_get(position, skin->scalar, axis);
      if (!isfinite(x)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "posed_positions", v, axis, x, 0.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_skin_inverse_deform(const sbs_skin *skin, const sbs_pose *pose, const sbs_deform_options *options,
                                   const void *posed_positions, size_t posed_stride, void *rest_positions,
                                   unsigned char *singular, size_t *singular_count, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  sbs_request request = {
      .positions = rest_positions,
      .posed = {.positions = posed_positions,
                .stride = posed_stride ? posed_stride : 3 * sbs_scalar_size(skin->scalar),
                .singular = singular},
  };
  sbs_status status = check_posed(skin, &request.posed, fault);
  if (status) return status;
  status = sbs_run_job(skin, 1, pose, options, &request, NULL, fault);
  if (!status && singular_count) *singular_count = request.posed.singular_count;
  return status;
}
