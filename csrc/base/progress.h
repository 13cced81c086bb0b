/* SPDX-License-Identifier: MIT */
/* How work that takes long reports progress and learns of cancellation: see sbs_set_progress. */
#ifndef SBS_BASE_PROGRESS_H
#define SBS_BASE_PROGRESS_H

#include "sbs/sbs.h"

/*
 * Tells the progress function of this thread, if there is one, how much of the current step is done. Returns CANCELLED
 * if that asked to cancel. Threads of the library have none.
 */
sbs_status sbs_tell(double fraction);

/* The same for a loop over `count` items of some nanoseconds each: call it for each item, it rarely does anything. */
static inline sbs_status sbs_tell_some(size_t done, size_t count) {
  return done % 1024 ? SBS_OK : sbs_tell((double)done / (double)count);
}

#endif
