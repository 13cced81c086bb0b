/* SPDX-License-Identifier: MIT */
#include "solve/drag_view.h"

#include "base/fault.h"
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

sbs_status sbs_take_view(const sbs_drag_options *options, const sbs_pose *pose, size_t joint_count, int mirrored,
                         sbs_arena *arena, sbs_frame_joints *view, sbs_fault *fault) {
  *view = sbs_frame_joints_in(arena, joint_count, options->twist, 1);
  double *given = sbs_arena_take(arena, joint_count, 12 * sizeof *given);
  double *seen = sbs_arena_take(arena, joint_count, 12 * sizeof *seen);
  double *all = sbs_arena_take(arena, view->count, 12 * sizeof *all);
  if (arena->failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_read_matrices(pose, 0, joint_count, given);
  if (mirrored) mirror_matrices(options, joint_count, given, seen);
  const sbs_pose skeleton = {.skinning_matrices = mirrored ? seen : given,
                             .scalar = SBS_FLOAT64,
                             .rows = 3,
                             .twist_angles = mirrored ? NULL : pose->twist_angles};
  const sbs_status status = sbs_take_apart(view, 0, &skeleton, options->twist, all);
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}
