/* SPDX-License-Identifier: MIT */
/*
 * Memory for sbs_skin_deform that is used again, so that nothing is allocated from frame to frame. Any number of
 * threads may take and give at once, with or without the lock of the interpreter.
 */
#ifndef SBS_EXTENSION_SCRATCH_POOL_H
#define SBS_EXTENSION_SCRATCH_POOL_H

#include <stdatomic.h>
#include <stddef.h>

/* As many as are kept; more may be in use. */
#define CORE_POOLED 4

typedef struct core_scratch_pool {
  size_t size; /* of each, in bytes */
  _Atomic(void *) pooled[CORE_POOLED];
} core_scratch_pool;

/*
 * Memory of pool->size bytes, aligned as the library wants it; NULL where there is none, and the library shall
 * allocate.
 */
void *core_take_scratch(core_scratch_pool *pool);

/* Gives it back. NULL does nothing. */
void core_give_scratch(core_scratch_pool *pool, void *scratch);

/* Frees what is kept; nothing may be in use. */
void core_empty_scratch_pool(core_scratch_pool *pool);

#endif
