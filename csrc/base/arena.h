/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_ARENA_H
#define SBS_BASE_ARENA_H

#include "base/memory.h"

/*
 * Memory of one lifetime: arrays are taken from an arena one by one, and released together. There are two kinds:
 *
 *   sbs_arena_from  each array is allocated; sbs_arena_release frees all of them
 *   sbs_arena_over  arrays follow each other in memory of the caller. Over NULL they are only counted: run the code
 *                   that takes them over NULL first, and `used` is the memory that it needs
 *
 * Arrays are aligned to SBS_ALIGNMENT and not cleared.
 */
typedef struct sbs_arena {
  const sbs_allocator *allocator; /* or NULL: over memory */
  void *last;                     /* the array that was allocated last; each leads to the one before */
  char *memory;
  size_t used; /* bytes */
  int failed;  /* whether an array had no room, or is too large: check it once, after all are taken */
} sbs_arena;

static inline sbs_arena sbs_arena_from(const sbs_allocator *allocator) {
  return (sbs_arena){.allocator = allocator};
}

static inline sbs_arena sbs_arena_over(void *memory) {
  return (sbs_arena){.memory = memory};
}

/* The next array, of `count` elements of `size` bytes. NULL where it can't be allocated, or is only counted. */
void *sbs_arena_take(sbs_arena *arena, size_t count, size_t size);

/* Frees all memory; the arena is empty then, and can be used again. */
void sbs_arena_release(sbs_arena *arena);

#endif
