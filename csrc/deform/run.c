/* SPDX-License-Identifier: MIT */
#include "deform/run.h"

#include <stdalign.h>
#include <string.h>

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

/*
 * Blocks that get positions of their own at once, and numbers of the stream between the first and the last of these:
 * enough for kernels to go on for a while, few enough to stay in the nearest cache.
 */
enum {
  CHANGED_BLOCKS = 32,
  CHANGED_NUMBERS = 3584
};

static int is_changed(const sbs_frame *frame, const sbs_item *item) {
  for (size_t b = 0; b < sbs_item_blocks(item); b++) {
    if (sbs_active_sum(frame->shapes, &frame->shape_sums, item->first_block + b) >= 0) return 1;
  }
  return 0;
}

/* The number of the stream after the positions of an item; behind its last ones, weights are not needed. */
static size_t end_of_positions(const sbs_frame *frame, const sbs_item *item) {
  return item->stream + (sbs_item_blocks(item) - 1) * sbs_block_size(frame->skin->groups + item->group) + 3 * SBS_BLOCK;
}

/* Whether all from one item to another can get positions at once. */
static int fits(const sbs_frame *frame, const sbs_item *first, const sbs_item *last) {
  return last->first_block + sbs_item_blocks(last) - first->first_block <= CHANGED_BLOCKS &&
         end_of_positions(frame, last) - first->stream <= CHANGED_NUMBERS;
}

static const void *sum_at(const sbs_frame *frame, int32_t number) {
  return (const char *)frame->shape_sums.sums + (size_t)number * sbs_shape_row_size(frame->shapes);
}

/* What shapes have added to the rest positions of a block goes, where these were found. */
static void take_shapes_away(const sbs_frame *frame, size_t block) {
  const int32_t number = sbs_active_sum(frame->shapes, &frame->shape_sums, block);
  if (number < 0) return;
  const sbs_scalar scalar = frame->skin->scalar;
  const void *sum = sum_at(frame, number);
  for (size_t lane = 0; lane < SBS_BLOCK; lane++) { /* those past the last vertex are 0 */
    const size_t vertex = (size_t)frame->skin->vertices[block * SBS_BLOCK + lane];
    void *position = (char *)frame->positions + vertex * frame->positions_stride;
    for (size_t k = 0; k < 3; k++) {
      const double added = sbs_scalar_get(sum, scalar, k * SBS_BLOCK + lane);
      sbs_scalar_put(position, scalar, k, sbs_scalar_get(position, scalar, k) - added);
    }
  }
}

/* Writes the rest positions, and normals unless they are NULL, of a block, whose positions are at `stream`. */
static void shape_block(const sbs_frame *frame, size_t block, size_t stream, void *positions, void *normals) {
  const sbs_skin *skin = frame->skin;
  const size_t size = sbs_scalar_size(skin->scalar), vectors_size = 3 * SBS_BLOCK * size;
  const int32_t number = sbs_active_sum(frame->shapes, &frame->shape_sums, block);
  const void *rest = (const char *)skin->stream + stream * size;
  const void *rest_normals = normals ? (const char *)skin->normals + block * vectors_size : NULL;
  sbs_shape_block_kernel *shape = sbs_choose_kernels(skin->isa, skin->scalar)->shape_block;
  if (number >= 0) {
    shape(rest, sum_at(frame, number), 0, positions);
  } else {
    memcpy(positions, rest, vectors_size);
  }
  if (!normals) return;
  if (number >= 0 && frame->shapes->axes == 6) {
    shape(rest_normals, (const char *)sum_at(frame, number) + vectors_size, 1, normals);
  } else {
    memcpy(normals, rest_normals, vectors_size);
  }
}

/* Items that fit, from positions made for them. */
static size_t run_shaped(const sbs_frame *frame, const sbs_item *item, const sbs_item *end) {
  alignas(SBS_ALIGNMENT) double positions[CHANGED_NUMBERS], normals[3 * SBS_BLOCK * CHANGED_BLOCKS];
  const size_t size = sbs_scalar_size(frame->skin->scalar);
  const sbs_rest rest = {
      .positions = positions, .first_position = item->stream, .normals = normals, .first_block = item->first_block};
  for (const sbs_item *i = item; i < end; i++) {
    for (size_t b = 0; b < sbs_item_blocks(i); b++) {
      const size_t stream = i->stream + b * sbs_block_size(frame->skin->groups + i->group);
      const size_t block = i->first_block + b;
      shape_block(frame, block, stream, (char *)positions + (stream - item->stream) * size,
                  frame->normals ? (char *)normals + (block - item->first_block) * 3 * SBS_BLOCK * size : NULL);
    }
  }
  const size_t singular_count = run_from(frame, &rest, item, end);
  const size_t end_block = end[-1].first_block + sbs_item_blocks(end - 1);
  for (size_t b = item->first_block; frame->posed.positions && b < end_block; b++) take_shapes_away(frame, b);
  return singular_count;
}

/* An item that does not fit, in parts that do. */
static size_t run_in_parts(const sbs_frame *frame, const sbs_item *item) {
  const size_t at_once = (CHANGED_NUMBERS - 3 * SBS_BLOCK) / sbs_block_size(frame->skin->groups + item->group) + 1;
  const size_t step = (at_once < CHANGED_BLOCKS ? at_once : CHANGED_BLOCKS) * SBS_BLOCK;
  size_t singular_count = 0;
  for (size_t first = 0, left = (size_t)item->vertex_count; left; first += step / SBS_BLOCK) {
    const size_t count = left < step ? left : step;
    const sbs_item part = sbs_item_part(frame->skin, item, first, count);
    singular_count += run_shaped(frame, &part, &part + 1);
    left -= count;
  }
  return singular_count;
}

static size_t run_with_shapes(const sbs_frame *frame, const sbs_item *item, const sbs_item *end) {
  size_t singular_count = 0;
  while (item < end) {
    const sbs_item *first = item;
    while (item < end && !is_changed(frame, item)) item++;
    singular_count += run_from(frame, NULL, first, item);
    if (item == end) break;
    if (!fits(frame, item, item)) {
      singular_count += run_in_parts(frame, item++);
      continue;
    }
    for (first = item++; item < end && is_changed(frame, item) && fits(frame, first, item);) item++;
    singular_count += run_shaped(frame, first, item);
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
