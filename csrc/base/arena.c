/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

void *sbs_arena_take(sbs_arena *arena, size_t count, size_t size) {
  const int too_large = size && count > (SIZE_MAX - 2 * SBS_ALIGNMENT - arena->used) / size;
  if (!arena->allocator && !too_large) {
    char *array = arena->memory ? arena->memory + arena->used : NULL;
    arena->used += sbs_aligned(count * size);
    return array;
  }
  /* in front of each array, in a cache line of its own, is where the one before it is */
  char *memory = too_large ? NULL : sbs_allocate(arena->allocator, 1, SBS_ALIGNMENT + count * size);
  if (!memory) {
    arena->failed = 1;
    return NULL;
  }
  *(void **)(void *)memory = arena->last;
  arena->last = memory;
  arena->used += count * size;
  return memory + SBS_ALIGNMENT;
}

void sbs_arena_release(sbs_arena *arena) {
  while (arena->last) {
    void *memory = arena->last;
    arena->last = *(void **)memory;
    sbs_release(arena->allocator, memory);
  }
  arena->used = 0;
  arena->failed = 0;
}
