/* SPDX-License-Identifier: MIT */
#include "gradient/run.h"

#include "base/scalar.h"
#include "pose/center.h"

int sbs_gradient_is_stretched(const sbs_gradient_run *run, size_t set) {
  return !sbs_gradient_moves_as_given(run) && sbs_is_stretched(run->skin, set, run->kinds);
}

sbs_gradient_formula sbs_choose_gradient_formula(const sbs_gradient_run *run, size_t set, int own) {
  const sbs_deform_options *options = run->options;
  if (sbs_gradient_moves_as_given(run) || sbs_set_size(run->skin, set) < 2) return SBS_GRADIENT_LINEAR;
  if (options->method == SBS_METHOD_DUAL_QUATERNION) return SBS_GRADIENT_DUAL_QUATERNION;
  if (options->center == SBS_CENTER_JOINT_SET) return SBS_GRADIENT_JOINT_SET;
  if (options->center == SBS_CENTER_WEIGHTED) return SBS_GRADIENT_WEIGHTED;
  return own ? SBS_GRADIENT_LINEAR : SBS_GRADIENT_OPTIMIZED;
}

size_t sbs_gradient_sums_per_joint(const sbs_gradient_run *run, size_t set, int own) {
  return sbs_gradient_width(sbs_choose_gradient_formula(run, set, own), sbs_gradient_is_stretched(run, set),
                            run->upstream.normals != NULL);
}

int sbs_gradient_wants_sums(const sbs_gradient_run *run, sbs_gradient_formula formula) {
  return run->result.skinning_matrices || (formula == SBS_GRADIENT_JOINT_SET && run->result.rest_positions);
}

void sbs_gradient_origin(const sbs_gradient_run *run, size_t set, double origin[3]) {
  const double *c0 = run->skin->set_centroids + 3 * set;
  const int any = sbs_set_size(run->skin, set) > 0, is_float = run->skin->scalar == SBS_FLOAT32;
  for (int i = 0; i < 3; i++) origin[i] = !any ? 0.0 : is_float ? (double)(float)c0[i] : c0[i];
}

#define BATCHES(constant, name) \
  {.find_centers = sbs_gradient_find_centers_##name, \
   .pose_sets = sbs_gradient_pose_sets_##name, \
   .finish_sets = sbs_gradient_finish_sets_##name, \
   .finish_centers = sbs_gradient_finish_centers_##name, \
   .finish_joints = sbs_gradient_finish_joints_##name},

const sbs_gradient_batches *sbs_choose_gradient_batches(sbs_isa isa) {
  static const sbs_gradient_batches of[] = {SBS_EACH_ISA(BATCHES)};
  return of + isa;
}
