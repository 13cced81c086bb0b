/* SPDX-License-Identifier: MIT */
/* Work that threads share: all of it is done once, whoever calls, however often, and in the mode of who calls. */
#include "base/threads.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum {
  COUNT = 10007,
  CHUNK = 16,
  THREADS = 8
};

typedef struct tally {
  atomic_int done[COUNT];
  atomic_int inside[SBS_MOST_THREADS]; /* chunks that a worker is at */
  atomic_int wrong;
  size_t stop_at; /* the chunk with this thing returns an error */
} tally;

static sbs_status count_things(void *context, sbs_share things, int worker) {
  tally *t = context;
  if (worker < 0 || worker >= THREADS || atomic_fetch_add(t->inside + worker, 1)) atomic_fetch_add(&t->wrong, 1);
  if (things.begin % CHUNK || (things.end != COUNT && things.end - things.begin != CHUNK)) {
    atomic_fetch_add(&t->wrong, 1);
  }
  for (size_t i = things.begin; i < things.end; i++) atomic_fetch_add(t->done + i, 1);
  atomic_fetch_sub(t->inside + worker, 1);
  return things.begin <= t->stop_at && t->stop_at < things.end ? SBS_ERROR_WEIGHT : SBS_OK;
}

/* Whether all was done once by so many threads. */
static int all_is_done_once(int threads) {
  tally *t = calloc(1, sizeof *t);
  if (!t) return 0;
  t->stop_at = COUNT;
  int right = sbs_share_work(threads, COUNT, CHUNK, count_things, t) == SBS_OK && !atomic_load(&t->wrong);
  for (size_t i = 0; i < COUNT; i++) right &= atomic_load(t->done + i) == 1;
  free(t);
  return right;
}

static void test_all_is_done_once(void) {
  for (int threads = 0; threads <= THREADS; threads++) {
    for (int i = 0; i < 50; i++) CHECK(all_is_done_once(threads));
  }
}

static sbs_status add(void *context, sbs_share things, int worker) {
  (void)worker;
  atomic_fetch_add((atomic_size_t *)context, things.end - things.begin);
  return SBS_OK;
}

static void test_few_things_or_none(void) {
  for (size_t count = 0; count < 5; count++) {
    for (size_t chunk = 1; chunk < 5; chunk++) {
      atomic_size_t sum = 0;
      CHECK_EQUAL(sbs_share_work(SBS_MOST_THREADS + 1, count, chunk, add, &sum), SBS_OK);
      CHECK_EQUAL(atomic_load(&sum), count);
    }
  }
}

/* The caller learns why, and nothing is done twice or later. */
static void test_work_that_stops(void) {
  for (int threads = 1; threads <= THREADS; threads++) {
    tally *t = calloc(1, sizeof *t);
    if (!CHECK(t != NULL)) return;
    t->stop_at = COUNT / 2;
    CHECK_EQUAL(sbs_share_work(threads, COUNT, CHUNK, count_things, t), SBS_ERROR_WEIGHT);
    CHECK_EQUAL(atomic_load(&t->wrong), 0);
    CHECK_EQUAL(atomic_load(t->done + t->stop_at), 1);
    int most = 0, sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
      const int done = atomic_load(t->done + i);
      most = done > most ? done : most;
      sum += done;
    }
    CHECK_EQUAL(most, 1);
    if (threads == 1) CHECK_EQUAL(sum, COUNT / 2 / CHUNK * CHUNK + CHUNK);
    free(t);
  }
}

static void *call_often(void *failures) {
  for (int i = 0; i < 100; i++) {
    if (!all_is_done_once(1 + i % THREADS)) atomic_fetch_add((atomic_int *)failures, 1);
  }
  return NULL;
}

