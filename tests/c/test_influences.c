/* SPDX-License-Identifier: MIT */
/* The influences of a vertex: sorted, merged, repaired and normalized, whatever their order. */
#include <float.h>
#include <math.h>

#include "base/scalar.h"
#include "harness.h"
#include "skin/influences.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  MOST = 8
};

static int32_t joints_read[MOST];
static double weights_read[MOST];

static sbs_influences read_scalars(const int32_t *joints, const void *weights, sbs_scalar scalar, size_t count) {
  sbs_influences influences = {.joints = joints_read, .weights = weights_read};
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.influences_per_vertex = count;
  desc.joint_indices = joints;
  desc.joint_weights = weights;
  desc.weight_scalar = scalar;
  sbs_influences_read(&desc, 1e-3, 0, &influences);
  return influences;
}

static sbs_influences read(const int32_t *joints, const double *weights, size_t count) {
  return read_scalars(joints, weights, SBS_FLOAT64, count);
}

static void check_read(const sbs_influences *found, const int32_t *joints, const double *weights, size_t count,
                       size_t heaviest, unsigned repairs) {
  CHECK_EQUAL(found->repairs, repairs);
  CHECK_EQUAL(found->heaviest, heaviest);
  if (!CHECK_EQUAL(found->count, count)) return;
  for (size_t i = 0; i < count; i++) {
    CHECK_EQUAL(found->joints[i], joints[i]);
    CHECK_NEAR(found->weights[i], weights[i], 2.0 * DBL_EPSILON); /* one sum and one division */
  }
}

static void test_ascending_joints(void) {
  const int32_t joints[] = {7, 2, 5}, sorted[] = {2, 5, 7};
  const double weights[] = {0.5, 0.2, 0.3}, of_sorted[] = {0.2, 0.3, 0.5};
  const sbs_influences found = read(joints, weights, 3);
  check_read(&found, sorted, of_sorted, 3, 2, 0);
}

/* Swaps the influences to the next of their permutations in lexicographic order of `order`. */
static int next_permutation(size_t *order, size_t count) {
  size_t at = count - 1;
  while (at > 0 && order[at - 1] >= order[at]) at--;
  if (!at) return 0;
  size_t other = count - 1;
  while (order[other] <= order[at - 1]) other--;
  size_t swapped = order[other];
  order[other] = order[at - 1];
  order[at - 1] = swapped;
  for (size_t low = at, high = count - 1; low < high; low++, high--) {
    swapped = order[low];
    order[low] = order[high];
    order[high] = swapped;
  }
  return 1;
}

/* Three weights of joint 3, whose sum depends on the order of adding, and two equal weights. */
static void test_order_changes_no_bit(void) {
  const int32_t joints[] = {3, 9, 3, 1, 3};
  const double weights[] = {0.1, 0.7, 0.2, 0.7, 0.3};
  CHECK((weights[0] + weights[2]) + weights[4] != weights[0] + (weights[2] + weights[4]));
  size_t order[] = {0, 1, 2, 3, 4};
  read(joints, weights, 5);
  double first_weights[3];
  memcpy(first_weights, weights_read, sizeof first_weights);
  int permutations = 0;
  do {
    int32_t shuffled_joints[5];
    double shuffled_weights[5];
    for (size_t i = 0; i < 5; i++) {
      shuffled_joints[i] = joints[order[i]];
      shuffled_weights[i] = weights[order[i]];
    }
    const sbs_influences found = read(shuffled_joints, shuffled_weights, 5);
    CHECK_EQUAL(found.count, 3);
    CHECK_EQUAL(found.heaviest, 0); /* joints 1 and 9 are equally heavy: the lower */
    CHECK_EQUAL(found.repairs, SBS_WEIGHT_DUPLICATE | SBS_WEIGHT_OFF_SUM);
    CHECK_EQUAL(joints_read[0], 1);
    CHECK_EQUAL(joints_read[1], 3);
    CHECK_EQUAL(joints_read[2], 9);
    CHECK(memcmp(weights_read, first_weights, sizeof first_weights) == 0);
    permutations++;
  } while (next_permutation(order, 5));
  CHECK_EQUAL(permutations, 120);
}

