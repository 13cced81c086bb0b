/* SPDX-License-Identifier: MIT */
/*
 * Memory for sbs_skin_deform that is reused, so that no frame allocates any. Any number of threads may use a pool at
 * once, with or without the lock of the interpreter.
 */
#ifndef SBS_EXTENSION_SCRATCH_POOL_H
#define SBS_EXTENSION_SCRATCH_POOL_H

#include <stdatomic.h>
#include <stddef.h>

/* How many blocks are kept; more may be in use. */
#define CORE_POOLED 4

typedef struct core_scratch_pool {
  size_t size; /* of each, in bytes */
  _Atomic(void *) pooled[CORE_POOLED];
} core_scratch_pool;

/*
 * Memory of pool->size bytes, aligned as the library needs it; NULL if there is none, and the library has to allocate.
 */
void *core_take_scratch(core_scratch_pool *pool);

/* Gives it back. NULL does nothing. */
void core_give_scratch(core_scratch_pool *pool, void *scratch);

/* Frees the blocks that are kept; none may be in use. */
void core_empty_scratch_pool(core_scratch_pool *pool);

#endif
