/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdlib.h>

static void *allocate_by_malloc(size_t size, void *user) {
  (void)user;
  return malloc(size);
}

static void release_by_free(void *memory, void *user) {
  (void)user;
  free(memory);
}

sbs_allocator sbs_default_allocator(void) {
  return (sbs_allocator){allocate_by_malloc, release_by_free, NULL};
}

void *sbs_allocate(const sbs_allocator *allocator, size_t count, size_t size) {
  /* room to align, and for the allocator's pointer in front of the aligned address */
  const size_t extra = sizeof(void *) + SBS_ALIGNMENT;
  if (size && count > (SIZE_MAX - extra) / size) return NULL;

  void *given = allocator->allocate(count * size + extra, allocator->user);
  if (!given) return NULL;

  uintptr_t address = (uintptr_t)given + extra;
  void **memory = (void **)(address - address % SBS_ALIGNMENT);
  memory[-1] = given;
  return memory;
}

void sbs_release(const sbs_allocator *allocator, void *memory) {
  if (memory) allocator->release(((void **)memory)[-1], allocator->user);
}
