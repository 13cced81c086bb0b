/* SPDX-License-Identifier: MIT */
/* Calls of libsbs that report progress to a Python function. */
#ifndef SBS_EXTENSION_PROGRESS_H
#define SBS_EXTENSION_PROGRESS_H

#include "interrupts.h"

/* What a callback needs to enter Python again. */
typedef struct core_caller {
  core_unlocked call;
  PyObject *progress; /* None or callable */
} core_caller;

/* Whether `progress` is None or callable; if not, raises TypeError and returns 0. */
int core_check_progress(PyObject *progress);

/*
 * A sbs_progress for a core_caller whose progress is not None. Cancels the call if that function, or a signal's handler
 * while it runs, raises an exception, which stays set.
 */
int core_tell_progress(double fraction, void *core_caller_address);

#endif
