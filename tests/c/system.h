/* SPDX-License-Identifier: MIT */
/* What tests want of the system, where C11 does not have it: Posix does, and here is the same for Windows. */
#ifndef SBS_TESTS_SYSTEM_H
#define SBS_TESTS_SYSTEM_H

#include <stdlib.h>

#ifdef _WIN32
/* As windows.h has them, which would take many a name that tests use. */
__declspec(dllimport) void __stdcall Sleep(unsigned long milliseconds);
__declspec(dllimport) int __stdcall SwitchToThread(void);
__declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature);

static inline int setenv(const char *name, const char *value, int overwrite) {
  return overwrite || !getenv(name) ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name) {
  return _putenv_s(name, "");
}

static inline int sched_yield(void) {
  SwitchToThread();
  return 0;
}

static inline void sleep_milliseconds(unsigned milliseconds) {
  Sleep(milliseconds);
}
#else
#include <sched.h>
#include <time.h>

static inline void sleep_milliseconds(unsigned milliseconds) {
  const struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}
#endif

#endif
