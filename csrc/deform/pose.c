/* SPDX-License-Identifier: MIT */
#include "deform/pose.h"

#include <string.h>

#include "base/scalar.h"
#include "base/threads.h"
#include "deform/palette.h"
#include "pose/batches.h"
#include "pose/center.h"
#include "pose/twist.h"

/*
 * The least work that is worth another thread. Joints and sets are prepared several at once, by vectors, so that their
 * numbers are powers of two.
 */
enum {
  JOINTS_CHUNK = 64,
  SHAPES_CHUNK = 256, /* blocks */
  STRETCHES_CHUNK = 8,
  SETS_CHUNK = 64
};

static sbs_status prepare_joints(void *context, sbs_share share, int worker) {
  const sbs_frame *frame = context;
  const sbs_skin *skin = frame->skin;
  (void)worker;
  const sbs_joints_args args = {
      .matrices = frame->pose.skinning_matrices,
      .scalar = frame->pose.scalar,
      .rows = frame->pose.rows,
      .normal_tolerance = 2.0 * sbs_scalar_epsilon(skin->scalar),
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
  };
  sbs_choose_joints_batch(skin->isa)(&args, share.begin, share.end);
  return SBS_OK;
}

static sbs_status decompose_joints(void *context, sbs_share share, int worker) {
  const sbs_scratch *scratch = &((const sbs_frame *)context)->scratch;
  sbs_status status = SBS_OK;
  (void)worker;
  for (size_t j = share.begin; j < share.end && !status; j++) {
    status = sbs_decompose_joint(scratch->joints + j, scratch->kinds[j], scratch->stretches + j);
  }
  return status;
}

/* Chooses the layout of the constants, of the base as well, and takes all joints apart where one is not rigid. */
static sbs_status prepare_stretches(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  const sbs_scratch *scratch = &frame->scratch;
  unsigned kinds = 0;
  for (size_t j = 0; j < skin->joint_count; j++) {
    kinds |= scratch->kinds[j];
    frame->nonrigid_joints += (scratch->kinds[j] & SBS_JOINT_NONRIGID) != 0;
  }
  int any_general = 0;
  for (sbs_frame *f = frame; f; f = f->base) {
    const int general = (kinds & sbs_general_kinds(f->options->method, f->normals != NULL)) != 0;
    f->layout = sbs_lay_out_constants(f->formula, general);
    any_general |= general;
  }
  return any_general ? sbs_share_work(threads, skin->joint_count, STRETCHES_CHUNK, decompose_joints, frame) : SBS_OK;
}

/* The sets of skin->solve_order that the frame moves vertices of. */
static const int32_t *joint_sets_to_solve(const sbs_frame *frame, size_t *count) {
  const sbs_amounts_use *use = frame->use;
  *count = use ? use->solve_counts[!frame->method] : frame->skin->solve_count;
  return use ? use->solve_orders[!frame->method] : frame->skin->solve_order;
}

static sbs_centers_args describe_centers(const sbs_frame *frame) {
  size_t solve_count;
  return (sbs_centers_args){
      .skin = frame->skin,
      .order = joint_sets_to_solve(frame, &solve_count),
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
      .stretches = frame->layout.general ? frame->scratch.stretches : NULL,
      .damping = frame->options->damping,
      .epsilon = sbs_scalar_epsilon(frame->pose.scalar),
      .all_by_svd = frame->options->rcond > 0.0,
      .centers = frame->scratch.centers,
      .by_svd = frame->scratch.by_svd,
  };
}

static sbs_status find_some_centers(void *context, sbs_share share, int worker) {
  sbs_frame *frame = context;
  const sbs_centers_args args = describe_centers(frame);
  (void)worker;
  const sbs_centers_count count = sbs_choose_centers_batch(frame->skin->isa)(&args, share.begin, share.end);
  atomic_fetch_add(&frame->solves, count.solved);
  atomic_fetch_add(&frame->svd_centers, count.by_svd);
  return SBS_OK;
}

/* One after the other: few sets in few poses need it. */
static sbs_status find_svd_centers(sbs_frame *frame) {
  const sbs_centers_args args = describe_centers(frame);
  size_t solve_count;
  const int32_t *order = joint_sets_to_solve(frame, &solve_count);
  for (size_t i = 0; i < solve_count; i++) {
    const size_t set = (size_t)order[i];
    if (!frame->scratch.by_svd[set]) continue;
    sbs_status status =
        sbs_solve_center(&args, set, frame->options->rcond, frame->scratch.center_work, frame->scratch.centers + set);
    if (status) return status;
  }
  return SBS_OK;
}

/* Of joint sets, where the method has them. */
static sbs_status find_centers(sbs_frame *frame, int threads) {
  size_t solve_count;
  if (!sbs_formula_has_set_centers(frame->formula)) return SBS_OK;
  joint_sets_to_solve(frame, &solve_count);
  sbs_status status = sbs_share_work(threads, solve_count, SETS_CHUNK, find_some_centers, frame);
  if (!status && atomic_load(&frame->svd_centers)) status = find_svd_centers(frame);
  return status;
}

/* With less, rounding would decide in float32. Both types take the same, so that they agree. */
static double weighted_damping(const sbs_deform_options *options) {
  return options->damping > SBS_WEIGHTED_DAMPING ? options->damping : SBS_WEIGHTED_DAMPING;
}

/* Which methods a group needs, as SBS_NEEDS_ bits. */
static unsigned find_needs(const sbs_frame *frame, size_t group) {
  return atomic_load_explicit(frame->use->groups + group, memory_order_relaxed);
}

