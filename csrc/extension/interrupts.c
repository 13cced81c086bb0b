/* SPDX-License-Identifier: MIT */
#include "interrupts.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <time.h>
#endif

/* Seconds between two checks: rare, for each waits for Python's lock, but Ctrl-C still seems to work at once. */
static const double between_looks = 0.05;

static double now(void) {
#ifdef _WIN32
  return 1e-3 * (double)GetTickCount64();
#else
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
#endif
}

int core_look_for_signals(double fraction, void *user) {
  core_unlocked *call = user;
  const double time = now();
  int raised;

  (void)fraction;
  if (time - call->looked < between_looks) return 0;
  PyEval_RestoreThread(call->thread);
  raised = PyErr_CheckSignals();
  call->thread = PyEval_SaveThread();
  call->looked = now();
  return raised;
}

void core_begin_call(core_unlocked *call) {
  call->looked = now();
  sbs_set_progress(core_look_for_signals, call);
  call->thread = PyEval_SaveThread();
}

void core_end_call(core_unlocked *call) {
  PyEval_RestoreThread(call->thread);
  sbs_set_progress(NULL, NULL);
}
