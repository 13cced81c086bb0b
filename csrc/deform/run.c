/* SPDX-License-Identifier: MIT */
#include "deform/run.h"

#include <stdalign.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/blend.h"
#include "deform/inverse.h"
#include "deform/items.h"

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

/* All items; consecutive ones that have the same kernel are given to it at once. */
static void deform_items(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item, const sbs_item *end) {
  const sbs_way *ways = frame->scratch.ways;
  sbs_kernel_args args = sbs_describe_items(frame, rest, item, 0);
  for (const sbs_item *next; item < end; item = next) {
    const sbs_way way = ways[item->group];
    for (next = item + 1; next < end && sbs_have_same_kernel(ways[next->group], way);) next++;
    args.items = item;
    args.item_count = (size_t)(next - item);
    sbs_choose_kernel(frame, (size_t)item->group)(&args);
  }
}

/* Items as they are at rest, or from other rest positions; returns how many vertices have no inverse. */
static size_t run_from(const sbs_frame *frame, const sbs_rest *rest, const sbs_item *item, const sbs_item *end) {
  size_t singular_count = 0;
  if (frame->posed.positions) {
    for (; item < end; item++) singular_count += sbs_invert_item(frame, rest, item);
  } else if (frame->base) {
    sbs_blend_items(frame, rest, item, end);
  } else {
    deform_items(frame, rest, item, end);
  }
  return singular_count;
}

/* ------------------------------------------------------------------------------------------------------- shapes -- */

/* Numbers of the stream that changed blocks get at once, and blocks. */
enum {
  CHANGED_NUMBERS = 2048,
  CHANGED_BLOCKS = 8
};

static int is_changed(const sbs_shapes *shapes, const sbs_item *item) {
  return shapes->starts[item->first_block] != shapes->starts[item->first_block + sbs_item_blocks(item)];
}

/* How many blocks of a group get positions at once: of the last one, weights are not there, which may be many. */
static size_t blocks_at_once(const sbs_group *group) {
  const size_t count = (CHANGED_NUMBERS - 3 * SBS_BLOCK) / sbs_block_size(group) + 1;
  return count < CHANGED_BLOCKS ? count : CHANGED_BLOCKS;
}

/* What shapes have added to the rest positions goes, where these were found. */
static void take_shapes_away(const sbs_frame *frame, const sbs_item *part) {
  const sbs_shapes *shapes = frame->shapes;
  const size_t end = part->first_block + sbs_item_blocks(part);
  for (uint32_t i = shapes->starts[part->first_block]; i < shapes->starts[end]; i++) {
    const size_t vertex = (size_t)frame->skin->vertices[shapes->lanes[i]];
    void *position = (char *)frame->positions + vertex * frame->positions_stride;
    for (size_t k = 0; k < 3; k++) {
      if (frame->skin->scalar == SBS_FLOAT32) {
        ((float *)position)[k] -= ((const float *)frame->shape_sums)[3 * i + k];
      } else {
        ((double *)position)[k] -= ((const double *)frame->shape_sums)[3 * i + k];
      }
    }
  }
}

/* An item with vertices that shapes change: some blocks after the other, from positions made for them. */
static size_t run_changed(const sbs_frame *frame, const sbs_item *item) {
  alignas(SBS_ALIGNMENT) double positions[CHANGED_NUMBERS], normals[3 * SBS_BLOCK * CHANGED_BLOCKS];
  const sbs_skin *skin = frame->skin;
  const sbs_group *group = skin->groups + item->group;
  const size_t size = sbs_scalar_size(skin->scalar), block_size = sbs_block_size(group);
  const size_t step = blocks_at_once(group) * SBS_BLOCK, count = (size_t)item->vertex_count;
  size_t singular_count = 0;
  for (size_t first = 0; first < count; first += step) {
    const size_t left = count - first;
    const sbs_item part = sbs_item_part(skin, item, first / SBS_BLOCK, left < step ? left : step);
    for (size_t b = 0; b < sbs_item_blocks(&part); b++) {
      sbs_shape_block(frame->shapes, frame->shape_sums, part.first_block + b, part.stream + b * block_size,
                      (char *)positions + b * block_size * size,
                      frame->normals ? (char *)normals + b * 3 * SBS_BLOCK * size : NULL);
    }
    const sbs_rest rest = {
        .positions = positions, .first_position = part.stream, .normals = normals, .first_block = part.first_block};
    singular_count += run_from(frame, &rest, &part, &part + 1);
    if (frame->posed.positions) take_shapes_away(frame, &part);
  }
  return singular_count;
}

static size_t run_with_shapes(const sbs_frame *frame, const sbs_item *item, const sbs_item *end) {
  size_t singular_count = 0;
  while (item < end) {
    const sbs_item *first = item;
    while (item < end && !is_changed(frame->shapes, item)) item++;
    singular_count += run_from(frame, NULL, first, item);
    if (item < end) singular_count += run_changed(frame, item++);
  }
  return singular_count;
}

/* The items that begin in some blocks: threads share blocks, as items differ in size. */
static sbs_status run_items(void *context, sbs_share blocks, int worker) {
  sbs_frame *frame = context;
  const sbs_skin *skin = frame->skin;
  const sbs_item *item = skin->items + find_item(skin, blocks.begin), *end = skin->items + find_item(skin, blocks.end);
  (void)worker;
  const size_t singular_count = frame->shapes ? run_with_shapes(frame, item, end) : run_from(frame, NULL, item, end);
  atomic_fetch_add(&frame->singular_count, singular_count);
  return SBS_OK;
}

sbs_status sbs_run_frame(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  if (!frame->positions) return SBS_OK;
  return sbs_share_work(threads, skin->block_count, sbs_chunk_blocks(skin), run_items, frame);
}
