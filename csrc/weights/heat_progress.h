/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_PROGRESS_H
#define SBS_WEIGHTS_HEAT_PROGRESS_H

#include "base/progress.h"

/* Reports the progress of a part of the work, which is from `begin` to `end` of the whole. */
typedef struct sbs_heat_progress {
  sbs_progress *call; /* of the options, or NULL */
  void *user;
  double begin, end;
} sbs_heat_progress;

/*
 * Reports that `share` of the part is done, from 0 to 1. Returns SBS_ERROR_CANCELLED if the caller cancels, here or by
 * sbs_tell.
 */
static inline sbs_status sbs_heat_tell(const sbs_heat_progress *progress, double share) {
  const sbs_status status = sbs_tell(share);
  if (status || !progress->call) return status;
  const double fraction = progress->begin + (progress->end - progress->begin) * share;
  return progress->call(fraction, progress->user) ? SBS_ERROR_CANCELLED : SBS_OK;
}

#endif
