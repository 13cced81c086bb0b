/* SPDX-License-Identifier: MIT */
/* How long work asks whether it is to go on: see sbs_set_progress. */
#ifndef SBS_BASE_PROGRESS_H
#define SBS_BASE_PROGRESS_H

#include "sbs/sbs.h"

/*
 * Tells the progress function of this thread, if it has one, how much of the step at hand is done; CANCELLED if it
 * asked to give up. A thread that works for another has none.
 */
sbs_status sbs_tell(double fraction);

/* The same for the loop over `count` things of some nanoseconds each, at each of which it may be called. */
static inline sbs_status sbs_tell_some(size_t done, size_t count) {
  return done % 1024 ? SBS_OK : sbs_tell((double)done / (double)count);
}

#endif
