/* SPDX-License-Identifier: MIT */
#include "solve/center_pairs.h"

#include <string.h>

#include "base/progress.h"

/* The slot of a pair, or the free one where it belongs. */
static size_t find_slot(const sbs_pairs *pairs, int32_t j, int32_t k) {
  const uint64_t key = (uint64_t)(uint32_t)j << 32 | (uint32_t)k;
  size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (pairs->slot_count - 1);
  for (;; at = (at + 1) & (pairs->slot_count - 1)) {
    const int32_t found = pairs->slots[at];
    if (found < 0 || (pairs->joints[found][0] == j && pairs->joints[found][1] == k)) return at;
  }
}

static void add_pair(sbs_pairs *pairs, int32_t j, int32_t k) {
  const size_t at = find_slot(pairs, j, k);
  if (pairs->slots[at] >= 0) return;
  pairs->joints[pairs->count][0] = j;
  pairs->joints[pairs->count][1] = k;
  pairs->slots[at] = (int32_t)pairs->count++;
}

/* The most pairs that there can be. */
static size_t bound_count(const sbs_rows *rows, size_t joint_count) {
  const double all = 0.5 * (double)joint_count * ((double)joint_count - 1.0);
  double occurring = 0.0;
  for (size_t v = 0; v < rows->vertex_count; v++) {
    const double count = (double)sbs_rows_count(rows, v);
    if (rows->firsts[v] == (int32_t)v) occurring += 0.5 * count * (count - 1.0);
  }
  const double bound = all < occurring ? all : occurring;
  return bound < INT32_MAX / 4 ? (size_t)bound : SIZE_MAX;
}

sbs_status sbs_pairs_new(sbs_pairs *pairs, const sbs_rows *rows, size_t joint_count, sbs_arena *arena) {
  const size_t bound = bound_count(rows, joint_count);
  *pairs = (sbs_pairs){.slot_count = 2};
  if (bound == SIZE_MAX) return SBS_ERROR_OUT_OF_MEMORY;
  while (pairs->slot_count < 2 * bound) pairs->slot_count *= 2;
  pairs->joints = sbs_arena_take(arena, bound, sizeof *pairs->joints);
  pairs->slots = sbs_arena_take(arena, pairs->slot_count, sizeof *pairs->slots);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  memset(pairs->slots, -1, pairs->slot_count * sizeof *pairs->slots);
  for (size_t v = 0; v < rows->vertex_count; v++) {
    const sbs_status status = v % 64 ? SBS_OK : sbs_tell((double)v / (double)rows->vertex_count);
    if (status) return status;
    if (rows->firsts[v] != (int32_t)v) continue;
    for (size_t a = rows->offsets[v]; a < rows->offsets[v + 1]; a++) {
      for (size_t b = a + 1; b < rows->offsets[v + 1]; b++) add_pair(pairs, rows->joints[a], rows->joints[b]);
    }
  }
  return SBS_OK;
}

int32_t sbs_pairs_find(const sbs_pairs *pairs, int32_t j, int32_t k) {
  return pairs->slots[find_slot(pairs, j, k)];
}
