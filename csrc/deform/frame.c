/* SPDX-License-Identifier: MIT */
#include "deform/frame.h"

#include "deform/blend.h"
#include "deform/inverse.h"
#include "deform/threads.h"
#include "kernels/kernels.h"
#include "pose/batches.h"
#include "pose/center.h"
#include "scalar.h"

/* --------------------------------------------------------------------------------------------------------- pose -- */

static void prepare_joints(sbs_frame *frame, sbs_share share) {
  const sbs_skin *skin = frame->skin;
  const sbs_joints_args args = {
      .matrices = frame->matrices,
      .scalar = frame->matrix_scalar,
      .rows = frame->matrix_rows,
      .normal_tolerance = 2.0 * sbs_scalar_epsilon(skin->scalar),
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
  };
  sbs_joints_batch_of(skin->isa)(&args, share.begin, share.end);
}

/*
 * Chooses the layout of the constants, of the base as well, and takes all joints apart where one is not rigid: rarely,
 * and then by one thread.
 */
static sbs_status prepare_stretches(sbs_frame *frame) {
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
    f->layout = sbs_lay_out_constants(sbs_choose_formula(f->options), general);
    any_general |= general;
  }
  for (size_t j = 0; j < skin->joint_count && any_general; j++) {
    sbs_status status = sbs_decompose_joint(scratch->joints + j, scratch->kinds[j], scratch->stretches + j);
    if (status) return status;
  }
  return SBS_OK;
}

/* The sets of skin->solve_order that the frame moves vertices of. */
static const int32_t *solve_order_of(const sbs_frame *frame, size_t *count) {
  const sbs_amounts_use *use = frame->use;
  *count = use ? use->solve_counts[!frame->is_base] : frame->skin->solve_count;
  return use ? use->solve_orders[!frame->is_base] : frame->skin->solve_order;
}

static void find_centers(sbs_frame *frame, int thread, int team) {
  size_t solve_count;
  const int32_t *order = solve_order_of(frame, &solve_count);
  const sbs_share share = sbs_share_of(solve_count, thread, team);
  const sbs_centers_args args = {
      .skin = frame->skin,
      .order = order,
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
      .damping = frame->options->damping,
      .epsilon = sbs_scalar_epsilon(frame->matrix_scalar),
      .leave_all = frame->options->rcond > 0.0,
      .centers = frame->scratch.centers,
      .left = frame->scratch.left,
  };
  const sbs_centers_count count = sbs_centers_batch_of(frame->skin->isa)(&args, share.begin, share.end);
#pragma omp atomic
  frame->solves += count.solved;
#pragma omp atomic
  frame->left_centers += count.left;
}

/* One after the other: this is there to be exact, not fast. */
static sbs_status find_left_centers(sbs_frame *frame) {
  const sbs_skin *skin = frame->skin;
  const sbs_deform_options *options = frame->options;
  size_t solve_count;
  const int32_t *order = solve_order_of(frame, &solve_count);
  for (size_t i = 0; i < solve_count; i++) {
    const size_t set = (size_t)order[i];
    if (!frame->scratch.left[set]) continue;
    sbs_status status = sbs_solve_center(skin, set, frame->scratch.joints, options->damping, options->rcond,
                                         frame->scratch.center_work, frame->scratch.centers + set);
    if (status) return status;
  }
  return SBS_OK;
}

/* Less than this, float32 could not tell from rounding; and both types shall do the same. */
static double weighted_damping(const sbs_deform_options *options) {
  return options->damping > SBS_WEIGHTED_DAMPING ? options->damping : SBS_WEIGHTED_DAMPING;
}

/* Whether the frame moves a vertex of a set. */
static int is_needed(const sbs_frame *frame, size_t set) {
  return !frame->use || frame->use->sets[set][!frame->is_base];
}

static void write_constants(sbs_frame *frame, sbs_share share) {
  const sbs_skin *skin = frame->skin;
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
      .forms = frame->scratch.forms,
      .obtuse = frame->scratch.obtuse,
  };
  sbs_constants_batch *write = sbs_kernels_of(skin->isa, skin->scalar)->write_constants;
  for (size_t begin = share.begin, end; begin < share.end; begin = end) { /* by runs of sets that are needed or not */
    const int needed = is_needed(frame, begin);
    for (end = begin + 1; end < share.end && is_needed(frame, end) == needed;) end++;
    if (needed) write(&args, begin, end);
  }
}

/* ------------------------------------------------------------------------------------------------------- deform -- */

static size_t influences_of(const sbs_frame *frame, size_t set) {
  return frame->options->method == SBS_METHOD_RIGID ? 1 : sbs_set_others(frame->skin, set) + 1;
}

