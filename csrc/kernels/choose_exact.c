/* SPDX-License-Identifier: MIT */
#include "kernels/exact.h"

#define DECLARE(constant, name) extern sbs_exact sbs_exact_##name;
#define FUNCTION(constant, name) sbs_exact_##name,
SBS_EACH_ISA(DECLARE)

sbs_exact *sbs_choose_exact(sbs_isa isa) {
  static sbs_exact *const functions[] = {SBS_EACH_ISA(FUNCTION)};
  return functions[isa];
}
