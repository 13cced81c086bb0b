/* SPDX-License-Identifier: MIT */
#include "scratch_pool.h"

#include <stdlib.h>

enum {
  ALIGNMENT = 64
};

void *core_take_scratch(core_scratch_pool *pool) {
  for (int i = 0; i < CORE_POOLED; i++) {
    void *scratch = atomic_exchange(&pool->pooled[i], NULL);
    if (scratch != NULL) return scratch;
  }
  return aligned_alloc(ALIGNMENT, (pool->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

void core_give_scratch(core_scratch_pool *pool, void *scratch) {
  for (int i = 0; i < CORE_POOLED && scratch != NULL; i++) {
    void *none = NULL;
    if (atomic_compare_exchange_strong(&pool->pooled[i], &none, scratch)) return;
  }
  free(scratch);
}

void core_empty_scratch_pool(core_scratch_pool *pool) {
  for (int i = 0; i < CORE_POOLED; i++) free(atomic_exchange(&pool->pooled[i], NULL));
}
