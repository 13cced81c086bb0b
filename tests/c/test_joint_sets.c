/* SPDX-License-Identifier: MIT */
/* The table of joint sets: found again by hashing, grown, and put in lexicographic order. */
#include <stdlib.h>

#include "base/memory.h"
#include "harness.h"
#include "skin/joint_sets.h"

static const sbs_allocator *allocator(void) {
  static sbs_allocator by_malloc;
  by_malloc = sbs_default_allocator();
  return &by_malloc;
}

static int32_t find(sbs_joint_sets *sets, const int32_t *joints, size_t count) {
  int32_t number = -1;
  CHECK_EQUAL(sbs_joint_sets_find(sets, joints, count, &number), SBS_OK);
  return number;
}

static void check_set(const sbs_joint_sets *sets, size_t number, const int32_t *joints, size_t count) {
  const size_t begin = sets->offsets[number];
  if (!CHECK_EQUAL(sets->offsets[number + 1] - begin, count)) return;
  for (size_t i = 0; i < count; i++) CHECK_EQUAL(sets->joints[begin + i], joints[i]);
}

/* Ascending joints that differ for every i, of 1 to 3 joints. */
static size_t example(int32_t i, int32_t joints[3]) {
  joints[0] = i / 3;
  joints[1] = i / 3 + 1 + i % 7;
  joints[2] = i / 3 + 10 + i % 5;
  return 1 + (size_t)(i % 3);
}

static void test_grows_past_ten_thousand_sets(void) {
  enum {
    SETS = 30000
  };
  sbs_joint_sets sets;
  CHECK_EQUAL(sbs_joint_sets_init(&sets, allocator()), SBS_OK);
  for (int pass = 0; pass < 2; pass++) {
    int wrong = 0;
    for (int32_t i = 0; i < SETS; i++) {
      int32_t joints[3], number = -1;
      const size_t count = example(i, joints);
      wrong += sbs_joint_sets_find(&sets, joints, count, &number) != SBS_OK || number != i;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(sets.count, SETS);
  }
  for (int32_t i = 0; i < SETS; i += 101) {
    int32_t joints[3];
    check_set(&sets, (size_t)i, joints, example(i, joints));
  }
  CHECK(sets.bucket_count >= 2 * sets.count);
  CHECK_EQUAL(sets.bucket_count & (sets.bucket_count - 1), 0);
  sbs_joint_sets_free(&sets);
}

static int compare(const sbs_joint_sets *sets, size_t a, size_t b) {
  const int32_t *left = sets->joints + sets->offsets[a], *right = sets->joints + sets->offsets[b];
  const size_t left_size = sets->offsets[a + 1] - sets->offsets[a],
               right_size = sets->offsets[b + 1] - sets->offsets[b];
  for (size_t i = 0; i < left_size && i < right_size; i++) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return left_size < right_size ? -1 : left_size > right_size;
}

static void test_lexicographic_order(void) {
  enum {
    SETS = 1000
  };
  sbs_joint_sets sets;
  CHECK_EQUAL(sbs_joint_sets_init(&sets, allocator()), SBS_OK);
  for (int32_t i = SETS - 1; i > 0; i--) {
    int32_t joints[3];
    const size_t count = example(i, joints);
    find(&sets, joints, count);
  }
  find(&sets, NULL, 0); /* the last to come, with number SETS - 1 */

  static int32_t ranks[SETS];
  if (!CHECK_EQUAL(sets.count, SETS) || !CHECK_EQUAL(sbs_joint_sets_sort(&sets, ranks), SBS_OK)) return;
  CHECK_EQUAL(sets.count, SETS);
  CHECK_EQUAL(ranks[SETS - 1], 0);
  CHECK_EQUAL(sets.offsets[0], 0);
  CHECK_EQUAL(sets.offsets[1], 0);
  for (size_t set = 0; set + 1 < SETS; set++) CHECK(compare(&sets, set, set + 1) < 0);
  for (int32_t i = SETS - 1; i > 0; i--) {
    int32_t joints[3];
    const size_t count = example(i, joints);
    check_set(&sets, (size_t)ranks[SETS - 1 - i], joints, count);
  }
  sbs_joint_sets_free(&sets);
}

int main(void) {
  RUN(test_grows_past_ten_thousand_sets);
  RUN(test_lexicographic_order);
  return harness_result();
}
