/* SPDX-License-Identifier: MIT */
#include "weights/fronts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"

/* Collects the border of one front at a time. */
typedef struct gathering {
  const sbs_graph *graph;
  const sbs_dissection *order;
  sbs_front *fronts;
  int32_t *part_of; /* (n) */
  int32_t *seen;    /* (n) the last front that an unknown was added to the border of */
  int32_t *border;  /* (n) */
  size_t count;
} gathering;

static int compare_places(const void *left, const void *right) {
  const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

static void offer(gathering *in, int32_t front, int32_t place) {
  if ((size_t)place < in->fronts[front].end || in->seen[place] == front) return;
  in->seen[place] = front;
  in->border[in->count++] = place;
}

static sbs_status make_front(gathering *in, int32_t number, const sbs_allocator *allocator) {
  sbs_front *front = in->fronts + number;
  in->count = 0;
  for (size_t i = front->begin; i < front->end; i++) {
    const int32_t unknown = in->order->order[i];
    for (size_t n = in->graph->offsets[unknown]; n < in->graph->offsets[unknown + 1]; n++) {
      offer(in, number, in->order->slots[in->graph->neighbors[n]]);
    }
  }
  for (int32_t child = front->first_child; child >= 0; child = in->fronts[child].next_sibling) {
    for (size_t i = 0; i < in->fronts[child].border_count; i++) offer(in, number, in->fronts[child].border[i]);
  }
  if (!in->count) return SBS_OK;
  qsort(in->border, in->count, sizeof *in->border, compare_places);
  front->border = sbs_allocate(allocator, in->count, sizeof *front->border);
  if (!front->border) return SBS_ERROR_OUT_OF_MEMORY;
  memcpy(front->border, in->border, in->count * sizeof *front->border);
  front->border_count = in->count;
  sbs_front *taker = in->fronts + in->part_of[front->border[0]];
  front->next_sibling = taker->first_child;
  taker->first_child = number;
  return SBS_OK;
}

sbs_status sbs_fronts_new(const sbs_graph *graph, const sbs_dissection *dissection, const sbs_allocator *allocator,
                          sbs_front **fronts) {
  const size_t count = dissection->count, part_count = dissection->part_count;
  gathering in = {.graph = graph, .order = dissection};
  *fronts = in.fronts = sbs_allocate(allocator, part_count, sizeof *in.fronts);
  if (!in.fronts) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t p = 0; p < part_count; p++) {
    in.fronts[p] = (sbs_front){
        .begin = p ? dissection->ends[p - 1] : 0, .end = dissection->ends[p], .first_child = -1, .next_sibling = -1};
  }
  in.part_of = sbs_allocate(allocator, count, sizeof *in.part_of);
  in.seen = sbs_allocate(allocator, count, sizeof *in.seen);
  in.border = sbs_allocate(allocator, count, sizeof *in.border);
  sbs_status status = in.part_of && in.seen && in.border ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) {
    memset(in.seen, -1, count * sizeof *in.seen);
    for (size_t p = 0; p < part_count; p++) {
      for (size_t i = in.fronts[p].begin; i < in.fronts[p].end; i++) in.part_of[i] = (int32_t)p;
    }
  }
  for (size_t p = 0; !status && p < part_count; p++) {
    status = sbs_tell((double)p / (double)part_count);
    if (!status) status = make_front(&in, (int32_t)p, allocator);
  }
  sbs_release(allocator, in.part_of);
  sbs_release(allocator, in.seen);
  sbs_release(allocator, in.border);
  return status;
}

void sbs_fronts_free(sbs_front *fronts, size_t count, const sbs_allocator *allocator) {
  if (!fronts) return;
  for (size_t p = 0; p < count; p++) sbs_release(allocator, fronts[p].border);
  sbs_release(allocator, fronts);
}
