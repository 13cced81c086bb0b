/* SPDX-License-Identifier: MIT */
#include "drag/view.h"

#include <float.h>

#include "base/fault.h"
#include "base/isa.h"
#include "pose/batches.h"
#include "pose/twist.h"

/* M C M of the joint on the other side, with M the reflection x -> S x + 2 position e. */
static void mirror_matrices(const sbs_drag_options *options, size_t joint_count, const double *from, double *to) {
  const size_t axis = (size_t)options->mirror_axis;
  for (size_t j = 0; j < joint_count; j++) {
    const size_t other = options->mirror_joints ? (size_t)options->mirror_joints[j] : j;
    for (size_t row = 0; row < 3; row++) {
      const double *c = from + 12 * other + 4 * row;
      double *made = to + 12 * j + 4 * row;
      const double sign = row == axis ? -1.0 : 1.0;
      for (size_t column = 0; column < 3; column++) made[column] = sign * (column == axis ? -1.0 : 1.0) * c[column];
      made[3] = sign * (c[3] + 2.0 * options->mirror_position * c[axis]);
      if (row == axis) made[3] += 2.0 * options->mirror_position;
    }
  }
}

static sbs_status take_apart(sbs_view *view, const double *matrices) {
  const sbs_joints_args args = {.matrices = matrices,
                                .scalar = SBS_FLOAT64,
                                .rows = 3,
                                .normal_tolerance = 2.0 * DBL_EPSILON,
                                .joints = view->joints,
                                .kinds = view->kinds};
  sbs_status status = SBS_OK;
  sbs_choose_joints_batch(sbs_choose_isa())(&args, 0, view->count);
  for (size_t j = 0; j < view->count && !status; j++) {
    status = sbs_decompose_joint(view->joints + j, view->kinds[j], view->stretches + j);
  }
  return status;
}

sbs_status sbs_view_init(const sbs_drag_options *options, const sbs_pose *pose, size_t joint_count, int mirrored,
                         sbs_arena *arena, sbs_view *view, sbs_fault *fault) {
  const size_t count = options->twist ? sbs_twist_joint_count(options->twist) : joint_count;
  double *given = sbs_arena_take(arena, joint_count, 12 * sizeof *given);
  double *seen = sbs_arena_take(arena, joint_count, 12 * sizeof *seen);
  double *all = sbs_arena_take(arena, count, 12 * sizeof *all);
  *view = (sbs_view){.joints = sbs_arena_take(arena, count, sizeof *view->joints),
                     .kinds = sbs_arena_take(arena, count, sizeof *view->kinds),
                     .stretches = sbs_arena_take(arena, count, sizeof *view->stretches),
                     .count = count};
  sbs_status status = SBS_OK;
  if (arena->failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_read_matrices(pose, 0, joint_count, given);
  if (mirrored) mirror_matrices(options, joint_count, given, seen);
  const double *matrices = mirrored ? seen : given;
  if (options->twist) {
    const sbs_pose skeleton = {.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
    status = sbs_twist_pose_joints(options->twist, &skeleton, mirrored ? NULL : pose->twist_angles, all);
    matrices = all;
  }
  if (!status) status = take_apart(view, matrices);
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}
