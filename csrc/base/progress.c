/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

/* Each thread has its own, as in GLib its current GCancellable. */
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

  /* The thread has none while the function runs, which may call the library, and set another one for that. */
  void *const user = current.user;
  current.function = NULL;
  const int gives_up = function(fraction, user);
  current.function = function;
  current.user = user;
  return gives_up ? SBS_ERROR_CANCELLED : SBS_OK;
}
