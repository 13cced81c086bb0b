/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_THREADS_H
#define SBS_DEFORM_THREADS_H

#include <stddef.h>

/* What every thread of a team does; the team may be smaller than was asked for. */
typedef void sbs_team_work(void *context, int thread, int team);

/*
 * Runs `work` by a team of at most `threads`; by the calling thread alone if that is 1, or if this process is the child
 * of a fork.
 */
void sbs_run_team(int threads, sbs_team_work *work, void *context);

/* Called by all of a team: returns when all have called it, with what each wrote before it seen by all. */
void sbs_wait_for_team(int team);

/* How many threads are wanted, if the option says `option`: never fewer than one. */
int sbs_wanted_threads(int option);

/* The part of `count` things that is a thread's: [begin, end). */
typedef struct sbs_share {
  size_t begin, end;
} sbs_share;

static inline sbs_share sbs_share_of(size_t count, int thread, int team) {
  const size_t t = (size_t)thread, n = (size_t)team;
  const size_t each = count / n, extra = count % n; /* the first `extra` threads take one more */
  const size_t begin = t * each + (t < extra ? t : extra);
  return (sbs_share){begin, begin + each + (t < extra)};
}

#endif
