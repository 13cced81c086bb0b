/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

/* Of the thread that calls; GLib keeps its current GCancellable alike. */
static _Thread_local struct {
  sbs_progress *function; /* or NULL */
  void *user;
} current;

void sbs_set_progress(sbs_progress *progress, void *user) {
  current.function = progress;
  current.user = user;
}

sbs_status sbs_tell(double fraction) {
  sbs_progress *const function = current.function;
  if (!function) return SBS_OK;

  /* None while it runs: it may call the library itself, even set another one for that. */
  void *const user = current.user;
  current.function = NULL;
  const int gives_up = function(fraction, user);
  current.function = function;
  current.user = user;
  return gives_up ? SBS_ERROR_CANCELLED : SBS_OK;
}
