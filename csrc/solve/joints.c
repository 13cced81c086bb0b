/* SPDX-License-Identifier: MIT */
#include "solve/joints.h"

#include <float.h>

#include "base/isa.h"
#include "base/threads.h"
#include "pose/batches.h"
#include "pose/twist.h"
#include "skin/influences.h"

typedef struct preparation {
  const sbs_fit_desc *desc;
  const sbs_frame_joints *made;
  double *matrices; /* (threads, J', 12) of a twist */
} preparation;

sbs_frame_joints sbs_frame_joints_in(sbs_arena *arena, size_t joint_count, const sbs_twist *twist, size_t frame_count) {
  const size_t count = twist ? sbs_twist_joint_count(twist) : joint_count, all = frame_count * count;
  sbs_frame_joints made = {.count = count};
  made.joints = sbs_arena_take(arena, all, sizeof *made.joints);
  made.kinds = sbs_arena_take(arena, all, sizeof *made.kinds);
  made.stretches = sbs_arena_take(arena, all, sizeof *made.stretches);
  return made;
}

sbs_status sbs_take_apart(const sbs_frame_joints *made, size_t frame, const sbs_pose *pose, const sbs_twist *twist,
                          double *matrices) {
  const size_t first = frame * made->count;
  sbs_status status = twist ? sbs_twist_pose_joints(twist, pose, pose->twist_angles, matrices) : SBS_OK;
  if (status) return status;
  const sbs_joints_args args = {.matrices = twist ? matrices : pose->skinning_matrices,
                                .scalar = twist ? SBS_FLOAT64 : pose->scalar,
                                .rows = twist ? 3 : pose->rows,
                                .normal_tolerance = 2.0 * DBL_EPSILON,
                                .joints = made->joints + first,
                                .kinds = made->kinds + first};
  sbs_choose_joints_batch(sbs_choose_isa())(&args, 0, made->count);
  for (size_t j = first; j < first + made->count && !status; j++) {
    status = sbs_decompose_joint(made->joints + j, made->kinds[j], made->stretches + j);
  }
  return status;
}

static sbs_status prepare(void *context, sbs_share frames, int worker) {
  const preparation *work = context;
  const sbs_fit_desc *desc = work->desc;
  const sbs_twist *twist = sbs_twist_with_bones(desc->twist);
  double *matrices = twist ? work->matrices + (size_t)worker * 12 * work->made->count : NULL;
  sbs_status status = SBS_OK;
  for (size_t f = frames.begin; f < frames.end && !status; f++) {
    const sbs_pose pose = sbs_pose_number(&desc->poses, desc->joint_count, desc->twist, f);
    status = sbs_take_apart(work->made, f, &pose, twist, matrices);
  }
  return status;
}

sbs_status sbs_frame_joints_new(const sbs_fit_desc *desc, int threads, sbs_arena *arena, sbs_frame_joints *made) {
  const sbs_twist *twist = sbs_twist_with_bones(desc->twist);
  *made = sbs_frame_joints_in(arena, desc->joint_count, twist, desc->frame_count);
  preparation context = {desc, made, NULL};
  if (twist) context.matrices = sbs_arena_take(arena, (size_t)threads * made->count, 12 * sizeof(double));
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  return sbs_share_work(threads, desc->frame_count, 1, prepare, &context);
}

size_t sbs_read_influences(size_t width, const int32_t *indices, const double *weights, int32_t *joints, double *w) {
  double sum = 0.0;
  size_t count = 0;
  for (size_t i = 0; i < width; i++) {
    const double weight = sbs_usable_weight(weights[i]);
    if (weight == 0.0) continue;
    joints[count] = indices[i];
    sum += w[count++] = weight;
  }
  for (size_t i = 0; i < count; i++) w[i] /= sum;
  return count;
}
