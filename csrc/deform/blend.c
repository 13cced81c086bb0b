/* SPDX-License-Identifier: MIT */
#include "deform/blend.h"

#include <stdalign.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "deform/items.h"

/* ------------------------------------------------------------------------- both methods one after the other -- */

/* Blocks that both methods deform before they are blended: few enough to stay in the nearest cache. */
enum {
  BLENDED_BLOCKS = 8,
  BLENDED = BLENDED_BLOCKS * SBS_BLOCK
};

/* x y z x y z ... of the vertices of such blocks, in the skin's type. */
typedef union numbers {
  alignas(SBS_ALIGNMENT) float as_float[3 * BLENDED];
  alignas(SBS_ALIGNMENT) double as_double[3 * BLENDED];
} numbers;

/* What the methods make of the vertices of some blocks, base first. They are numbered one after the other. */
typedef struct blended {
  numbers positions[2], normals[2];
  int32_t vertices[BLENDED];
  uint16_t runs[BLENDED_BLOCKS];
} blended;

/* Deforms blocks by one method, into `to` in place of the output. */
static void deform_blocks(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *blocks, blended *to) {
  const int method = !frame->method;
  sbs_kernel_args args = sbs_describe_items(frame, rest, blocks, 1);
  args.vertices = to->vertices;
  args.runs = to->runs;
  args.first_block = blocks->first_block;
  args.positions_out = to->positions + method;
  args.normals_out = frame->normals ? to->normals + method : NULL;
  args.positions_stride = args.normals_stride = 3 * sbs_scalar_size(frame->skin->scalar);
  sbs_choose_kernel(frame, (size_t)blocks->group)(&args);
}

static void blend_blocks(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *blocks, blended *by) {
  const sbs_skin *skin = frame->skin;
  deform_blocks(frame->base, rest, blocks, by);
  deform_blocks(frame, rest, blocks, by);
  const sbs_blend_args args = {
      .positions = {by->positions, by->positions + 1},
      .normals = {by->normals, by->normals + 1},
      .amounts = (const char *)frame->amounts + blocks->first_block * SBS_BLOCK * sbs_scalar_size(skin->scalar),
      .vertices = skin->vertices + blocks->first_block * SBS_BLOCK,
      .runs = skin->runs + blocks->first_block,
      .copies = &skin->copies,
      .first_block = blocks->first_block,
      .block_count = sbs_item_blocks(blocks),
      .positions_out = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals_out = frame->normals,
      .normals_stride = frame->normals_stride,
  };
  sbs_choose_kernels(skin->isa, skin->scalar)->mix(&args);
}

static void blend_item(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item) {
  const size_t count = (size_t)item->vertex_count;
  blended by;
  for (size_t i = 0; i < BLENDED; i++) by.vertices[i] = (int32_t)i;
  for (size_t i = 0; i < BLENDED_BLOCKS; i++) by.runs[i] = 0;
  for (size_t first = 0; first < count; first += BLENDED) {
    const size_t left = count - first;
    const sbs_item part = sbs_item_part(frame->skin, item, first / SBS_BLOCK, left < BLENDED ? left : BLENDED);
    blend_blocks(frame, rest, &part, &by);
  }
}

/* ----------------------------------------------------------------------------------------------------- by groups -- */

/* How the vertices of a group are blended. */
typedef struct blending {
  const sbs_frame *by; /* the frame or its base: what deforms them alone, or the frame */
  sbs_kernel *kernel;  /* or NULL: both methods deform them, one after the other */
  int in_part;         /* whether the kernel does both methods at once */
} blending;

static blending choose_blending(const sbs_frame *frame, size_t group) {
  const unsigned needs = atomic_load_explicit(frame->use->groups + group, memory_order_relaxed);
  if (needs == SBS_NEEDS_BASE) return (blending){.by = frame->base, .kernel = sbs_choose_kernel(frame->base, group)};
  const sbs_way way = frame->scratch.ways[group];
  if (needs == SBS_NEEDS_METHOD || (way.blends && way.linear)) {
    return (blending){.by = frame, .kernel = sbs_choose_kernel(frame, group)};
  }
  if (!way.blends) return (blending){.by = frame};
  return (blending){.by = frame, .kernel = sbs_choose_kernel_by_form(frame, group, SBS_FORM_IN_PART), .in_part = 1};
}

/* Items of groups that one kernel deforms. */
static void run_kernel(const blending *how, const sbs_rest *rest, const sbs_item *items, size_t count) {
  const sbs_frame *frame = how->by;
  sbs_kernel_args args = sbs_describe_items(frame, rest, items, count);
  if (how->in_part) args.amounts = frame->amounts;
  how->kernel(&args);
}

void sbs_blend_items(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item, const sbs_item *end) {
  blending next = {0};
  if (item < end) next = choose_blending(frame, (size_t)item->group);
  while (item < end) {
    const blending how = next;
    const sbs_item *first = item++;
    for (; item < end; item++) { /* as many as have the same kernel */
      if (item->group != item[-1].group) next = choose_blending(frame, (size_t)item->group);
      if (!how.kernel || next.kernel != how.kernel || next.by != how.by || next.in_part != how.in_part) break;
    }
    if (how.kernel) {
      run_kernel(&how, rest, first, (size_t)(item - first));
    } else {
      blend_item(frame, rest, first);
    }
  }
}
