/* SPDX-License-Identifier: MIT */
/* The influences of a vertex: sorted, merged, repaired and normalized, whatever their order. */
#include <float.h>
#include <math.h>

#include "base/scalar.h"
#include "harness.h"
#include "skin/influences.h"

enum {
  MOST = 5
};

static int32_t joints_read[MOST];
static double weights_read[MOST];

static sbs_influences read(const int32_t *joints, const void *weights, sbs_scalar scalar, size_t count) {
  sbs_influences influences = {.joints = joints_read, .weights = weights_read};
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.influences_per_vertex = count;
  desc.joint_indices = joints;
  desc.joint_weights = weights;
  desc.weight_scalar = scalar;
  sbs_influences_read(&desc, 1e-3, 0, &influences);
  return influences;
}

static void test_known_answers(void) {
  enum {
    NANS = SBS_WEIGHT_NAN,
    INFINITE = SBS_WEIGHT_INFINITE,
    NEGATIVE = SBS_WEIGHT_NEGATIVE,
    NONE = SBS_WEIGHT_UNWEIGHTED,
    OFF = SBS_WEIGHT_OFF_SUM,
    TWICE = SBS_WEIGHT_DUPLICATE
  };
  static const double third = 1.0 / 3.0, tiny = 4.9406564584124654e-324;
  const struct {
    size_t count;
    int32_t joints[4];
    double weights[4];
    size_t kept; /* how many are left, and the heaviest of them */
    int32_t kept_joints[4];
    double kept_weights[4];
    size_t heaviest;
    unsigned repairs;
  } cases[] = {
      {3, {7, 2, 5}, {0.5, 0.2, 0.3}, 3, {2, 5, 7}, {0.2, 0.3, 0.5}, 2, 0},
      {4, {4, 0, 2, 0}, {0.25, 0.0, 0.75, -0.0}, 2, {2, 4}, {0.75, 0.25}, 0, 0}, /* padding */
      {3, {6, 1, 6}, {0.3, 0.4, 0.3}, 2, {1, 6}, {0.4, 0.6}, 1, TWICE},          /* heaviest only after merging */
      {3, {6, 6, 6}, {0.0, 1.0, 0.0}, 1, {6}, {1.0}, 0, 0},
      {4, {8, 3, 5, 1}, {0.3, 0.3, 0.3, 0.1}, 4, {1, 3, 5, 8}, {0.1, 0.3, 0.3, 0.3}, 1, 0}, /* ties: the lowest */
      {3, {1, 2, 3}, {0.5, NAN, 0.5}, 2, {1, 3}, {0.5, 0.5}, 0, NANS},
      {3, {1, 2, 3}, {0.5, -INFINITY, 0.5}, 2, {1, 3}, {0.5, 0.5}, 0, INFINITE},
      {3, {1, 2, 3}, {0.5, -tiny, 0.5}, 2, {1, 3}, {0.5, 0.5}, 0, NEGATIVE},
      {4, {1, 2, 3, 4}, {1.0, -1.0, NAN, INFINITY}, 1, {1}, {1.0}, 0, NANS | INFINITE | NEGATIVE},
      {2, {1, 2}, {0.0, 0.0}, 0, {0}, {0}, 0, NONE},
      {2, {1, 2}, {NAN, -1.0}, 0, {0}, {0}, 0, NONE | NANS | NEGATIVE},
      {2, {1, 2}, {0.25 * 1.0009, 0.75 * 1.0009}, 2, {1, 2}, {0.25, 0.75}, 1, 0},
      {2, {1, 2}, {0.25 * 0.9989, 0.75 * 0.9989}, 2, {1, 2}, {0.25, 0.75}, 1, OFF},
      {2, {1, 2}, {0.25e-30, 0.75e-30}, 2, {1, 2}, {0.25, 0.75}, 1, OFF},
      {2, {1, 2}, {tiny, 3 * tiny}, 2, {1, 2}, {0.25, 0.75}, 1, OFF},
      {3, {1, 2, 3}, {1e308, 1.5e308, 0.5e308}, 3, {1, 2, 3}, {third, 0.5, 0.5 * third}, 1, OFF},
      {3, {2, 1, 2}, {DBL_MAX, DBL_MAX, DBL_MAX}, 2, {1, 2}, {third, 2 * third}, 1, OFF | TWICE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const sbs_influences found = read(cases[i].joints, cases[i].weights, SBS_FLOAT64, cases[i].count);
    CHECK_EQUAL(found.repairs, cases[i].repairs);
    CHECK_EQUAL(found.heaviest, cases[i].heaviest);
    if (cases[i].repairs & (NANS | INFINITE | NEGATIVE)) CHECK_EQUAL(found.fault, cases[i].repairs & NONE ? 0 : 1);
    if (!CHECK_EQUAL(found.count, cases[i].kept)) continue;
    for (size_t k = 0; k < found.count; k++) {
      CHECK_EQUAL(found.joints[k], cases[i].kept_joints[k]);
      CHECK_NEAR(found.weights[k], cases[i].kept_weights[k], 2.0 * DBL_EPSILON); /* one sum and one division */
    }
  }
  const float singles[] = {0.1f, 0.9f};
  read((const int32_t[]){2, 1}, singles, SBS_FLOAT32, 2);
  CHECK_NEAR(weights_read[0], (double)0.9f / ((double)0.1f + (double)0.9f), 2.0 * DBL_EPSILON);
}

/* Rotations and swaps give all orders of three weights of joint 3, whose sum depends on the order of adding. */
static void test_order_changes_no_bit(void) {
  static const int32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const double weights[] = {0.1, 0.2, 0.3};
  double first[3];
  CHECK((weights[0] + weights[1]) + weights[2] != weights[0] + (weights[1] + weights[2]));
  for (size_t i = 0; i < 5 * 6; i++) {
    int32_t joints[5];
    double ordered[5];
    for (size_t k = 0; k < 5; k++) { /* two equal weights of others stand anywhere between */
      const size_t at = (k + i / 6) % 5;
      joints[at] = k < 3 ? 3 : k == 3 ? 9 : 1;
      ordered[at] = k < 3 ? weights[orders[i % 6][k]] : 0.7;
    }
    const sbs_influences found = read(joints, ordered, SBS_FLOAT64, 5);
    CHECK_EQUAL(found.count, 3);
    CHECK_EQUAL(found.heaviest, 0); /* joints 1 and 9 are equally heavy: the lower */
    CHECK(joints_read[0] == 1 && joints_read[1] == 3 && joints_read[2] == 9);
    if (i == 0) memcpy(first, weights_read, sizeof first);
    CHECK(memcmp(weights_read, first, sizeof first) == 0);
  }
}

int main(void) {
  RUN(test_known_answers);
  RUN(test_order_changes_no_bit);
  return harness_result();
}
