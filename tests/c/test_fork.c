/* SPDX-License-Identifier: MIT */
/* Processes that fork beside threads that share work, and within it; and a child that deforms after its parent did. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"
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

enum {
  VERTICES = 50000,
  JOINTS = 5
};

/* To the same bits, by threads of its own. */
static void test_child_deforms(void) {
  static float by_parent[VERTICES][3], by_child[VERTICES][3];
  uint64_t seed = 1;
  transform joints[JOINTS];
  for (int j = 0; j < JOINTS; j++) joints[j] = random_rigid(&seed, 100.0);
  const sbs_pose pose = pose_of(joints);
  rig made = new_rig(1, VERTICES, JOINTS, 2);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  sbs_deform_options options = sbs_default_deform_options();
  options.threads = 4;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, by_parent, NULL, NULL, NULL), SBS_OK);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) alarm(60); /* ends a child that waits for threads that fork did not copy */
  const sbs_status status = sbs_skin_deform(skin, &pose, &options, by_child, NULL, NULL, NULL);
  const int right = status == SBS_OK && memcmp(by_child, by_parent, sizeof by_parent) == 0;
  if (child == 0) _exit(right ? EXIT_SUCCESS : EXIT_FAILURE);
  CHECK(right); /* the parent keeps its threads */
  int result = -1;
  CHECK_EQUAL(waitpid(child, &result, 0), child);
  CHECK(WIFEXITED(result) && WEXITSTATUS(result) == EXIT_SUCCESS);
  sbs_skin_free(skin);
  free_rig(&made);
}

int main(void) {
  if (IS_SANITIZED) {
    CHECK(all_is_done_once(THREADS));
    sleep_milliseconds(300); /* until all threads have begun */
  }
  RUN(test_children);
  RUN(test_children_while_others_work);
  RUN(test_fork_within_work);
  RUN(test_child_deforms);
  return harness_result();
}
