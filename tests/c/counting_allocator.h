/* SPDX-License-Identifier: MIT */
/*
 * An allocator that counts, gives memory full of NaN, 16 bytes more or less aligned, and fails at the n-th call; and a
 * loop over all n.
 */
#ifndef SBS_TESTS_COUNTING_ALLOCATOR_H
#define SBS_TESTS_COUNTING_ALLOCATOR_H

#include <sbs/sbs.h>
#include <stdlib.h>

#include "harness.h"

static _Thread_local char counting_thread; /* its address tells threads apart */

typedef struct allocation_counter {
  size_t allocated, released; /* calls that gave memory, calls that took it back */
  size_t fail_at;             /* the number of the call that fails; SIZE_MAX: none */
  size_t bytes;               /* given and not yet taken back */
  const char *thread;         /* that of the first call */
  size_t foreign;             /* calls from another one */
} allocation_counter;

/* Stands before the memory; as large as malloc aligns. */
typedef struct counted_memory {
  _Alignas(16) size_t size;
  void *start;
} counted_memory;

static inline void *counting_allocate(size_t size, void *user) {
  allocation_counter *counter = user;
  if (!counter->thread) counter->thread = &counting_thread;
  counter->foreign += counter->thread != &counting_thread;
  if (counter->allocated == counter->fail_at) return NULL;
  const size_t offset = 16 * (counter->allocated++ % 4);
  char *start = malloc(size + sizeof(counted_memory) + offset);
  if (!start) abort();
  counted_memory *before = (counted_memory *)(void *)(start + offset);
  *before = (counted_memory){.size = size, .start = start};
  memset(before + 1, 0xff, size);
  counter->bytes += size;
  return before + 1;
}

static inline void counting_release(void *memory, void *user) {
  allocation_counter *counter = user;
  if (!CHECK(memory != NULL)) return;
  counted_memory *before = (counted_memory *)memory - 1;
  counter->foreign += counter->thread != &counting_thread;
  counter->released++;
  counter->bytes -= before->size;
  free(before->start);
}

static inline sbs_allocator counting_allocator(allocation_counter *counter) {
  return (sbs_allocator){counting_allocate, counting_release, counter};
}

/*
 * Makes every allocation of a call fail in turn until the call succeeds; an object is released by `discard`, or NULL.
 * Returns how many allocations there were to fail.
 */
static inline size_t fail_each_allocation(sbs_status (*call)(const sbs_allocator *, void *), void (*discard)(void *),
                                          void *subject) {
  allocation_counter counter = {0};
  const sbs_allocator allocator = counting_allocator(&counter);
  for (counter.fail_at = 0; counter.fail_at < 1000; counter.fail_at++) {
    counter.allocated = counter.released = 0;
    const sbs_status status = call(&allocator, subject);
    if (status == SBS_OK) break;
    CHECK_EQUAL(status, SBS_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(counter.released, counter.allocated);
  }
  CHECK(counter.allocated <= counter.fail_at);
  if (discard) discard(subject);
  CHECK_EQUAL(counter.released, counter.allocated);
  return counter.fail_at;
}

#endif
