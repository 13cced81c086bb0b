/* SPDX-License-Identifier: MIT */
/* A system with one thread: none can be started, so that the caller does all work itself, and nobody waits. */
#include "base/system_threads.h"

void sbs_lock(sbs_mutex *mutex) {
  (void)mutex;
}

void sbs_unlock(sbs_mutex *mutex) {
  (void)mutex;
}

void sbs_wait(sbs_condition *condition, sbs_mutex *mutex) {
  (void)condition, (void)mutex;
}

void sbs_wake_one(sbs_condition *condition) {
  (void)condition;
}

void sbs_wake_all(sbs_condition *condition) {
  (void)condition;
}

int sbs_stay_loaded(void) {
  return 0;
}

int sbs_start_thread(sbs_thread *thread, void (*run)(void)) {
  (void)thread, (void)run;
  return 0;
}

void sbs_join_thread(sbs_thread thread) {
  (void)thread;
}

int sbs_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  (void)before, (void)in_parent, (void)in_child;
  return 0;
}

int sbs_count_processors(void) {
  return 1;
}

/* Asked for how long others have been waited for, which is never. */
uint64_t sbs_now(void) {
  return 0;
}
