/* SPDX-License-Identifier: MIT */
/* Calls of libsbs without Python's lock, that Ctrl-C ends. */
#ifndef SBS_EXTENSION_INTERRUPTS_H
#define SBS_EXTENSION_INTERRUPTS_H

#include "core.h"

/*
 * In place of Py_BEGIN_ALLOW_THREADS and Py_END_ALLOW_THREADS. Several times a second the call looks whether a signal
 * has come. Where its handler raises something, as that of SIGINT does, the call returns SBS_ERROR_CANCELLED, and
 * core_raise leaves raised what is.
 */
#define CORE_BEGIN_CALL \
  { \
    core_call core_calling; \
    core_begin_call(&core_calling);
#define CORE_END_CALL \
  core_end_call(&core_calling); \
  }

typedef struct core_call {
  PyThreadState *thread; /* while the lock is released */
  double looked;         /* when, in seconds */
} core_call;

void core_begin_call(core_call *call);
void core_end_call(core_call *call);

#endif
