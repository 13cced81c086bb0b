/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_MEMORY_H
#define SBS_BASE_MEMORY_H

#include "sbs/sbs.h"

/* Blocks, constants and scratch are aligned to a cache line, which is also the widest vector. */
#define SBS_ALIGNMENT 64

/* malloc and free as a sbs_allocator. */
sbs_allocator sbs_default_allocator(void);

/*
 * count * size bytes, aligned to SBS_ALIGNMENT, not cleared. A count of zero gives a pointer, too. NULL if the product
 * overflows or the allocator fails. Release it by sbs_release with the same allocator.
 */
void *sbs_allocate(const sbs_allocator *allocator, size_t count, size_t size);

/* NULL does nothing. */
void sbs_release(const sbs_allocator *allocator, void *memory);

/* size rounded up to a multiple of SBS_ALIGNMENT. The caller makes sure that it does not overflow. */
static inline size_t sbs_aligned(size_t size) {
  return (size + SBS_ALIGNMENT - 1) / SBS_ALIGNMENT * SBS_ALIGNMENT;
}

#endif
