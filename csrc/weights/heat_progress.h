/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_PROGRESS_H
#define SBS_WEIGHTS_HEAT_PROGRESS_H

#include "base/progress.h"

/* Whom to tell how far a part of the work is, which goes from `begin` to `end` of the whole. */
typedef struct sbs_heat_progress {
  sbs_progress *call; /* that of the options, or NULL */
  void *user;
  double begin, end;
} sbs_heat_progress;

/*
 * Returns SBS_ERROR_CANCELLED where the caller wants no more, also by sbs_tell. `share` is that of the part, from 0 to
 * 1.
 */
static inline sbs_status sbs_heat_tell(const sbs_heat_progress *progress, double share) {
  const sbs_status status = sbs_tell(share);
  if (status || !progress->call) return status;
  const double fraction = progress->begin + (progress->end - progress->begin) * share;
  return progress->call(fraction, progress->user) ? SBS_ERROR_CANCELLED : SBS_OK;
}

#endif
