/* SPDX-License-Identifier: MIT */
/* Calls of libsbs without Python's lock, which Ctrl-C cancels. */
#ifndef SBS_EXTENSION_INTERRUPTS_H
#define SBS_EXTENSION_INTERRUPTS_H

#include "core.h"

typedef struct core_unlocked {
  PyThreadState *thread; /* while the lock is released */
  double looked;         /* when, in seconds */
} core_unlocked;

/* A sbs_progress, whose user is a core_unlocked: whether a signal's handler raised an exception. */
int core_look_for_signals(double fraction, void *unlocked);

/*
 * Used in place of Py_BEGIN_ALLOW_THREADS and Py_END_ALLOW_THREADS. The call checks for signals several times a second.
 * If a signal's handler raises an exception, as that of SIGINT does, the call returns SBS_ERROR_CANCELLED, and
 * core_raise leaves that exception.
 */
void core_begin_call(core_unlocked *call);
void core_end_call(core_unlocked *call);

#endif
