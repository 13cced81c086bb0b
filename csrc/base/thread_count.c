/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/system_threads.h"
#include "base/threads.h"

static atomic_int chosen;    /* by sbs_set_threads; 0: none */
static atomic_int otherwise; /* the default; 0: not read yet */

enum {
  WORTH_SHARING = 50000, /* nanoseconds, by one thread */
  WORTH_A_THREAD = 25000
};

/* A whole number from 1, or 0. */
static int number_in(const char *text) {
  char *end;
  if (!text || *text < '0' || *text > '9') return 0;
  const unsigned long number = strtoul(text, &end, 10);
  if (*end) return 0;
  return number > SBS_MOST_THREADS ? SBS_MOST_THREADS : (int)number;
}

sbs_status sbs_set_threads(int threads) {
  if (threads < 0) return SBS_ERROR_OPTION;
  atomic_store(&chosen, threads > SBS_MOST_THREADS ? SBS_MOST_THREADS : threads);
  return SBS_OK;
}

int sbs_get_threads(void) {
  int threads = atomic_load(&chosen);
  if (!threads) threads = atomic_load(&otherwise);
  if (!threads) { /* several threads may do this at once: all find the same */
    threads = number_in(getenv("SBS_THREADS"));
    if (!threads) threads = sbs_count_processors();
    if (threads > SBS_MOST_THREADS) threads = SBS_MOST_THREADS;
    atomic_store(&otherwise, threads);
  }
  return threads;
}

int sbs_choose_threads(int option, double nanoseconds) {
  if (!(nanoseconds >= WORTH_SHARING)) return 1;
  const int wanted = option > 0 ? (option < SBS_MOST_THREADS ? option : SBS_MOST_THREADS) : sbs_get_threads();
  const double worth = nanoseconds / WORTH_A_THREAD;
  return worth < wanted ? (int)worth : wanted;
}