static void test_callers_at_once(void) {
  enum {
    CALLERS = 24 /* more than can share at once */
  };
  pthread_t callers[CALLERS];
  atomic_int failures = 0;
  for (int i = 0; i < CALLERS; i++) CHECK_EQUAL(pthread_create(callers + i, NULL, call_often, &failures), 0);
  for (int i = 0; i < CALLERS; i++) CHECK_EQUAL(pthread_join(callers[i], NULL), 0);
  CHECK_EQUAL(atomic_load(&failures), 0);
}

static sbs_status share_within(void *context, sbs_share things, int worker) {
  (void)worker;
  for (size_t i = things.begin; i < things.end; i++) {
    const sbs_status status = sbs_share_work(4, 100, 7, add, context);
    if (status) return status;
  }
  return SBS_OK;
}

static void test_work_within_work(void) {
  atomic_size_t sum = 0;
  CHECK_EQUAL(sbs_share_work(4, 200, 1, share_within, &sum), SBS_OK);
  CHECK_EQUAL(atomic_load(&sum), 20000);
}

/* Each chunk waits until another thread has one, too; so two must take part. */
static sbs_status meet(void *context, sbs_share things, int worker) {
  atomic_int *workers = context;
  (void)things;
  atomic_store(workers + worker, 1);
  while (!atomic_load(workers) || !atomic_load(workers + 1)) sched_yield();
  return SBS_OK;
}

static void test_others_take_part(void) {
  for (int i = 0; i < 100; i++) {
    atomic_int workers[2] = {0};
    const struct timespec enough_to_fall_asleep = {.tv_nsec = 2000000};
    if (i % 10 == 0) nanosleep(&enough_to_fall_asleep, NULL);
    CHECK_EQUAL(sbs_share_work(2, 2, 1, meet, workers), SBS_OK);
  }
}

/* ----------------------------------------------------------------------------------------- floating-point modes -- */

typedef struct modes {
  atomic_int workers[2];
  int roundings[2];
  double thirds[2], denormals[2];
} modes;

static volatile double one = 1.0, three = 3.0, smallest = 4.9406564584124654e-324;

static sbs_status look_at_mode(void *context, sbs_share things, int worker) {
  modes *seen = context;
  seen->roundings[worker] = fegetround();
  seen->thirds[worker] = one / three;
  seen->denormals[worker] = smallest * three;
  return meet(seen->workers, things, worker);
}

static void check_mode_is_shared(int rounding) {
  modes seen = {.workers = {0}};
  CHECK_EQUAL(sbs_share_work(2, 2, 1, look_at_mode, &seen), SBS_OK);
  CHECK_EQUAL(seen.roundings[0], rounding);
  CHECK_EQUAL(seen.roundings[1], rounding);
  CHECK(memcmp(seen.thirds, seen.thirds + 1, sizeof *seen.thirds) == 0);
  CHECK(memcmp(seen.denormals, seen.denormals + 1, sizeof *seen.denormals) == 0);
}

/* Also after the threads have worked in another, and in turns with one. */
static void test_floating_point_mode_of_the_caller(void) {
  static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  for (int i = 0; i < 40; i++) {
    CHECK_EQUAL(fesetround(roundings[i % 4]), 0);
#if defined(__SSE2__)
    const unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    const unsigned before = _mm_getcsr();
    if (i % 8 > 3) _mm_setcsr(before | flush_to_zero | denormals_are_zero);
#endif
    check_mode_is_shared(roundings[i % 4]);
#if defined(__SSE2__)
    _mm_setcsr(before);
#endif
  }
  CHECK_EQUAL(fesetround(FE_TONEAREST), 0);
}

/* -------------------------------------------------------------------------------------------------------- forks -- */

static int is_right_in_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    atomic_int workers[2] = {0}; /* other threads take part there, too */
    const int right = all_is_done_once(THREADS) && sbs_share_work(2, 2, 1, meet, workers) == SBS_OK;
    _exit(right ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int result = -1;
  return child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == EXIT_SUCCESS;
}

static void test_children(void) {
  for (int i = 0; i < 20; i++) {
    CHECK(is_right_in_child());
    CHECK(all_is_done_once(THREADS));
  }
}

