/* SPDX-License-Identifier: MIT */
#include "scratch_pool.h"

#include <stdlib.h>

#ifdef _WIN32
#include <malloc.h>

/* Its C library has no aligned_alloc, and its free takes no such memory. */
#define allocate_aligned(alignment, size) _aligned_malloc(size, alignment)
#define free_aligned _aligned_free
#else
#define allocate_aligned aligned_alloc
#define free_aligned free
#endif

enum {
  ALIGNMENT = 64
};

void *core_take_scratch(core_scratch_pool *pool) {
  for (int i = 0; i < CORE_POOLED; i++) {
    void *scratch = atomic_exchange(&pool->pooled[i], NULL);
    if (scratch != NULL) return scratch;
  }
  return allocate_aligned(ALIGNMENT, (pool->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void core_give_scratch(core_scratch_pool *pool, void *scratch) {
  for (int i = 0; i < CORE_POOLED && scratch != NULL; i++) {
    void *none = NULL;
    if (atomic_compare_exchange_strong(&pool->pooled[i], &none, scratch)) return;
  }
  free_aligned(scratch);
}

void core_empty_scratch_pool(core_scratch_pool *pool) {
  for (int i = 0; i < CORE_POOLED; i++) free_aligned(atomic_exchange(&pool->pooled[i], NULL));
}