static sbs_formula formula_of(const sbs_frame *frame, const sbs_item *item) {
  /* one influence is one joint's matrix, whatever the method */
  const sbs_group *group = frame->skin->groups + item->group;
  const int linear = influences_of(frame, (size_t)group->set) == 1 || sbs_is_linear(&frame->layout, group);
  return linear ? SBS_FORMULA_LINEAR : frame->layout.formula;
}

sbs_kernel_args sbs_describe_blocks(const sbs_frame *frame, const sbs_item *item, size_t first, size_t vertex_count) {
  const sbs_skin *skin = frame->skin;
  const size_t group = (size_t)item->group, set = (size_t)skin->groups[group].set, size = sbs_scalar_size(skin->scalar);
  const size_t block = item->first_block + first, block_size = sbs_set_block_size(skin, set);
  const size_t vectors = size * block * 3 * SBS_BLOCK; /* bytes of what has three numbers for a vertex, before these */
  const char *base = (const char *)frame->scratch.constants + size * sbs_constants_offset(skin, &frame->layout, group);
  const char *positions = (const char *)skin->stream + size * (item->stream + first * block_size);
  return (sbs_kernel_args){
      .base = base,
      .rows = base + size * frame->layout.base_size,
      .row_size = frame->layout.row_size,
      .influences = influences_of(frame, set),
      .obtuse = frame->scratch.obtuse[group],
      .positions = positions,
      .weights = positions + size * 3 * SBS_BLOCK,
      .block_size = block_size,
      .normals = frame->normals ? (const char *)skin->normals + vectors : NULL,
      .centers = skin->centers ? (const char *)skin->centers + vectors : NULL,
      .vertices = skin->vertices + block * SBS_BLOCK,
      .runs = skin->runs + block,
      .vertex_count = vertex_count,
      .positions_out = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals_out = frame->normals,
      .normals_stride = frame->normals_stride,
  };
}

sbs_kernel *sbs_kernel_for(const sbs_frame *frame, const sbs_item *item, size_t influences) {
  const sbs_skin *skin = frame->skin;
  const sbs_form form = (sbs_form)frame->scratch.forms[item->group];
  const size_t variant = influences <= SBS_KERNEL_INFLUENCES ? influences - 1 : SBS_KERNEL_INFLUENCES;
  const sbs_formula_kernels *kernels = sbs_kernels_of(skin->isa, skin->scalar)->formulas[formula_of(frame, item)];
  return kernels->by_form[form][frame->normals != NULL][variant];
}

/* The first item from a block on. */
static size_t find_item(const sbs_skin *skin, size_t block) {
  size_t low = 0, high = skin->item_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (skin->items[middle].first_block < block) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Items are shared out by their blocks, not their number. */
static void run_items(sbs_frame *frame, sbs_share blocks) {
  const size_t last = find_item(frame->skin, blocks.end);
  size_t singular_count = 0;
  for (size_t i = find_item(frame->skin, blocks.begin); i < last; i++) {
    const sbs_item *item = frame->skin->items + i;
    if (frame->posed.positions) {
      singular_count += sbs_invert_item(frame, item);
    } else if (frame->base) {
      sbs_blend_item(frame, item);
    } else {
      const sbs_kernel_args args = sbs_describe_blocks(frame, item, 0, (size_t)item->vertex_count);
      sbs_kernel_for(frame, item, args.influences)(&args);
    }
  }
  if (!singular_count) return;
#pragma omp atomic
  frame->posed.singular_count += singular_count;
}

/* Whether a center is left to the SVD: the same for all threads, once they have met. */
static int has_left_centers(const sbs_frame *frame) {
  return frame->left_centers || (frame->base && frame->base->left_centers);
}

/* From matrices to constants, of the base as well. Without a wait at the end, but the frame's status is known to all. */
static void pose(sbs_frame *frame, int thread, int team) {
  const sbs_skin *skin = frame->skin;
  prepare_joints(frame, sbs_share_of(skin->joint_count, thread, team));
  sbs_wait_for_team(team);

  if (thread == 0) frame->status = (int)prepare_stretches(frame);
  for (sbs_frame *f = frame; f; f = f->base) {
    if (sbs_formula_has_set_centers(sbs_choose_formula(f->options))) find_centers(f, thread, team);
  }
  sbs_wait_for_team(team);
  if (has_left_centers(frame)) {
    for (sbs_frame *f = frame; f && thread == 0 && !frame->status; f = f->base) {
      if (f->left_centers) frame->status = (int)find_left_centers(f);
    }
    sbs_wait_for_team(team);
  }
  if (frame->status || !frame->positions) return;
  for (sbs_frame *f = frame; f; f = f->base) write_constants(f, sbs_share_of(skin->set_count, thread, team));
}

void sbs_run_frame(sbs_frame *frame, int thread, int team) {
  pose(frame, thread, team);
  if (frame->status || !frame->positions) return;
  sbs_wait_for_team(team);
  run_items(frame, sbs_share_of(frame->skin->block_count, thread, team));
}
