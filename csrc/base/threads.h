/* SPDX-License-Identifier: MIT */
/*
 * Work that several threads share.
 *
 * The threads belong to the library and do nothing else. They are started when work is first shared, stay awake for
 * some microseconds afterwards in case more comes, and then sleep. The calling thread works too, and waits only for
 * threads that have begun: on a busy machine it does everything itself. Any number of threads may call at once, and
 * work may itself share work. A child process made by fork starts its own threads. They end when
 * the library is unloaded; on Windows it stays loaded once it has started any.
 *
 * Work is divided into chunks whose boundaries do not depend on the number of threads, and every thread uses the
 * floating-point mode of the calling thread. So results do not depend on which thread does which chunk.
 */
#ifndef SBS_BASE_THREADS_H
#define SBS_BASE_THREADS_H

#include <stddef.h>

#include "sbs/sbs.h"

enum {
  SBS_MOST_THREADS = 256 /* of any call, even if more are asked for */
};

/* A range of items: [begin, end). */
typedef struct sbs_share {
  size_t begin, end;
} sbs_share;

/*
 * Does a chunk of the work. `worker` is a number from 0 to threads - 1 that no other thread has during the call; use it
 * to give each its own memory. 0 is the calling thread, the only one that may call back to the user. A worker gets its
 * chunks in any order.
 *
 * Returns SBS_OK to continue. Anything else is the result of the call, and no thread begins another chunk. Progress is
 * reported, and a call can be cancelled, at the end of each chunk, so a chunk should take from some microseconds to
 * some milliseconds.
 */
typedef sbs_status sbs_chunk_work(void *context, sbs_share things, int worker);

/*
 * Does `count` items, `chunk` at a time (the last chunk has the rest), on this thread and up to threads - 1 others; on
 * this one alone if there is only one chunk. Returns when no thread works on them any more; the caller then sees all
 * that all of them wrote.
 *
 * Errors: that of the work (if several chunks failed, one of them); CANCELLED in the child if the work forked while
 * other threads had chunks.
 */
sbs_status sbs_share_work(int threads, size_t count, size_t chunk, sbs_chunk_work *work, void *context);

/*
 * How many threads should share work that takes one thread about so many nanoseconds: one if less than 50,000, which is
 * not worth waking others for; else at most one for each 25,000. Never more than `option`, or if that is 0 than
 * sbs_get_threads says.
 */
int sbs_choose_threads(int option, double nanoseconds);

#endif