static void test_padding_is_no_influence(void) {
  const int32_t joints[] = {4, 0, 2, 0}, kept[] = {2, 4};
  const double weights[] = {0.25, 0.0, 0.75, -0.0}, of_kept[] = {0.75, 0.25};
  const sbs_influences found = read(joints, weights, 4);
  check_read(&found, kept, of_kept, 2, 0, 0);
}

static void test_duplicates_are_added(void) {
  const int32_t joints[] = {6, 1, 6}, merged[] = {1, 6};
  const double weights[] = {0.3, 0.4, 0.3}, of_merged[] = {0.4, 0.6};
  const sbs_influences found = read(joints, weights, 3);
  check_read(&found, merged, of_merged, 2, 1, SBS_WEIGHT_DUPLICATE); /* heaviest only after merging */
}

static void test_duplicates_of_zero_are_padding(void) {
  const int32_t joints[] = {6, 6, 6};
  const double weights[] = {0.0, 1.0, 0.0}, one = 1.0;
  const sbs_influences found = read(joints, weights, 3);
  check_read(&found, joints, &one, 1, 0, 0);
}

static void test_bad_weights_are_dropped(void) {
  static const struct {
    double weight;
    unsigned repair;
  } bad[] = {{NAN, SBS_WEIGHT_NAN},           {-NAN, SBS_WEIGHT_NAN},
             {INFINITY, SBS_WEIGHT_INFINITE}, {-INFINITY, SBS_WEIGHT_INFINITE},
             {-0.5, SBS_WEIGHT_NEGATIVE},     {-4.9e-324, SBS_WEIGHT_NEGATIVE}};
  const int32_t joints[] = {1, 2, 3}, kept[] = {1, 3};
  const double half[] = {0.5, 0.5};
  for (size_t i = 0; i < COUNT(bad); i++) {
    const double weights[] = {0.5, bad[i].weight, 0.5};
    const sbs_influences found = read(joints, weights, 3);
    check_read(&found, kept, half, 2, 0, bad[i].repair);
    CHECK_EQUAL(found.fault, 1);
  }
}

static void test_first_bad_weight_is_named(void) {
  const int32_t joints[] = {1, 2, 3, 4}, kept = 1;
  const double weights[] = {1.0, -1.0, NAN, INFINITY}, one = 1.0;
  const sbs_influences found = read(joints, weights, 4);
  check_read(&found, &kept, &one, 1, 0, SBS_WEIGHT_NAN | SBS_WEIGHT_INFINITE | SBS_WEIGHT_NEGATIVE);
  CHECK_EQUAL(found.fault, 1);
}

static void test_nothing_left_is_unweighted(void) {
  const int32_t joints[] = {1, 2};
  const double zeros[] = {0.0, 0.0}, bad[] = {NAN, -1.0};
  sbs_influences found = read(joints, zeros, 2);
  check_read(&found, NULL, NULL, 0, 0, SBS_WEIGHT_UNWEIGHTED);
  found = read(joints, bad, 2);
  check_read(&found, NULL, NULL, 0, 0, SBS_WEIGHT_UNWEIGHTED | SBS_WEIGHT_NAN | SBS_WEIGHT_NEGATIVE);
}

static void test_sums_are_normalized(void) {
  static const struct {
    double sum;
    unsigned repairs;
  } cases[] = {{1.0, 0},
               {1.0009, 0},
               {0.9991, 0},
               {1.0011, SBS_WEIGHT_OFF_SUM},
               {0.9989, SBS_WEIGHT_OFF_SUM},
               {1e-30, SBS_WEIGHT_OFF_SUM},
               {255.0, SBS_WEIGHT_OFF_SUM}};
  const int32_t joints[] = {1, 2};
  const double expected[] = {0.25, 0.75};
  for (size_t i = 0; i < COUNT(cases); i++) {
    const double weights[] = {0.25 * cases[i].sum, 0.75 * cases[i].sum};
    const sbs_influences found = read(joints, weights, 2);
    check_read(&found, joints, expected, 2, 1, cases[i].repairs);
  }
}

