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

sbs_status sbs_rows_new(sbs_rows *rows, const sbs_skin_desc *desc, sbs_arena *arena) {
  const size_t vertices = desc->vertex_count;
  sbs_influences influences = sbs_influences_new(arena->allocator, desc);
  const size_t most = vertices * influences.room;
  *rows = (sbs_rows){.vertex_count = vertices,
                     .offsets = sbs_arena_take(arena, vertices + 1, sizeof *rows->offsets),
                     .joints = sbs_arena_take(arena, most, sizeof *rows->joints),
                     .weights = sbs_arena_take(arena, most, sizeof *rows->weights)};
  const int is_room = !arena->failed && influences.joints && influences.weights;
  const sbs_status status = is_room ? read_rows(rows, desc, &influences) : SBS_ERROR_OUT_OF_MEMORY;
  sbs_influences_free(arena->allocator, &influences);
  return status;
}

/* The most pairs that there can be. */
static size_t bound_count(const sbs_rows *rows, size_t joint_count) {
  const double all = 0.5 * (double)joint_count * ((double)joint_count - 1.0);
  double occurring = 0.0;
  for (size_t v = 0; v < rows->vertex_count; v++) {
    const double count = (double)sbs_rows_count(rows, v);
    occurring += 0.5 * count * (count - 1.0);
  }
  const double bound = all < occurring ? all : occurring;
  return bound < INT32_MAX / 4 ? (size_t)bound : SIZE_MAX;
}

sbs_status sbs_pairs_new(sbs_pairs *pairs, const sbs_rows *rows, size_t joint_count, sbs_arena *arena) {
  const size_t bound = bound_count(rows, joint_count);
  *pairs = (sbs_pairs){0};
  if (bound == SIZE_MAX) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_key_table *table = &pairs->table;
  table->slot_count = sbs_key_slots(bound);
  table->keys = sbs_arena_take(arena, bound, sizeof *table->keys);
  table->slots = sbs_arena_take(arena, table->slot_count, sizeof *table->slots);
  pairs->joints = sbs_arena_take(arena, bound, sizeof *pairs->joints);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_key_clear(table);
  for (size_t v = 0; v < rows->vertex_count; v++) {
    const sbs_status status = v % 64 ? SBS_OK : sbs_tell((double)v / (double)rows->vertex_count);
    if (status) return status;
    for (size_t a = rows->offsets[v]; a < rows->offsets[v + 1]; a++) {
      for (size_t b = a + 1; b < rows->offsets[v + 1]; b++) {
        const int32_t pair = sbs_key_enter(table, sbs_key_of_two(rows->joints[a], rows->joints[b]));
        pairs->joints[pair][0] = rows->joints[a];
        pairs->joints[pair][1] = rows->joints[b];
      }
    }
  }
  return SBS_OK;
}

int32_t sbs_pairs_find(const sbs_pairs *pairs, int32_t j, int32_t k) {
  return *sbs_key_slot(&pairs->table, sbs_key_of_two(j, k));
}
