/* SPDX-License-Identifier: MIT */
/* Processes that fork beside threads that share work, and within it. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared_work.h"

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

/* So does an emulator, which says that it is one: a child of qemu was seen to wait for the lock of its new threads. */
static int loses_locks(void) {
  return IS_SANITIZED || getenv("SBS_EMULATED");
}

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

static void *call_often(void *failures) {
  for (int i = 0; i < 100; i++) {
    if (!all_is_done_once(1 + i % THREADS)) atomic_fetch_add((atomic_int *)failures, 1);
  }
  return NULL;
}

static void *fork_often(void *failures) {
  for (int i = 0; i < 10; i++) {
    if (!is_right_in_child()) atomic_fetch_add((atomic_int *)failures, 1);
  }
  return NULL;
}

static void test_children_while_others_work(void) {
  if (loses_locks()) return;
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

int main(void) {
  if (IS_SANITIZED) {
    CHECK(all_is_done_once(THREADS));
    sleep_milliseconds(300); /* until all threads have begun */
  }
  RUN(test_children);
  RUN(test_children_while_others_work);
  RUN(test_fork_within_work);
  return harness_result();
}