/* Whether the frame moves a vertex of a group: the base does not where the kernels of the other method do for both. */
static int is_needed(const sbs_frame *frame, size_t group) {
  if (!frame->use) return 1;
  const unsigned needs = find_needs(frame, group);
  if (!frame->method) return (needs & SBS_NEEDS_METHOD) != 0;
  return needs == SBS_NEEDS_BASE || (needs == SBS_NEEDS_BOTH && !frame->method->scratch.ways[group].blends);
}

/* Whether a joint of a group is further from a rotation than rounding in the skin's type. */
static int is_skewed(const sbs_frame *frame, const sbs_group *group) {
  const sbs_skin *skin = frame->skin;
  unsigned kinds = 0;
  for (size_t k = skin->set_offsets[group->set]; k < skin->set_offsets[group->set + 1]; k++) {
    kinds |= frame->scratch.kinds[skin->set_joints[k]];
  }
  return (kinds & SBS_JOINT_SKEWED) != 0;
}

/*
 * Whether the kernels of a method do for vertices that get its base in part: where both are linear in the group, as of
 * one joint, or where the formula takes the linear one in part. In float32 they do for all rigid joints.
 */
static int blends_with_base(const sbs_frame *frame, size_t number) {
  const sbs_frame *base = frame->base;
  const sbs_group *group = frame->skin->groups + number;
  const int is_linear = sbs_is_linear(&frame->layout, group) && sbs_is_linear(&base->layout, group) &&
                        (frame->options->method == SBS_METHOD_RIGID) == (base->options->method == SBS_METHOD_RIGID);
  const int in_part = sbs_formula_has_own_centers(frame->formula) && base->options->method == SBS_METHOD_LINEAR &&
                      frame->scratch.ways[number].form == SBS_FORM_PLAIN;
  if (group->others && !is_linear && !in_part) return 0;
  return frame->skin->scalar == SBS_FLOAT32 || !is_skewed(frame, group);
}

static sbs_status write_constants(void *context, sbs_share share, int worker) {
  const sbs_frame *frame = context;
  const sbs_skin *skin = frame->skin;
  (void)worker;
  const sbs_constants_args args = {
      .skin = skin,
      .method = frame->options->method,
      .general_kinds = sbs_general_kinds(frame->options->method, frame->normals != NULL),
      .layout = frame->layout,
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
      .stretches = frame->scratch.stretches,
      .centers = frame->scratch.centers,
      .damping = weighted_damping(frame->options),
      .slots = frame->scratch.slots,
      .constants = frame->scratch.constants,
      .anchors = frame->posed.positions ? frame->scratch.anchors : NULL,
      .ways = frame->scratch.ways,
  };
  sbs_constants_batch *write = sbs_choose_kernels(skin->isa, skin->scalar)->write_constants;
  for (size_t begin = share.begin, end; begin < share.end; begin = end) { /* by runs of groups that are needed or not */
    const int needed = is_needed(frame, begin);
    for (end = frame->use ? begin + 1 : share.end; end < share.end && is_needed(frame, end) == needed;) end++;
    if (needed) write(&args, begin, end);
    for (size_t group = begin; needed && frame->base && group < end; group++) {
      frame->scratch.ways[group].blends = (unsigned char)blends_with_base(frame, group);
    }
  }
  return SBS_OK;
}

static void write_centers(const sbs_frame *frame) {
  const sbs_scratch *scratch = &frame->scratch;
  for (size_t set = 0; set < frame->skin->set_count; set++) {
    sbs_rest_center(frame->skin, set, scratch->joints, scratch->kinds, scratch->centers, frame->centers + 3 * set);
  }
}

/* Finds the matrices of the frames of a twist, which then follow those of the skeleton's joints. */
static sbs_status pose_twist(sbs_frame *frame) {
  const sbs_twist *twist = frame->skin->twist;
  double *matrices = frame->scratch.matrices;
  if (!twist) return SBS_OK;
  const sbs_status status = sbs_twist_pose_joints(twist, &frame->pose, frame->pose.twist_angles, matrices);
  for (sbs_frame *f = frame; f; f = f->base) {
    f->pose = (sbs_pose){.skinning_matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3};
  }
  return status;
}

/* What shapes add to some of the blocks that they change. */
static sbs_status sum_shapes(void *context, sbs_share blocks, int worker) {
  const sbs_frame *frame = context;
  const sbs_shapes *shapes = frame->shapes;
  sbs_add_rows_kernel *add = sbs_choose_kernels(frame->skin->isa, frame->skin->scalar)->add_rows;
  (void)worker;
  memset(frame->shape_sums.active + blocks.begin, 0, blocks.end - blocks.begin);
  for (size_t s = 0; s < shapes->shape_count; s++) {
    if (frame->shape_weights[s] == 0.0) continue;
    const size_t first = sbs_first_row(shapes, s, blocks.begin), end = sbs_first_row(shapes, s, blocks.end);
    add(shapes, first, end, frame->shape_weights[s], &frame->shape_sums);
  }
  return SBS_OK;
}

sbs_status sbs_pose_frame(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  sbs_status status = pose_twist(frame);
  if (!status && frame->shapes && frame->positions) {
    status = sbs_share_work(threads, frame->shapes->changed_count, SHAPES_CHUNK, sum_shapes, frame);
  }
  if (!status) status = sbs_share_work(threads, skin->joint_count, JOINTS_CHUNK, prepare_joints, frame);
  if (!status) status = prepare_stretches(frame, threads);
  for (sbs_frame *f = frame; f && !status; f = f->base) status = find_centers(f, threads);
  for (sbs_frame *f = frame; f && !status && frame->positions; f = f->base) {
    status = sbs_share_work(threads, skin->group_count, SETS_CHUNK, write_constants, f);
  }
  if (!status && frame->centers) write_centers(frame);
  if (!status && frame->palette.joints) sbs_write_palette(frame);
  return status;
}
