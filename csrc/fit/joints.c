/* SPDX-License-Identifier: MIT */
#include "fit/joints.h"

#include <float.h>

#include "base/isa.h"
#include "base/threads.h"
#include "pose/batches.h"
#include "pose/twist.h"

typedef struct preparation {
  const sbs_fit_desc *desc;
  const sbs_frame_joints *made;
  double *matrices; /* (threads, J', 12) of a twist */
} preparation;

static sbs_status prepare(void *context, sbs_share frames, int worker) {
  const preparation *of = context;
  const sbs_fit_desc *desc = of->desc;
  const sbs_twist *twist = sbs_twist_with_bones(desc->twist);
  const size_t count = of->made->count;
  sbs_status status = SBS_OK;
  for (size_t f = frames.begin; f < frames.end && !status; f++) {
    const size_t first = f * count;
    sbs_pose pose = sbs_pose_number(&desc->poses, desc->joint_count, desc->twist, f);
    if (twist) {
      double *matrices = of->matrices + (size_t)worker * 12 * count;
      status = sbs_twist_pose_joints(twist, &pose, pose.twist_angles, matrices);
      if (status) return status;
      pose = (sbs_pose){.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
    }
    const sbs_joints_args args = {.matrices = pose.skinning_matrices,
                                  .scalar = pose.scalar,
                                  .rows = pose.rows,
                                  .normal_tolerance = 2.0 * DBL_EPSILON,
                                  .joints = of->made->joints + first,
                                  .kinds = of->made->kinds + first};
    sbs_choose_joints_batch(sbs_choose_isa())(&args, 0, count);
    for (size_t j = first; j < first + count && !status; j++) {
      status = sbs_decompose_joint(of->made->joints + j, of->made->kinds[j], of->made->stretches + j);
    }
  }
  return status;
}

sbs_status sbs_frame_joints_new(const sbs_fit_desc *desc, int threads, sbs_arena *arena, sbs_frame_joints *made) {
  const sbs_twist *twist = sbs_twist_with_bones(desc->twist);
  made->count = twist ? sbs_twist_joint_count(twist) : desc->joint_count;
  const size_t all = desc->frame_count * made->count;
  made->joints = sbs_arena_take(arena, all, sizeof *made->joints);
  made->kinds = sbs_arena_take(arena, all, sizeof *made->kinds);
  made->stretches = sbs_arena_take(arena, all, sizeof *made->stretches);
  preparation context = {desc, made, NULL};
  if (twist) context.matrices = sbs_arena_take(arena, (size_t)threads * made->count, 12 * sizeof(double));
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  return sbs_share_work(threads, desc->frame_count, 1, prepare, &context);
}