static void *fork_often(void *failures) {
  for (int i = 0; i < 10; i++) {
    if (!is_right_in_child()) atomic_fetch_add((atomic_int *)failures, 1);
  }
  return NULL;
}

/*
 * A child that is forked while another thread is starting threads, or allocates, finds the sanitizers' own locks taken,
 * for they do not look after them in a fork, and waits for ever: there is nothing to be learned of ours there.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

static void test_children_while_others_work(void) {
  if (IS_SANITIZED) return;
  pthread_t forks, calls;
  atomic_int failures = 0;
  CHECK_EQUAL(pthread_create(&forks, NULL, fork_often, &failures), 0);
  CHECK_EQUAL(pthread_create(&calls, NULL, call_often, &failures), 0);
  CHECK_EQUAL(pthread_join(forks, NULL), 0);
  CHECK_EQUAL(pthread_join(calls, NULL), 0);
  CHECK_EQUAL(atomic_load(&failures), 0);
}

typedef struct forker {
  atomic_int others; /* that are at a chunk */
  atomic_int forked;
  pid_t child;
} forker;

/* The caller forks while another thread is at its chunk; in the child it is alone. */
static sbs_status fork_within(void *context, sbs_share things, int worker) {
  forker *f = context;
  (void)things;
  if (worker) {
    atomic_store(&f->others, 1);
    while (!atomic_load(&f->forked)) sched_yield();
    return SBS_OK;
  }
  while (!atomic_load(&f->others)) sched_yield();
  f->child = fork();
  if (f->child == 0) {
    alarm(60);
    if (!all_is_done_once(THREADS)) _exit(2); /* by threads of its own, within the work */
  }
  atomic_store(&f->forked, 1);
  return SBS_OK;
}

static void test_fork_within_work(void) {
  forker f = {.child = -1};
  fflush(stdout);
  const sbs_status status = sbs_share_work(2, 2, 1, fork_within, &f);
  if (f.child == 0) _exit(status == SBS_ERROR_CANCELLED ? EXIT_SUCCESS : EXIT_FAILURE);
  CHECK_EQUAL(status, SBS_OK);
  int result = -1;
  CHECK_EQUAL(waitpid(f.child, &result, 0), f.child);
  CHECK(WIFEXITED(result) && WEXITSTATUS(result) == EXIT_SUCCESS);
}

/* -------------------------------------------------------------------------------------------- how many there are -- */

static void test_number_of_threads(void) {
  CHECK(sbs_get_threads() >= 1);
  const int usual = sbs_get_threads();
  CHECK_EQUAL(sbs_set_threads(3), SBS_OK);
  CHECK_EQUAL(sbs_get_threads(), 3);
  CHECK_EQUAL(sbs_choose_threads(0, 1e9), 3);
  CHECK_EQUAL(sbs_choose_threads(5, 1e9), 5);
  CHECK_EQUAL(sbs_choose_threads(0, 49e3), 1);
  CHECK_EQUAL(sbs_choose_threads(8, 50e3), 2);
  CHECK_EQUAL(sbs_choose_threads(8, 110e3), 4);
  CHECK_EQUAL(sbs_choose_threads(100000, 1e12), SBS_MOST_THREADS);
  CHECK_EQUAL(sbs_set_threads(-1), SBS_ERROR_OPTION);
  CHECK_EQUAL(sbs_get_threads(), 3);
  CHECK_EQUAL(sbs_set_threads(0), SBS_OK);
  CHECK_EQUAL(sbs_get_threads(), usual);
}

int main(void) {
  RUN(test_number_of_threads);
  RUN(test_all_is_done_once);
  RUN(test_few_things_or_none);
  RUN(test_work_that_stops);
  RUN(test_callers_at_once);
  RUN(test_work_within_work);
  RUN(test_others_take_part);
  RUN(test_floating_point_mode_of_the_caller);
  RUN(test_children);
  RUN(test_children_while_others_work);
  RUN(test_fork_within_work);
  return harness_result();
}
