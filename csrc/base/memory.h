/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_MEMORY_H
#define SBS_BASE_MEMORY_H

#include "sbs/sbs.h"

/* Blocks, constants and scratch are aligned to a cache line, which is also the widest vector. */
#define SBS_ALIGNMENT 64

/* malloc and free as a sbs_allocator. */
sbs_allocator sbs_default_allocator(void);

/*
 * count * size bytes, aligned to SBS_ALIGNMENT, not cleared; a count of zero gives a pointer all the same. NULL where
 * the product can't be represented or the allocator has none. Released by sbs_release with the same allocator.
 */
void *sbs_allocate(const sbs_allocator *allocator, size_t count, size_t size);

/* NULL does nothing. */
void sbs_release(const sbs_allocator *allocator, void *memory);

/* size rounded up to a multiple of SBS_ALIGNMENT. The caller sees to it that it doesn't overflow. */
static inline size_t sbs_aligned(size_t size) {
  return (size + SBS_ALIGNMENT - 1) / SBS_ALIGNMENT * SBS_ALIGNMENT;
}

#endif
