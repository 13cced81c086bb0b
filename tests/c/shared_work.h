/* SPDX-License-Identifier: MIT */
/* Work for threads to share, which tells whether they did. */
#ifndef SBS_TESTS_SHARED_WORK_H
#define SBS_TESTS_SHARED_WORK_H

#include <stdatomic.h>

#include "base/threads.h"
#include "harness.h"
#include "system.h"

enum {
  COUNT = 10007,
  CHUNK = 16,
  THREADS = 8
};

typedef struct tally {
  atomic_int done[COUNT];
  atomic_int inside[SBS_MOST_THREADS]; /* chunks that a worker is at */
  atomic_int wrong;
  size_t stop_at; /* the chunk with this thing returns an error */
} tally;

static inline sbs_status count_things(void *context, sbs_share things, int worker) {
  tally *t = context;
  if (worker < 0 || worker >= THREADS || atomic_fetch_add(t->inside + worker, 1)) atomic_fetch_add(&t->wrong, 1);
  if (things.begin % CHUNK || (things.end != COUNT && things.end - things.begin != CHUNK)) {
    atomic_fetch_add(&t->wrong, 1);
  }
  for (size_t i = things.begin; i < things.end; i++) atomic_fetch_add(t->done + i, 1);
  atomic_fetch_sub(t->inside + worker, 1);
  return things.begin <= t->stop_at && t->stop_at < things.end ? SBS_ERROR_WEIGHT : SBS_OK;
}

/* Whether all was done once by so many threads. */
static inline int all_is_done_once(int threads) {
  tally *t = calloc(1, sizeof *t);
  if (!t) return 0;
  t->stop_at = COUNT;
  int right = sbs_share_work(threads, COUNT, CHUNK, count_things, t) == SBS_OK && !atomic_load(&t->wrong);
  for (size_t i = 0; i < COUNT; i++) right &= atomic_load(t->done + i) == 1;
  free(t);
  return right;
}

/* Each chunk waits until another thread has one, too; so two must take part. */
static inline sbs_status meet(void *context, sbs_share things, int worker) {
  atomic_int *workers = context;
  (void)things;
  atomic_store(workers + worker, 1);
  while (!atomic_load(workers) || !atomic_load(workers + 1)) sched_yield();
  return SBS_OK;
}

#endif
