/* SPDX-License-Identifier: MIT */
#include "kernels/kernels.h"

#define DECLARE_SCALAR(name) \
  extern sbs_write_rows sbs_write_rows_##name; \
  extern sbs_write_set_rows sbs_write_set_rows_##name; \
  extern sbs_add_rows_kernel sbs_add_rows_##name; \
  extern sbs_shape_block_kernel sbs_shape_block_##name; \
  extern sbs_pack_kernel sbs_pack_positions_##name; \
  extern sbs_amounts_kernel sbs_take_amounts_##name; \
  extern sbs_kernel sbs_move_linear_##name, sbs_move_sets_##name, sbs_move_centers_##name, sbs_move_weighted_##name, \
      sbs_move_dual_quaternion_##name;

#define KERNELS_OF(name) \
  {.write_rows = sbs_write_rows_##name, \
   .write_set_rows = sbs_write_set_rows_##name, \
   .add_rows = sbs_add_rows_##name, \
   .shape_block = sbs_shape_block_##name, \
   .pack_positions = sbs_pack_positions_##name, \
   .take_amounts = sbs_take_amounts_##name, \
   .formulas = {[SBS_FORMULA_LINEAR] = sbs_move_linear_##name, \
                [SBS_FORMULA_SETS] = sbs_move_sets_##name, \
                [SBS_FORMULA_CENTERS] = sbs_move_centers_##name, \
                [SBS_FORMULA_WEIGHTED] = sbs_move_weighted_##name, \
                [SBS_FORMULA_DUAL_QUATERNION] = sbs_move_dual_quaternion_##name}},

#ifdef SBS_FLOAT32_ONLY
#define DECLARE(constant, isa) DECLARE_SCALAR(float32_##isa)
#define BOTH(constant, isa) {KERNELS_OF(float32_##isa)},
#else
#define DECLARE(constant, isa) DECLARE_SCALAR(float32_##isa) DECLARE_SCALAR(float64_##isa)
#define BOTH(constant, isa) {KERNELS_OF(float32_##isa) KERNELS_OF(float64_##isa)},
#endif
SBS_EACH_ISA(DECLARE)

const sbs_kernels *sbs_choose_kernels(sbs_isa isa, sbs_scalar scalar) {
  static const sbs_kernels kernels[SBS_ISA_COUNT][2] = {SBS_EACH_ISA(BOTH)}; /* float32 first, as of sbs_scalar */
  return &kernels[isa][scalar];
}
