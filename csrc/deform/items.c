/* SPDX-License-Identifier: MIT */
#include "deform/items.h"

sbs_kernel_args sbs_describe_items(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *items, size_t count) {
  const sbs_skin *skin = frame->skin;
  return (sbs_kernel_args){
      .items = items,
      .item_count = count,
      .groups = skin->groups,
      .pivots = skin->pivots,
      .ways = frame->scratch.ways,
      .constants = frame->scratch.constants,
      .head_size = frame->layout.head_size,
      .row_size = frame->layout.row_size,
      .rigid = frame->options->method == SBS_METHOD_RIGID,
      .positions = rest ? rest->positions : skin->stream,
      .first_position = rest ? rest->first_position : 0,
      .weights = skin->stream,
      .pivot_weights = skin->pivot_weights,
      .heaviest = skin->heaviest,
      .normals = !frame->normals ? NULL
                 : rest          ? rest->normals
                                 : skin->normals,
      .first_normal = rest ? rest->first_block : 0,
      .centers = skin->centers,
      .vertices = skin->vertices,
      .runs = skin->runs,
      .copies = &skin->copies,
      .positions_out = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals_out = frame->normals,
      .normals_stride = frame->normals_stride,
  };
}

sbs_item sbs_item_part(const sbs_skin *skin, const sbs_item *item, size_t first, size_t vertex_count) {
  return (sbs_item){.group = item->group,
                    .vertex_count = (int32_t)vertex_count,
                    .first_block = item->first_block + first,
                    .stream = item->stream + first * sbs_block_size(skin->groups + item->group)};
}

sbs_kernel *sbs_choose_kernel_by_form(const sbs_frame *frame, size_t group, sbs_form form) {
  const sbs_way way = frame->scratch.ways[group];
  const sbs_formula formula = way.linear ? SBS_FORMULA_LINEAR : frame->layout.formula;
  const sbs_kernels *kernels = sbs_choose_kernels(frame->skin->isa, frame->skin->scalar);
  sbs_kernel *const *by_influences = kernels->formulas[formula]->by_form[form][frame->normals != NULL];
  return by_influences[way.variant] ? by_influences[way.variant] : by_influences[SBS_KERNEL_INFLUENCES];
}

sbs_kernel *sbs_choose_kernel(const sbs_frame *frame, size_t group) {
  return sbs_choose_kernel_by_form(frame, group, (sbs_form)frame->scratch.ways[group].form);
}
