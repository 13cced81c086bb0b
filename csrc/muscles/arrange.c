/* SPDX-License-Identifier: MIT */
/* Arranges pairs of muscles and vertices in blocks and chunks: what muscles/cover.c goes through. */
#include "muscles/arrange.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "muscles/profile.h"

static size_t filled(size_t count) {
  return (count + SBS_COVER_BLOCK - 1) / SBS_COVER_BLOCK * SBS_COVER_BLOCK;
}

/*
 * Gives each covered vertex a slot, in the order of its first pair. `slots` (vertex_count) receives -1 where a vertex
 * has none.
 */
static void give_slots(sbs_muscles *muscles, const sbs_pair_list *list, const size_t *muscle_ends, int32_t *slots) {
  sbs_cover *cover = &muscles->cover;
  memset(slots, -1, muscles->vertex_count * sizeof *slots);
  for (size_t m = 0, i = 0; m < muscles->muscle_count; m++) {
    for (; i < muscle_ends[m]; i++) {
      int32_t *slot = slots + list->pairs[i].vertex;
      if (*slot >= 0) continue;
      *slot = (int32_t)cover->slot_count++;
      cover->vertex_count++;
    }
    cover->slot_count = filled(cover->slot_count);
  }
  cover->chunk_count = (cover->slot_count + SBS_COVER_CHUNK - 1) / SBS_COVER_CHUNK;
}

static int allocate_cover(sbs_cover *cover, const sbs_allocator *allocator) {
  cover->vertices = sbs_allocate(allocator, cover->slot_count, sizeof *cover->vertices);
  cover->other_ends = sbs_allocate(allocator, cover->chunk_count, sizeof *cover->other_ends);
  cover->blocks = sbs_allocate(allocator, cover->block_count, sizeof *cover->blocks);
  if (!cover->vertices || !cover->other_ends || !cover->blocks) return 0;
  memset(cover->blocks, 0, cover->block_count * sizeof *cover->blocks);
  return 1;
}

static void put_pair(sbs_muscles *muscles, size_t muscle, const sbs_cover_pair *from, int32_t slot, size_t to) {
  const sbs_cover *cover = &muscles->cover;
  sbs_cover_block *block = cover->blocks + to / SBS_COVER_BLOCK;
  const size_t i = to % SBS_COVER_BLOCK;
  double radii[3];
  sbs_radii_at(&muscles->muscles[muscle].profile, (double)from->u, radii);
  block->muscle = (int32_t)muscle;
  block->count = (uint32_t)i + 1;
  block->slots[i] = slot % SBS_COVER_CHUNK;
  block->shares[i] = from->share;
  block->rest[i] = from->distance;
  block->u[i] = from->u;
  for (int k = 0; k < 3; k++) block->radii[k][i] = (float)radii[k];
  for (int k = 0; k < 2; k++) {
    block->distance_slopes[k][i] = from->distance_slope[k];
    block->share_slopes[k][i] = from->share_slope[k];
  }
}

/* Repeats the last pair of a block, without a share. */
static void fill_block(sbs_cover_block *block) {
  for (size_t i = block->count; i < SBS_COVER_BLOCK; i++) {
    block->slots[i] = block->slots[i - 1];
    block->rest[i] = block->rest[i - 1];
    block->u[i] = block->u[i - 1];
    for (int k = 0; k < 3; k++) block->radii[k][i] = block->radii[k][i - 1];
    for (int k = 0; k < 2; k++) block->distance_slopes[k][i] = block->distance_slopes[k][i - 1];
  }
}

/* Visits all pairs in the order of muscles and vertices; `first` says whether it is its vertex's first. */
#define FOR_EACH_PAIR(body) \
  for (size_t m = 0, i = 0, next = 0; m < muscles->muscle_count; m++, next = filled(next)) { \
    for (; i < muscle_ends[m]; i++) { \
      const sbs_cover_pair *pair = list->pairs + i; \
      const int32_t slot = slots[pair->vertex]; \
      const size_t cell = (size_t)slot / SBS_COVER_CHUNK * muscles->muscle_count + m; \
      const int is_first = (size_t)slot == next; \
      next += (size_t)is_first; \
      body; \
    } \
  }

/* Counts the pairs that are not first, `others` (chunk_count, muscle_count), and all blocks. */
static void count_pairs(sbs_muscles *muscles, const sbs_pair_list *list, const size_t *muscle_ends,
                        const int32_t *slots, size_t *others) {
  sbs_cover *cover = &muscles->cover;
  FOR_EACH_PAIR(others[cell] += (size_t)!is_first)
  cover->block_count = cover->slot_count / SBS_COVER_BLOCK;
  for (size_t cell = 0; cell < cover->chunk_count * muscles->muscle_count; cell++) {
    cover->block_count += filled(others[cell]) / SBS_COVER_BLOCK;
  }
}

/* Puts pairs into blocks. `others` are counts, then the numbers of the next pairs. */
static void place_pairs(sbs_muscles *muscles, const sbs_pair_list *list, const size_t *muscle_ends,
                        const int32_t *slots, size_t *others) {
  sbs_cover *cover = &muscles->cover;
  size_t free = cover->slot_count;
  for (size_t cell = 0; cell < cover->chunk_count * muscles->muscle_count; cell++) {
    const size_t count = others[cell];
    others[cell] = free;
    free += filled(count);
    cover->other_ends[cell / muscles->muscle_count] = free / SBS_COVER_BLOCK;
  }
  FOR_EACH_PAIR({
    if (is_first) cover->vertices[slot] = pair->vertex;
    put_pair(muscles, m, pair, slot, is_first ? (size_t)slot : others[cell]++);
  })
  for (size_t slot = 1; slot < cover->slot_count; slot++) {
    if (slot % SBS_COVER_BLOCK >= cover->blocks[slot / SBS_COVER_BLOCK].count) {
      cover->vertices[slot] = cover->vertices[slot - 1];
    }
  }
  for (size_t i = 0; i < cover->block_count; i++) fill_block(cover->blocks + i);
}

sbs_status sbs_arrange_cover(sbs_muscles *muscles, const sbs_pair_list *list, const size_t *muscle_ends, int32_t *slots,
                             sbs_fault *fault) {
  sbs_cover *cover = &muscles->cover;
  const sbs_allocator *allocator = &muscles->allocator;
  give_slots(muscles, list, muscle_ends, slots);
  const size_t cells = cover->chunk_count * muscles->muscle_count;
  size_t *others = sbs_allocate(allocator, cells, sizeof *others);
  sbs_status status = SBS_OK;
  if (!others) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memset(others, 0, cells * sizeof *others);
  count_pairs(muscles, list, muscle_ends, slots, others);
  if (allocate_cover(cover, allocator)) {
    place_pairs(muscles, list, muscle_ends, slots, others);
  } else {
    status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  sbs_release(allocator, others);
  return status;
}

void sbs_release_cover(const sbs_allocator *allocator, sbs_cover *cover) {
  sbs_release(allocator, cover->vertices);
  sbs_release(allocator, cover->other_ends);
  sbs_release(allocator, cover->blocks);
}
