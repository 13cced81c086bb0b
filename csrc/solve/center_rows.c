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
