/* SPDX-License-Identifier: MIT */
#include "deform/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

/*
 * libgomp keeps its threads between parallel regions. A fork copies its belief that they exist but not the threads, and
 * the child's first parallel region would wait for them for ever: children work serially. Written between fork and
 * return in the child alone, where there is no other thread.
 */
static int is_forked_child;

#ifndef _WIN32
static void note_fork(void) {
  is_forked_child = 1;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, note_fork);
}
#endif

int sbs_wanted_threads(int option) {
  if (is_forked_child) return 1;
#ifdef _OPENMP
  return option > 0 ? option : omp_get_max_threads();
#else
  (void)option;
  return 1;
#endif
}

void sbs_run_team(int threads, sbs_team_work *work, void *context) {
  if (threads < 2 || is_forked_child) {
    work(context, 0, 1);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  work(context, omp_get_thread_num(), omp_get_num_threads());
#endif
}

void sbs_wait_for_team(int team) {
  if (team < 2) return;
#ifdef _OPENMP
#pragma omp barrier
#endif
}
