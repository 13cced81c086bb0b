/* SPDX-License-Identifier: MIT */
#include "deform/blend.h"

#include <stdalign.h>

#include "base/memory.h"
#include "base/scalar.h"

/* Blocks that are evaluated by both methods before they are blended: few enough to stay in the nearest cache. */
enum {
  BLENDED_BLOCKS = 8,
  BLENDED = BLENDED_BLOCKS * SBS_BLOCK
};

/* x y z x y z ... of the vertices of such blocks, in the skin's type. */
typedef union numbers {
  alignas(SBS_ALIGNMENT) float of_float[3 * BLENDED];
  alignas(SBS_ALIGNMENT) double of_double[3 * BLENDED];
} numbers;

/* What the methods make of them, base first; and as which vertices, one after the other. */
typedef struct aside {
  numbers positions[2], normals[2];
  int32_t vertices[BLENDED];
  uint16_t runs[BLENDED_BLOCKS];
} aside;

static void number_vertices(aside *to, size_t blocks) {
  for (size_t i = 0; i < blocks * SBS_BLOCK; i++) to->vertices[i] = (int32_t)i;
  for (size_t i = 0; i < blocks; i++) to->runs[i] = 0;
}

/* Deforms blocks, all their lanes, in place of the output of the mesh. */
static void deform_aside(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, aside *to) {
  const int method = !frame->is_base;
  const sbs_item part = sbs_part_of_item(frame->skin, item, first, count);
  sbs_kernel_args args = sbs_describe_items(frame, &part, 1);
  args.vertices = to->vertices;
  args.runs = to->runs;
  args.first_block = part.first_block;
  args.positions_out = to->positions + method;
  args.normals_out = frame->normals ? to->normals + method : NULL;
  args.positions_stride = args.normals_stride = 3 * sbs_scalar_size(frame->skin->scalar);
  frame->scratch.kernels[item->group](&args);
}

static void blend_blocks(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, aside *to) {
  const sbs_skin *skin = frame->skin;
  const size_t block = item->first_block + first;
  deform_aside(frame->base, item, first, count, to);
  deform_aside(frame, item, first, count, to);
  const sbs_blend_args args = {
      .positions = {to->positions, to->positions + 1},
      .normals = {to->normals, to->normals + 1},
      .amount = frame->options->amount,
      .amount_scalar = frame->options->amount_scalar,
      .vertices = skin->vertices + block * SBS_BLOCK,
      .runs = skin->runs + block,
      .block_count = (count + SBS_BLOCK - 1) / SBS_BLOCK,
      .positions_out = frame->positions,
      .positions_stride = frame->positions_stride,
      .normals_out = frame->normals,
      .normals_stride = frame->normals_stride,
  };
  sbs_kernels_of(skin->isa, skin->scalar)->mix(&args);
}

/* Blocks that all use the same. */
static void run_blocks(const sbs_frame *frame, const sbs_item *item, size_t first, size_t count, unsigned use) {
  const sbs_frame *only = use & SBS_USES_METHOD ? frame : frame->base;
  const sbs_item part = sbs_part_of_item(frame->skin, item, first, count);
  const sbs_kernel_args args = sbs_describe_items(only, &part, 1);
  only->scratch.kernels[item->group](&args);
}

static void blend_item(const sbs_frame *frame, const sbs_item *item) {
  const size_t blocks = sbs_item_blocks(item), most = blocks < BLENDED_BLOCKS ? blocks : BLENDED_BLOCKS;
  const unsigned char *uses = frame->use->blocks + item->first_block;
  aside to;
  number_vertices(&to, most);
  for (size_t first = 0, end; first < blocks; first = end) {
    const int mixed = uses[first] == SBS_USES_BOTH;
    for (end = first + 1; end < blocks && uses[end] == uses[first];) {
      if (mixed && end - first == most) break;
      end++;
    }
    const size_t count = (end == blocks ? (size_t)item->vertex_count : end * SBS_BLOCK) - first * SBS_BLOCK;
    if (mixed) {
      blend_blocks(frame, item, first, count, &to);
    } else {
      run_blocks(frame, item, first, count, uses[first]);
    }
  }
}

void sbs_blend_item(const sbs_frame *frame, const sbs_item *item) {
  const unsigned use = frame->use->items[item - frame->skin->items];
  if (use == SBS_USES_BOTH) {
    blend_item(frame, item);
  } else {
    run_blocks(frame, item, 0, (size_t)item->vertex_count, use);
  }
}
