/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#ifdef SBS_FLOAT32_ONLY
#define DECLARE(constant, name) extern const sbs_kernels sbs_kernels_float32_##name;
#define OF_ISA(constant, name) {[SBS_FLOAT32] = &sbs_kernels_float32_##name},
#else
#define DECLARE(constant, name) extern const sbs_kernels sbs_kernels_float32_##name, sbs_kernels_float64_##name;
#define OF_ISA(constant, name) \
  {[SBS_FLOAT32] = &sbs_kernels_float32_##name, [SBS_FLOAT64] = &sbs_kernels_float64_##name},
#endif
SBS_EACH_ISA(DECLARE)

const sbs_kernels *sbs_choose_kernels(sbs_isa isa, sbs_scalar scalar) {
  static const sbs_kernels *const of[][2] = {SBS_EACH_ISA(OF_ISA)};
  return of[isa][scalar];
}
