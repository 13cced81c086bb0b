/* SPDX-License-Identifier: MIT */
#include "deform/frame.h"

#include "base/scalar.h"
#include "base/threads.h"
#include "deform/blend.h"
#include "deform/inverse.h"
#include "kernels/kernels.h"
#include "pose/batches.h"
#include "pose/center.h"

/* --------------------------------------------------------------------------------------------------------- pose -- */

/*
 * Chunks of work: what is less is not worth the while of another thread. Kernels pose several at once, a power of two.
 */
enum {
  JOINTS_CHUNK = 64,
  STRETCHES_CHUNK = 8,
  SETS_CHUNK = 64,
  BLOCKS_CHUNK = 64,
  MOST_BLOCK_CHUNKS = 64
};

static sbs_status prepare_joints(void *context, sbs_share share, int worker) {
  const sbs_frame *frame = context;
  const sbs_skin *skin = frame->skin;
  (void)worker;
  const sbs_joints_args args = {
      .matrices = frame->matrices,
      .scalar = frame->matrix_scalar,
      .rows = frame->matrix_rows,
      .normal_tolerance = 2.0 * sbs_scalar_epsilon(skin->scalar),
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
  };
  sbs_joints_batch_of(skin->isa)(&args, share.begin, share.end);
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
    f->layout = sbs_lay_out_constants(sbs_choose_formula(f->options), general);
    any_general |= general;
  }
  return any_general ? sbs_share_work(threads, skin->joint_count, STRETCHES_CHUNK, decompose_joints, frame) : SBS_OK;
}

/* The sets of skin->solve_order that the frame moves vertices of. */
static const int32_t *solve_order_of(const sbs_frame *frame, size_t *count) {
  const sbs_amounts_use *use = frame->use;
  *count = use ? use->solve_counts[!frame->is_base] : frame->skin->solve_count;
  return use ? use->solve_orders[!frame->is_base] : frame->skin->solve_order;
}

static sbs_centers_args describe_centers(const sbs_frame *frame) {
  size_t solve_count;
  return (sbs_centers_args){
      .skin = frame->skin,
      .order = solve_order_of(frame, &solve_count),
      .joints = frame->scratch.joints,
      .kinds = frame->scratch.kinds,
      .stretches = frame->layout.general ? frame->scratch.stretches : NULL,
      .damping = frame->options->damping,
      .epsilon = sbs_scalar_epsilon(frame->matrix_scalar),
      .leave_all = frame->options->rcond > 0.0,
      .centers = frame->scratch.centers,
      .left = frame->scratch.left,
  };
}

static sbs_status find_some_centers(void *context, sbs_share share, int worker) {
  sbs_frame *frame = context;
  const sbs_centers_args args = describe_centers(frame);
  (void)worker;
  const sbs_centers_count count = sbs_centers_batch_of(frame->skin->isa)(&args, share.begin, share.end);
  atomic_fetch_add(&frame->solves, count.solved);
  atomic_fetch_add(&frame->left_centers, count.left);
  return SBS_OK;
}

/* One after the other: this is there to be exact, not fast. */
static sbs_status find_left_centers(sbs_frame *frame) {
  const sbs_centers_args args = describe_centers(frame);
  size_t solve_count;
  const int32_t *order = solve_order_of(frame, &solve_count);
  for (size_t i = 0; i < solve_count; i++) {
    const size_t set = (size_t)order[i];
    if (!frame->scratch.left[set]) continue;
    sbs_status status =
        sbs_solve_center(&args, set, frame->options->rcond, frame->scratch.center_work, frame->scratch.centers + set);
    if (status) return status;
  }
  return SBS_OK;
}

/* Of joint sets, where the method has them. */
static sbs_status find_centers(sbs_frame *frame, int threads) {
  size_t solve_count;
  if (!sbs_formula_has_set_centers(sbs_choose_formula(frame->options))) return SBS_OK;
  solve_order_of(frame, &solve_count);
  sbs_status status = sbs_share_work(threads, solve_count, SETS_CHUNK, find_some_centers, frame);
  if (!status && atomic_load(&frame->left_centers)) status = find_left_centers(frame);
  return status;
}

/* Less than this, float32 could not tell from rounding; and both types shall do the same. */
static double weighted_damping(const sbs_deform_options *options) {
  return options->damping > SBS_WEIGHTED_DAMPING ? options->damping : SBS_WEIGHTED_DAMPING;
}

/* Whether the frame moves a vertex of a set. */
static int is_needed(const sbs_frame *frame, size_t set) {
  return !frame->use || frame->use->sets[set][!frame->is_base];
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
      .forms = frame->scratch.forms,
      .obtuse = frame->scratch.obtuse,
  };
  sbs_constants_batch *write = sbs_kernels_of(skin->isa, skin->scalar)->write_constants;
  for (size_t begin = share.begin, end; begin < share.end; begin = end) { /* by runs of sets that are needed or not */
    const int needed = is_needed(frame, begin);
    for (end = begin + 1; end < share.end && is_needed(frame, end) == needed;) end++;
    if (needed) write(&args, begin, end);
  }
  return SBS_OK;
}

/* From matrices to constants, of the base as well. */
static sbs_status pose(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  sbs_status status = sbs_share_work(threads, skin->joint_count, JOINTS_CHUNK, prepare_joints, frame);
  if (!status) status = prepare_stretches(frame, threads);
  for (sbs_frame *f = frame; f && !status; f = f->base) status = find_centers(f, threads);
  for (sbs_frame *f = frame; f && !status && frame->positions; f = f->base) {
    status = sbs_share_work(threads, skin->set_count, SETS_CHUNK, write_constants, f);
  }
  return status;
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

/* The items that begin in some blocks: they are shared by their blocks, not their number. */
static sbs_status run_items(void *context, sbs_share blocks, int worker) {
  sbs_frame *frame = context;
  const sbs_skin *skin = frame->skin;
  const sbs_item *end = skin->items + skin->item_count;
  size_t singular_count = 0;
  (void)worker;
  for (const sbs_item *item = skin->items + find_item(skin, blocks.begin); item < end; item++) {
    if (item->first_block >= blocks.end) break;
    if (frame->posed.positions) {
      singular_count += sbs_invert_item(frame, item);
    } else if (frame->base) {
      sbs_blend_item(frame, item);
    } else {
      const sbs_kernel_args args = sbs_describe_blocks(frame, item, 0, (size_t)item->vertex_count);
      sbs_kernel_for(frame, item, args.influences)(&args);
    }
  }
  if (singular_count) atomic_fetch_add(&frame->singular_count, singular_count);
  return SBS_OK;
}

/* Of a mesh, the same for any number of threads. */
static size_t blocks_of_chunk(const sbs_skin *skin) {
  const size_t blocks = skin->block_count / MOST_BLOCK_CHUNKS;
  return blocks > BLOCKS_CHUNK ? blocks : BLOCKS_CHUNK;
}

sbs_status sbs_run_frame(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  const sbs_status status = pose(frame, threads);
  if (status || !frame->positions) return status;
  return sbs_share_work(threads, skin->block_count, blocks_of_chunk(skin), run_items, frame);
}
