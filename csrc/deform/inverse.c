/* SPDX-License-Identifier: MIT */
#include "deform/inverse.h"

#include "base/scalar.h"
#include "deform/items.h"

static sbs_inverse_method inverse_method(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item) {
  const size_t group = (size_t)item->group, anchor = 4 * group * sbs_scalar_size(frame->skin->scalar);
  return (sbs_inverse_method){.args = sbs_describe_items(frame, rest, item, 1),
                              .kernel = sbs_choose_kernel(frame, group),
                              .anchor = (const char *)frame->scratch.anchors + anchor};
}

size_t sbs_invert_item(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item) {
  const sbs_skin *skin = frame->skin;
  const double *origin = sbs_set_origin(skin, (size_t)skin->groups[item->group].set);
  sbs_inverse_args args = {
      .methods = {inverse_method(frame, rest, item)},
      .posed = frame->posed.positions,
      .posed_stride = frame->posed.stride,
      .origin = {origin[0], origin[1], origin[2]},
      .size = skin->size_with_origin,
      .singular = frame->posed.singular,
  };
  if (frame->base && !sbs_is_moved_alike(skin, (size_t)item->group)) {
    args.methods[1] = inverse_method(frame->base, rest, item);
    args.amounts = frame->amounts;
  }
  return sbs_choose_kernels(skin->isa, skin->scalar)->invert(&args);
}
