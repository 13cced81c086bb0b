/* SPDX-License-Identifier: MIT */
/*
 * Work that several threads share.
 *
 * The threads are the library's own, and do nothing but this. They are started when work is shared for the first time,
 * stay awake for some microseconds after it in case that more comes, and then sleep. The calling thread works as well,
 * and waits only for those that have begun: where the processors have others things to do, it does it all. Any number
 * of threads may call at once, and work may itself share work. A child made by fork starts threads of its own.
 *
 * What is shared are chunks, whose boundaries do not depend on the number of threads; and each is worked on in the
 * floating-point mode of the calling thread. So no result depends on who does which.
 */
#ifndef SBS_BASE_THREADS_H
#define SBS_BASE_THREADS_H

#include <stddef.h>

#include "sbs/sbs.h"

enum {
  SBS_MOST_THREADS = 256 /* that work on anything, whatever is asked for */
};

/* A part of so many things: [begin, end). */
typedef struct sbs_share {
  size_t begin, end;
} sbs_share;

/*
 * Does a chunk of the work. `worker` is a number from 0 to threads - 1 that no other has as long as the call lasts, for
 * memory of its own; 0 is the thread that called, which alone may call back to the user. The chunks of one worker come
 * in any order.
 *
 * Returns SBS_OK to go on. With anything else no chunk is begun any more, by anyone, and that is the result of the
 * call: so a progress function gives up by it. At the end of each chunk there is such a chance; a chunk should take
 * from some microseconds to some milliseconds.
 */
typedef sbs_status sbs_chunk_work(void *context, sbs_share things, int worker);

/*
 * Has `count` things done, `chunk` at a time (the last chunk has what is left), by this thread and up to threads - 1
 * others; by this one alone if there is but one chunk. Returns when no one works on them any more, with what each wrote
 * seen by the caller.
 *
 * Errors: what the work returned, of several one; CANCELLED in the child if the work forked while others had chunks.
 */
sbs_status sbs_share_work(int threads, size_t count, size_t chunk, sbs_chunk_work *work, void *context);

/*
 * How many threads are to share work that takes one about so many nanoseconds: one below 50,000, for which others are
 * not worth waking; then at most one for each 25,000; at most `option`, or if that is 0 what sbs_get_threads says.
 */
int sbs_choose_threads(int option, double nanoseconds);

#endif
