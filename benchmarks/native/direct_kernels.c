/* SPDX-License-Identifier: MIT */
/*
 * The formulas of direct.h, compiled once for each instruction set, with everything but the formulas from the library.
 */
#include <float.h>
#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "direct.h"

#if defined(__AVX512F__)
#define SBS_VECTOR_BYTES 64
#define LANE_LIST(f, r) \
  f(r, 0), f(r, 1), f(r, 2), f(r, 3), f(r, 4), f(r, 5), f(r, 6), f(r, 7), f(r, 8), f(r, 9), f(r, 10), f(r, 11), \
      f(r, 12), f(r, 13), f(r, 14), f(r, 15)
#elif defined(__AVX2__)
#define SBS_VECTOR_BYTES 32
#define LANE_LIST(f, r) f(r, 0), f(r, 1), f(r, 2), f(r, 3), f(r, 4), f(r, 5), f(r, 6), f(r, 7)
#else
#define SBS_VECTOR_BYTES 16
#define LANE_LIST(f, r) f(r, 0), f(r, 1), f(r, 2), f(r, 3)
#endif
#include "base/compiled_for_isa.h"
#include "kernels/series.h"
#define SCALAR float
#define SCALAR_TINY FLT_MIN
#define SCALAR_EPSILON FLT_EPSILON
#define SCALAR_SQRT sqrtf
#define LANES (SBS_VECTOR_BYTES / 4)
#define NAME(name) name##_float32
#define VEC NAME(vec)
#define VEC3 NAME(vec3)
// clang-format off: each needs those before
#include "kernels/vectors.inc"
#include "kernels/interleave.inc"
#include "kernels/store.inc"
#include "kernels/rotation.inc"
// clang-format on

SBS_INLINE void direct_linear(const SCALAR *head, NAME(influences) in, VEC3 *v, VEC3 *n) {
  VEC m[12];
  NAME(blend_vectors)(m, head + DIRECT_LINEAR_MATRIX, in, DIRECT_LINEAR_MATRIX, 4);
  *v = NAME(add_apply)((VEC3){m[9], m[10], m[11]}, m, *v);
  if (!n) return;
  *n = NAME(add_apply)(NAME(zero3)(), m, *n);
  if (in.others) *n = NAME(unit)(*n);
}

SBS_INLINE void direct_rotate(const SCALAR *head, NAME(influences) in, int dual, VEC3 *v, VEC3 *n) {
  VEC q[8];
  for (int k = 0; k < 8; k++) q[k] = NAME(splat)(head[k]);
  NAME(add_rows)(q, in, DIRECT_ROTATION_QUATERNION, dual ? 8 : 7, 0);
  const VEC s = q[0];
  const VEC3 u = {q[1], q[2], q[3]};
  const VEC scale = (SCALAR)2 / (s * s + u.x * u.x + u.y * u.y + u.z * u.z);

  VEC3 moved = *v, arm = *v;
  if (dual) {
    const VEC3 d = {q[5], q[6], q[7]};
    const VEC3 sd = {s * d.x - q[4] * u.x, s * d.y - q[4] * u.y, s * d.z - q[4] * u.z};
    moved = NAME(add_scaled)(moved, scale, NAME(add_cross)(sd, u, d));
  } else {
    const VEC3 center = NAME(splat3)(head + DIRECT_ROTATION_CENTER);
    arm = (VEC3){v->x - center.x, v->y - center.y, v->z - center.z};
    moved = NAME(add3)(arm, (VEC3){q[4], q[5], q[6]});
  }
  *v = NAME(add_turn)(moved, scale, s, u, NAME(cross)(u, arm));
  if (n) *n = NAME(add_turn)(*n, scale, s, u, NAME(cross)(u, *n));
}

SBS_INLINE void NAME(move)(const SCALAR *head, NAME(influences) in, sbs_formula formula, sbs_form form, VEC3 *v,
                           VEC3 *n) {
  (void)form;
  if (formula == SBS_FORMULA_LINEAR) {
    direct_linear(head, in, v, n);
  } else {
    direct_rotate(head, in, formula == SBS_FORMULA_DUAL_QUATERNION, v, n);
  }
}

#include "kernels/pivots.inc"

/* For groups that ask for own pivots, of which there are none here. */
SBS_INLINE void NAME(move_any)(const sbs_kernel_args *args, size_t group, const NAME(influences) *in, size_t lane,
                               VEC3 *v, VEC3 *n) {
  NAME(move_by_pivots)(args, group, *in, lane, SBS_FORMULA_LINEAR, SBS_FORM_PLAIN, v, n);
}

#include "kernels/run.inc"

#define KERNEL(name, influences, formula) \
  static void direct_##name(const sbs_kernel_args *args) { \
    NAME(run)(args, NAME(move_any), influences, formula, SBS_FORM_PLAIN, BY_CALLS_NONE, 0, 0, 0); \
  } \
  static void direct_##name##_normals(const sbs_kernel_args *args) { \
    NAME(run)(args, NAME(move_any), influences, formula, SBS_FORM_PLAIN, BY_CALLS_NONE, 1, 0, 0); \
  }
#define KERNELS(name, formula) \
  KERNEL(name##_1, 1, formula) \
  KERNEL(name##_2, 2, formula) \
  KERNEL(name##_3, 3, formula) \
  KERNEL(name##_4, 4, formula) \
  KERNEL(name##_any, (size_t)args->groups[args->items->group].others + 1, formula)
#define ROW(name) \
  { \
    {direct_##name##_1, direct_##name##_2, direct_##name##_3, direct_##name##_4, direct_##name##_any}, { \
      direct_##name##_1_normals, direct_##name##_2_normals, direct_##name##_3_normals, direct_##name##_4_normals, \
          direct_##name##_any_normals \
    } \
  }

KERNELS(linear, SBS_FORMULA_LINEAR)
KERNELS(spherical, SBS_FORMULA_SPHERICAL)
KERNELS(dual_quaternion, SBS_FORMULA_DUAL_QUATERNION)

/* DIRECT_KERNELS is the name for the instruction set. */
const direct_kernels DIRECT_KERNELS = {{ROW(linear), ROW(spherical), ROW(dual_quaternion)}};
