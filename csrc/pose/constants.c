/* SPDX-License-Identifier: MIT */
#include "pose/constants.h"

sbs_formula sbs_choose_formula(const sbs_deform_options *options) {
  static const sbs_formula by_center[][2] = {
      [SBS_CENTER_JOINT_SET] = {SBS_FORMULA_SPHERICAL, SBS_FORMULA_AVERAGE},
      [SBS_CENTER_WEIGHTED] = {SBS_FORMULA_WEIGHTED, SBS_FORMULA_AVERAGE_WEIGHTED},
      [SBS_CENTER_OPTIMIZED] = {SBS_FORMULA_OPTIMIZED, SBS_FORMULA_AVERAGE_OPTIMIZED},
  };
  switch (options->method) {
    case SBS_METHOD_SPHERICAL: return by_center[options->center][options->rotation == SBS_ROTATION_AVERAGE];
    case SBS_METHOD_DUAL_QUATERNION: return SBS_FORMULA_DUAL_QUATERNION;
    default: return SBS_FORMULA_LINEAR;
  }
}

size_t sbs_constants_capacity(const sbs_skin *skin) {
  return skin->group_count * SBS_CONSTANT_GENERAL_BASE +
         skin->row_count * sbs_formula_general_row(SBS_FORMULA_AVERAGE_WEIGHTED);
}
