/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE      /* sched_getaffinity */
#define _DARWIN_C_SOURCE /* _SC_NPROCESSORS_ONLN */

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/system_threads.h"

void sbs_lock(sbs_mutex *mutex) {
  pthread_mutex_lock(mutex);
}

void sbs_unlock(sbs_mutex *mutex) {
  pthread_mutex_unlock(mutex);
}

void sbs_wait(sbs_condition *condition, sbs_mutex *mutex) {
  pthread_cond_wait(condition, mutex);
}

void sbs_wake_one(sbs_condition *condition) {
  pthread_cond_signal(condition);
}

void sbs_wake_all(sbs_condition *condition) {
  pthread_cond_broadcast(condition);
}

/* SBS_AT_UNLOAD tells. */
int sbs_stay_loaded(void) {
  return 1;
}

static void *call(void *run) {
  void (*function)(void);
  *(void **)&function = run;
  function();
  return NULL;
}

int sbs_start_thread(sbs_thread *thread, void (*run)(void)) {
  static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
  if (pthread_sigmask(SIG_SETMASK, &blocked, &before)) return 0; /* the new thread inherits it */
  const int failed = pthread_create(thread, NULL, call, *(void **)&run);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !failed;
}

void sbs_join_thread(sbs_thread thread) {
  pthread_join(thread, NULL);
}

int sbs_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  return !pthread_atfork(before, in_parent, in_child);
}

int sbs_count_processors(void) {
#ifdef __linux__
  cpu_set_t allowed;
  if (!sched_getaffinity(0, sizeof allowed, &allowed)) return CPU_COUNT(&allowed);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)online;
}

uint64_t sbs_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
