/* SPDX-License-Identifier: MIT */
#include "deform/run.h"

#include <stdalign.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/options.h"

enum {
  EXACT_CHUNK = 16, /* blocks */
  /* Blocks whose rest positions are packed at once: few enough to stay in the nearest cache. */
  PACKED_BLOCKS = 16,
  STACK_INFLUENCES = 24
};

/* ------------------------------------------------------------------------------------------------- sums of rows -- */

static sbs_kernel_args describe_blocks(const sbs_frame *frame, size_t begin, size_t end) {
  const sbs_skin *skin = frame->skin;
  const size_t size = sbs_scalar_size(skin->scalar), vectors = begin * 3 * SBS_BLOCK * size;
  const int about_own = frame->formula == SBS_FORMULA_CENTERS && !frame->rows.set_centers;
  return (sbs_kernel_args){
      .skin = skin,
      .rows = frame->rows,
      .by_heaviest = frame->options->method == SBS_METHOD_RIGID,
      .scale = frame->posed.scale,
      .anchor = frame->posed.anchor,
      .damping = sbs_weighted_damping(frame->options),
      .far = SBS_FAR_CENTER * skin->size,
      .exact = frame->exact,
      .begin = begin,
      .end = end,
      .positions = (const char *)skin->positions + vectors,
      .normals = frame->normals ? (const char *)skin->normals + vectors : NULL,
      .centers = about_own ? (const char *)skin->centers + vectors : NULL,
      .amounts = frame->amounts ? (const char *)frame->amounts + begin * SBS_BLOCK * size : NULL,
      .positions_out = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals_out = frame->normals,
      .normals_stride = frame->normals_stride,
  };
}

/* Runs a kernel on blocks with rest positions that are not the skin's. */
static void run_packed(const sbs_frame *frame, sbs_kernel *kernel, size_t begin, size_t end) {
  alignas(SBS_ALIGNMENT) double positions[3 * SBS_BLOCK * PACKED_BLOCKS], normals[3 * SBS_BLOCK * PACKED_BLOCKS];
  sbs_kernel_args args = describe_blocks(frame, begin, end);
  sbs_pack_rest(&frame->rest, begin, end, positions, frame->normals ? normals : NULL);
  args.positions = positions;
  if (frame->normals) args.normals = normals;
  kernel(&args);
}

static sbs_status run_blocks(void *context, sbs_share blocks, int worker) {
  const sbs_frame *frame = context;
  sbs_kernel *kernel = sbs_choose_kernels(frame->skin->isa, frame->skin->scalar)->formulas[frame->formula];
  (void)worker;
  if (!sbs_rest_differs(&frame->rest)) {
    const sbs_kernel_args args = describe_blocks(frame, blocks.begin, blocks.end);
    kernel(&args);
    return SBS_OK;
  }
  for (size_t begin = blocks.begin; begin < blocks.end; begin += PACKED_BLOCKS) {
    run_packed(frame, kernel, begin, blocks.end - begin < PACKED_BLOCKS ? blocks.end : begin + PACKED_BLOCKS);
  }
  return SBS_OK;
}

/* ---------------------------------------------------------------------------------------------------- in double -- */

static sbs_exact_args describe_exact(const sbs_frame *frame) {
  const sbs_deform_options *options = frame->options;
  return (sbs_exact_args){
      .posed = &frame->posed,
      .rest = frame->rest,
      .method = options->method,
      .rotation = options->rotation,
      .center = options->center,
      .damping = sbs_weighted_damping(options),
      .wanted = frame->exact,
      .amounts = frame->amounts,
      .positions = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals = frame->normals,
      .normals_stride = frame->normals_stride,
      .posed_positions = frame->undone.positions,
      .posed_stride = frame->undone.stride,
      .singular = frame->undone.singular,
  };
}

static sbs_status run_exact(void *context, sbs_share blocks, int worker) {
  sbs_frame *frame = context;
  const sbs_exact_args args = describe_exact(frame);
  alignas(SBS_ALIGNMENT) double work[SBS_EXACT_WORK * (STACK_INFLUENCES + SBS_MORE_JOINTS)];
  const int fits = frame->skin->max_influences <= STACK_INFLUENCES;
  (void)worker;
  const size_t singular_count =
      sbs_choose_exact(frame->skin->isa)(&args, fits ? work : frame->exact_work, blocks.begin, blocks.end);
  atomic_fetch_add(&frame->singular_count, singular_count);
  return SBS_OK;
}

static int has_exact(const sbs_frame *frame) {
  uint16_t any = 0;
  for (size_t b = 0; b < frame->skin->block_count; b++) any |= frame->exact[b];
  return any != 0;
}

sbs_status sbs_run_frame(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  sbs_status status = SBS_OK;
  if (!frame->positions) return SBS_OK;
  if (!frame->is_exact) {
    status = sbs_share_work(threads, skin->block_count, SBS_CHUNK_BLOCKS, run_blocks, frame);
  }
  if (status || !has_exact(frame)) return status;
  const int alone = skin->max_influences > STACK_INFLUENCES; /* there is workspace for one thread */
  return sbs_share_work(alone ? 1 : threads, skin->block_count, EXACT_CHUNK, run_exact, frame);
}
