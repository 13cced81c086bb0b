/* SPDX-License-Identifier: MIT */
#include "deform/run.h"

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
static void deform_items(const sbs_frame *frame, const sbs_item *item, const sbs_item *end) {
  const sbs_way *ways = frame->scratch.ways;
  sbs_kernel_args args = sbs_describe_items(frame, item, 0);
  for (const sbs_item *next; item < end; item = next) {
    const sbs_way way = ways[item->group];
    for (next = item + 1; next < end && sbs_have_same_kernel(ways[next->group], way);) next++;
    args.items = item;
    args.item_count = (size_t)(next - item);
    sbs_choose_kernel(frame, (size_t)item->group)(&args);
  }
}

/* The items that begin in some blocks: threads share blocks, as items differ in size. */
static sbs_status run_items(void *context, sbs_share blocks, int worker) {
  sbs_frame *frame = context;
  const sbs_skin *skin = frame->skin;
  const sbs_item *item = skin->items + find_item(skin, blocks.begin), *end = skin->items + find_item(skin, blocks.end);
  size_t singular_count = 0;
  (void)worker;
  if (frame->posed.positions) {
    for (; item < end; item++) singular_count += sbs_invert_item(frame, item);
    atomic_fetch_add(&frame->singular_count, singular_count);
  } else if (frame->base) {
    sbs_blend_items(frame, item, end);
  } else {
    deform_items(frame, item, end);
  }
  return SBS_OK;
}

sbs_status sbs_run_frame(sbs_frame *frame, int threads) {
  const sbs_skin *skin = frame->skin;
  if (!frame->positions) return SBS_OK;
  return sbs_share_work(threads, skin->block_count, sbs_chunk_blocks(skin), run_items, frame);
}
