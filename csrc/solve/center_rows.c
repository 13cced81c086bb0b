/* SPDX-License-Identifier: MIT */
#include "solve/center_rows.h"

#include <string.h>

#include "base/progress.h"
#include "skin/influences.h"

static sbs_status read_rows(sbs_rows *rows, const sbs_skin_desc *desc, sbs_influences *influences) {
  const double any_sum = 1.0; /* the tolerance of sums does not matter here */
  size_t used = 0;
  for (size_t v = 0; v < rows->vertex_count; v++) {
    const sbs_status status = sbs_tell_some(v, rows->vertex_count);
    if (status) return status;
    sbs_influences_read(desc, any_sum, v, influences);
    const size_t count = influences->count;
    rows->offsets[v] = used;
    memcpy(rows->joints + used, influences->joints, count * sizeof *rows->joints);
    memcpy(rows->weights + used, influences->weights, count * sizeof *rows->weights);
    if (count > rows->largest) rows->largest = count;
    used += count;
  }
  rows->offsets[rows->vertex_count] = used;
  return SBS_OK;
}

static size_t mix(size_t hash, const void *bytes, size_t count) {
  uint64_t mixed = hash;
  for (size_t i = 0; i < count; i++) mixed = (mixed ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return (size_t)(mixed ^ (mixed >> 32));
}

static size_t hash_row(const sbs_rows *rows, size_t vertex) {
  const size_t first = rows->offsets[vertex], count = sbs_rows_count(rows, vertex);
  const size_t hash = mix(count, rows->joints + first, count * sizeof *rows->joints);
  return mix(hash, rows->weights + first, count * sizeof *rows->weights);
}

static int are_equal(const sbs_rows *rows, size_t a, size_t b) {
  const size_t count = sbs_rows_count(rows, a), i = rows->offsets[a], j = rows->offsets[b];
  return count == sbs_rows_count(rows, b) &&
         !memcmp(rows->joints + i, rows->joints + j, count * sizeof *rows->joints) &&
         !memcmp(rows->weights + i, rows->weights + j, count * sizeof *rows->weights);
}

static sbs_status find_firsts(sbs_rows *rows, int32_t *slots, size_t slot_count) {
  memset(slots, -1, slot_count * sizeof *slots);
  for (size_t v = 0; v < rows->vertex_count; v++) {
    const sbs_status status = sbs_tell_some(v, rows->vertex_count);
    if (status) return status;
    size_t at = hash_row(rows, v) & (slot_count - 1);
    while (slots[at] >= 0 && !are_equal(rows, v, (size_t)slots[at])) at = (at + 1) & (slot_count - 1);
    if (slots[at] < 0) slots[at] = (int32_t)v;
    rows->firsts[v] = slots[at];
  }
  return SBS_OK;
}

sbs_status sbs_rows_new(sbs_rows *rows, const sbs_skin_desc *desc, sbs_arena *arena) {
  const size_t vertices = desc->vertex_count;
  size_t slot_count = 2;
  while (slot_count < 2 * vertices) slot_count *= 2;
  int32_t *slots = sbs_arena_take(arena, slot_count, sizeof *slots);
  sbs_influences influences = sbs_influences_new(arena->allocator, desc);
  const size_t most = vertices * influences.room;
  *rows = (sbs_rows){.vertex_count = vertices,
                     .offsets = sbs_arena_take(arena, vertices + 1, sizeof *rows->offsets),
                     .joints = sbs_arena_take(arena, most, sizeof *rows->joints),
                     .weights = sbs_arena_take(arena, most, sizeof *rows->weights),
                     .firsts = sbs_arena_take(arena, vertices, sizeof *rows->firsts)};
  const int is_room = !arena->failed && influences.joints && influences.weights;
  sbs_status status = is_room ? read_rows(rows, desc, &influences) : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = find_firsts(rows, slots, slot_count);
  sbs_influences_free(arena->allocator, &influences);
  return status;
}
