/* SPDX-License-Identifier: MIT */
/* Work that threads share: all of it is done once, whoever calls, however often, and in the mode of who calls. */
#include <fenv.h>

#include "base/system_threads.h"
#include "shared_work.h"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

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

static atomic_int failures;

static void call_often(void) {
  for (int i = 0; i < 100; i++) {
    if (!all_is_done_once(1 + i % THREADS)) atomic_fetch_add(&failures, 1);
  }
}

static void test_callers_at_once(void) {
  enum {
    CALLERS = 24 /* more than can share at once */
  };
  sbs_thread callers[CALLERS];
  atomic_store(&failures, 0);
  for (int i = 0; i < CALLERS; i++) CHECK(sbs_start_thread(callers + i, call_often));
  for (int i = 0; i < CALLERS; i++) sbs_join_thread(callers[i]);
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

static void test_others_take_part(void) {
  for (int i = 0; i < 100; i++) {
    atomic_int workers[2] = {0};
    if (i % 10 == 0) sleep_milliseconds(2); /* enough to fall asleep */
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
  return harness_result();
}
