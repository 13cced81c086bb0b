/* SPDX-License-Identifier: MIT */
#include "pose/constants.h"

#include "deform/kernels.h"

sbs_constants_layout sbs_lay_out_constants(sbs_method method, int general) {
  const int linear = method == SBS_METHOD_LINEAR || method == SBS_METHOD_RIGID;
  sbs_constants_layout layout = {.linear = linear, .general = general};
  layout.base_size = general ? SBS_CONSTANT_GENERAL_BASE : SBS_CONSTANT_BASE;
  if (linear) {
    layout.row_size = general ? SBS_LINEAR_GENERAL_ROW : SBS_LINEAR_ROW;
  } else {
    layout.row_size = general ? SBS_ROTATION_GENERAL_ROW : SBS_ROTATION_ROW;
  }
  return layout;
}

size_t sbs_constants_capacity(const sbs_skin *skin) {
  return skin->group_count * SBS_CONSTANT_GENERAL_BASE + skin->row_count * SBS_ROTATION_GENERAL_ROW;
}