/* Sums beyond the largest double keep the ratios of the weights. */
static void test_huge_weights(void) {
  const int32_t joints[] = {1, 2, 3};
  const double equal[] = {DBL_MAX, DBL_MAX, DBL_MAX}, thirds[] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
  sbs_influences found = read(joints, equal, 3);
  check_read(&found, joints, thirds, 3, 0, SBS_WEIGHT_OFF_SUM);

  const double unequal[] = {1e308, 1.5e308, 0.5e308}, ratios[] = {1.0 / 3.0, 0.5, 1.0 / 6.0};
  found = read(joints, unequal, 3);
  check_read(&found, joints, ratios, 3, 1, SBS_WEIGHT_OFF_SUM);

  const int32_t twice[] = {2, 1, 2}, merged[] = {1, 2};
  const double of_merged[] = {1.0 / 3.0, 2.0 / 3.0};
  found = read(twice, equal, 3);
  check_read(&found, merged, of_merged, 2, 1, SBS_WEIGHT_OFF_SUM | SBS_WEIGHT_DUPLICATE);
}

static void test_tiny_weights(void) {
  const int32_t joints[] = {1, 2};
  const double weights[] = {4.9406564584124654e-324, 1.4821969375237396e-323}, quarters[] = {0.25, 0.75};
  const sbs_influences found = read(joints, weights, 2);
  check_read(&found, joints, quarters, 2, 1, SBS_WEIGHT_OFF_SUM);
}

static void test_ties_go_to_the_lowest_joint(void) {
  const int32_t joints[] = {8, 3, 5, 1};
  const double weights[] = {0.3, 0.3, 0.3, 0.1}, of_sorted[] = {0.1, 0.3, 0.3, 0.3};
  const int32_t sorted[] = {1, 3, 5, 8};
  const sbs_influences found = read(joints, weights, 4);
  check_read(&found, sorted, of_sorted, 4, 1, 0);
}

static void test_float32_weights(void) {
  const int32_t joints[] = {2, 1}, sorted[] = {1, 2};
  const float weights[] = {0.1f, 0.9f};
  const double sum = (double)0.1f + (double)0.9f, expected[] = {(double)0.9f / sum, (double)0.1f / sum};
  const sbs_influences found = read_scalars(joints, weights, SBS_FLOAT32, 2);
  check_read(&found, sorted, expected, 2, 0, 0);
}

static void test_repairs_count_once_in_every_kind(void) {
  sbs_weight_report report = {0};
  sbs_influences_count_repairs(SBS_WEIGHT_NAN, &report);
  sbs_influences_count_repairs(SBS_WEIGHT_INFINITE | SBS_WEIGHT_NAN, &report);
  sbs_influences_count_repairs(SBS_WEIGHT_NEGATIVE | SBS_WEIGHT_UNWEIGHTED, &report);
  sbs_influences_count_repairs(SBS_WEIGHT_OFF_SUM | SBS_WEIGHT_DUPLICATE, &report);
  sbs_influences_count_repairs(0, &report);
  CHECK_EQUAL(report.nan, 2);
  CHECK_EQUAL(report.infinite, 1);
  CHECK_EQUAL(report.negative, 1);
  CHECK_EQUAL(report.unweighted, 1);
  CHECK_EQUAL(report.off_sum, 1);
  CHECK_EQUAL(report.duplicate, 1);
}

int main(void) {
  RUN(test_ascending_joints);
  RUN(test_order_changes_no_bit);
  RUN(test_padding_is_no_influence);
  RUN(test_duplicates_are_added);
  RUN(test_duplicates_of_zero_are_padding);
  RUN(test_bad_weights_are_dropped);
  RUN(test_first_bad_weight_is_named);
  RUN(test_nothing_left_is_unweighted);
  RUN(test_sums_are_normalized);
  RUN(test_huge_weights);
  RUN(test_tiny_weights);
  RUN(test_ties_go_to_the_lowest_joint);
  RUN(test_float32_weights);
  RUN(test_repairs_count_once_in_every_kind);
  return harness_result();
}
