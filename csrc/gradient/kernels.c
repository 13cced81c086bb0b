/* SPDX-License-Identifier: MIT */
#include "gradient/kernels.h"

size_t sbs_gradient_work_size(size_t max_joints) {
  /* weights, signed weights, their gradient and one row of zeros, sums by lanes */
  return (3 * max_joints + 1 + max_joints * SBS_SUM_MOST + SBS_SUM_TAIL) * SBS_GRADIENT_LANES * sizeof(double);
}

#ifdef SBS_FLOAT32_ONLY
#define OF_ISA(constant, name) {sbs_differentiate_float32_##name, sbs_differentiate_float32_##name},
#else
#define OF_ISA(constant, name) {sbs_differentiate_float32_##name, sbs_differentiate_float64_##name},
#endif

sbs_gradient_kernel *sbs_choose_gradient_kernel(sbs_isa isa, sbs_scalar computed_in) {
  static sbs_gradient_kernel *const of[][2] = {SBS_EACH_ISA(OF_ISA)};
  return of[isa][computed_in];
}
