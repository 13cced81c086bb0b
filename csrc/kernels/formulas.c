/* SPDX-License-Identifier: MIT */
#include "kernels/formulas.h"

sbs_formula sbs_choose_formula(const sbs_deform_options *options) {
  const int method = options->method == SBS_METHOD_RIGID ? SBS_METHOD_LINEAR : (int)options->method;
  int formula = 0;
  for (; formula < SBS_FORMULA_COUNT - 1; formula++) {
    const sbs_formula_traits *traits = sbs_traits + formula;
    if (traits->method == method &&
        (traits->rotation == SBS_ROTATION_ANY || traits->rotation == (int)options->rotation) &&
        (traits->center == SBS_CENTER_ANY || traits->center == (int)options->center)) {
      break;
    }
  }
  return (sbs_formula)formula;
}
