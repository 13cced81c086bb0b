/* SPDX-License-Identifier: MIT */
#include "fit/joints.h"

#include <float.h>

#include "base/isa.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "pose/batches.h"

typedef struct preparation {
  const sbs_fit_desc *desc;
  const sbs_frame_joints *made;
} preparation;

static sbs_status prepare(void *context, sbs_share frames, int worker) {
  const preparation *of = context;
  const sbs_fit_desc *desc = of->desc;
  const size_t numbers = desc->joint_count * 4 * desc->poses.rows * sbs_scalar_size(desc->poses.scalar);
  sbs_status status = SBS_OK;
  (void)worker;
  for (size_t f = frames.begin; f < frames.end && !status; f++) {
    const size_t first = f * desc->joint_count;
    const sbs_joints_args args = {.matrices = (const char *)desc->poses.skinning_matrices + f * numbers,
                                  .scalar = desc->poses.scalar,
                                  .rows = desc->poses.rows,
                                  .normal_tolerance = 2.0 * DBL_EPSILON,
                                  .joints = of->made->joints + first,
                                  .kinds = of->made->kinds + first};
    sbs_joints_batch_of(sbs_choose_isa())(&args, 0, desc->joint_count);
    for (size_t j = first; j < first + desc->joint_count && !status; j++) {
      status = sbs_decompose_joint(of->made->joints + j, of->made->kinds[j], of->made->stretches + j);
    }
  }
  return status;
}

sbs_status sbs_frame_joints_new(const sbs_fit_desc *desc, int threads, sbs_arena *arena, sbs_frame_joints *made) {
  const size_t all = desc->frame_count * desc->joint_count;
  made->joints = sbs_arena_take(arena, all, sizeof *made->joints);
  made->kinds = sbs_arena_take(arena, all, sizeof *made->kinds);
  made->stretches = sbs_arena_take(arena, all, sizeof *made->stretches);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  preparation context = {desc, made};
  return sbs_share_work(threads, desc->frame_count, 1, prepare, &context);
}
