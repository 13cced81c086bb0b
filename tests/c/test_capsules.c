/* SPDX-License-Identifier: MIT */
/*
 * Capsule weights: strides, threads, and all that can be wrong. tests/python holds the weights against a reference.
 */
#include <sbs/capsules.h>

#include "rig.h"

enum {
  POINTS = 4
};

/* Bone 0 along x from 0 to 4, bone 1 up from there, and a sphere around (2, 0, 8). */
static const double heads[3][3] = {{0, 0, 0}, {4, 0, 0}, {2, 0, 8}};
static const double tails[3][3] = {{4, 0, 0}, {4, 4, 0}, {2, 0, 8}};
static const double inner_radii[3][2] = {{1, 1}, {1, 1}, {0, 0}};
static const double outer_radii[3][2] = {{3, 3}, {3, 3}, {2, 2}};

static const double points[POINTS][3] = {
    {0.5, 0.25, 0},  /* in the inner capsule of bone 0 */
    {3.25, 0.25, 0}, /* in two inner ones, at 1/4 and 3/4 */
    {2, 1.5, 0},     /* in two outer ones: k = (3/4) / (3/2) and (1/2) / 2 */
    {2, 0, 20},      /* in none; nearest to the sphere */
};

static sbs_capsules three_capsules(void) {
  return (sbs_capsules){3, heads[0], tails[0], inner_radii[0], outer_radii[0], NULL, NULL, NULL};
}

/* float32 with a stride, and dense. */
static void test_known_answers(void) {
  const float expected[POINTS][3] = {{1, 0, 0}, {0.75f, 0.25f, 0}, {2 / 3.0f, 1 / 3.0f, 0}, {0, 0, 0}};
  float rows[POINTS][5], weights[POINTS][3];
  memset(rows, 0xff, sizeof rows);
  for (int i = 0; i < POINTS; i++) {
    for (int axis = 0; axis < 3; axis++) rows[i][axis] = (float)points[i][axis];
  }
  const sbs_capsules capsules = three_capsules();
  const sbs_capsules_points given = {POINTS, SBS_FLOAT32, rows, sizeof rows[0]};
  sbs_capsules_options options = sbs_default_capsules_options();
  sbs_capsules_report report;
  options.outside = SBS_CAPSULES_OUTSIDE_UNWEIGHTED;
  CHECK_EQUAL(sbs_capsules_weights(&capsules, &given, &options, 0, NULL, NULL, &report, NULL), SBS_OK); /* counts */
  CHECK(report.outside == 1 && report.max_influences == 2);
  CHECK_EQUAL(sbs_capsules_weights_dense(&capsules, &given, &options, 0, weights[0], NULL, NULL), SBS_OK);
  for (int i = 0; i < POINTS; i++) {
    for (int j = 0; j < 3; j++) CHECK(weights[i][j] == expected[i][j]);
  }
  CHECK_EQUAL(sbs_capsules_weights_dense(&capsules, &given, &options, 1, weights[0], NULL, NULL), SBS_OK);
  CHECK(weights[2][0] == 1.0f && weights[2][1] == 0.0f);
}

/* Enough points for several threads, in no order. */
static void test_threads_change_no_bit(void) {
  enum {
    MANY = 5000,
    K = 3
  };
  static double cloud[MANY][3], weights[MANY][K], again[MANY][K];
  static int32_t indices[MANY][K], indices_again[MANY][K];
  uint64_t seed = 1;
  for (int i = 0; i < MANY; i++) {
    for (int axis = 0; axis < 3; axis++) cloud[i][axis] = random_between(&seed, -2.0, 9.0);
  }
  const sbs_capsules capsules = three_capsules();
  const sbs_capsules_points given = {MANY, SBS_FLOAT64, cloud, 0};
  sbs_capsules_options options = sbs_default_capsules_options();
  options.threads = 1;
  CHECK_EQUAL(sbs_capsules_weights(&capsules, &given, &options, K, indices[0], weights[0], NULL, NULL), SBS_OK);
  for (options.threads = 0; options.threads < 5; options.threads++) {
    sbs_capsules_report report;
    memset(again, 0xff, sizeof again);
    CHECK_EQUAL(sbs_capsules_weights(&capsules, &given, &options, K, indices_again[0], again[0], &report, NULL),
                SBS_OK);
    CHECK(memcmp(indices, indices_again, sizeof indices) == 0);
    CHECK(memcmp(weights, again, sizeof weights) == 0);
    CHECK(report.outside > 0 && report.outside < MANY);
  }
}

/* -------------------------------------------------------------------------------------------------------- errors -- */

/* Arguments of a call, and its outputs. */
typedef struct attempt {
  double heads[3][3], tails[3][3], inner[3][2], outer[3][2], multipliers[3], points[POINTS][3];
  unsigned char enabled[3];
  int32_t falloffs[3];
  sbs_capsules capsules;
  sbs_capsules_points given;
  sbs_capsules_options options;
  int32_t indices[POINTS][2];
  double weights[POINTS][3];
  void *weights_out;
} attempt;

static void start(attempt *made) {
  memset(made, 0, sizeof *made);
  memcpy(made->heads, heads, sizeof heads);
  memcpy(made->tails, tails, sizeof tails);
  memcpy(made->inner, inner_radii, sizeof inner_radii);
  memcpy(made->outer, outer_radii, sizeof outer_radii);
  memcpy(made->points, points, sizeof points);
  for (int j = 0; j < 3; j++) made->multipliers[j] = made->enabled[j] = 1;
  made->capsules = (sbs_capsules){3,
                                  made->heads[0],
                                  made->tails[0],
                                  made->inner[0],
                                  made->outer[0],
                                  made->multipliers,
                                  made->enabled,
                                  made->falloffs};
  made->given = (sbs_capsules_points){POINTS, SBS_FLOAT64, made->points, 0};
  made->options = sbs_default_capsules_options();
  made->weights_out = made->weights[0];
}

/* Both functions fail alike, and write nothing; so does the check, where capsules are to blame. */
static void fail_with(attempt *made, sbs_status expected, const char *argument, int index_count, size_t row,
                      size_t column) {
  attempt before;
  memcpy(&before, made, sizeof before); /* padding, too */
  const sbs_capsules_report unwritten = {77, 77};
  for (int call = sbs_capsules_check(&made->capsules, NULL) != SBS_OK ? 0 : 1; call < 3; call++) {
    sbs_capsules_report report = unwritten;
    sbs_fault fault = {0};
    const sbs_status status = call == 0   ? sbs_capsules_check(&made->capsules, &fault)
                              : call == 1 ? sbs_capsules_weights(&made->capsules, &made->given, &made->options, 2,
                                                                 made->indices[0], made->weights_out, &report, &fault)
                                          : sbs_capsules_weights_dense(&made->capsules, &made->given, &made->options, 2,
                                                                       made->weights_out, &report, &fault);
    CHECK_EQUAL(status, expected);
    CHECK_STRING(fault.argument, argument);
    CHECK_EQUAL(fault.index_count, index_count);
    if (index_count > 0) CHECK_EQUAL(fault.index[0], row);
    if (index_count > 1) CHECK_EQUAL(fault.index[1], column);
    CHECK(memcmp(&before, made, sizeof before) == 0 && memcmp(&report, &unwritten, sizeof report) == 0);
  }
}

#define FAILS(change, status, ...) \
  do { \
    attempt made; \
    start(&made); \
    change; \
    fail_with(&made, status, __VA_ARGS__); \
  } while (0)

static void test_bad_capsules(void) {
  FAILS(made.capsules.heads = NULL, SBS_ERROR_NULL, "heads", 0, 0, 0);
  FAILS(made.capsules.tails = NULL, SBS_ERROR_NULL, "tails", 0, 0, 0);
  FAILS(made.capsules.inner_radii = NULL, SBS_ERROR_NULL, "inner_radii", 0, 0, 0);
  FAILS(made.capsules.outer_radii = NULL, SBS_ERROR_NULL, "outer_radii", 0, 0, 0);
  FAILS(made.capsules.capsule_count = 0, SBS_ERROR_EMPTY, "capsule_count", 0, 0, 0);
  FAILS(made.capsules.capsule_count = (size_t)INT32_MAX + 1, SBS_ERROR_TOO_LARGE, "capsule_count", 0, 0, 0);
  FAILS(made.heads[1][2] = NAN, SBS_ERROR_NOT_FINITE, "heads", 2, 1, 2);
  FAILS(made.tails[2][0] = -INFINITY, SBS_ERROR_NOT_FINITE, "tails", 2, 2, 0);
  FAILS(made.inner[1][1] = NAN, SBS_ERROR_NOT_FINITE, "inner_radii", 2, 1, 1);
  FAILS(made.outer[0][1] = INFINITY, SBS_ERROR_NOT_FINITE, "outer_radii", 2, 0, 1);
  FAILS(made.inner[0][0] = -1, SBS_ERROR_NEGATIVE, "inner_radii", 2, 0, 0);
  FAILS(made.outer[2][1] = -1, SBS_ERROR_NEGATIVE, "outer_radii", 2, 2, 1);
  FAILS(made.inner[2][1] = 2.5, SBS_ERROR_RADIUS, "inner_radii", 2, 2, 1);
  FAILS(made.multipliers[1] = NAN, SBS_ERROR_NOT_FINITE, "multipliers", 1, 1, 0);
  FAILS(made.multipliers[2] = -1, SBS_ERROR_NEGATIVE, "multipliers", 1, 2, 0);
  FAILS(made.falloffs[1] = 3, SBS_ERROR_OPTION, "falloffs", 1, 1, 0);
  FAILS(made.falloffs[2] = -2, SBS_ERROR_OPTION, "falloffs", 1, 2, 0);
  CHECK_EQUAL(sbs_capsules_check(NULL, NULL), SBS_ERROR_NULL);
}

static void test_bad_points(void) {
  FAILS(made.given.points = NULL, SBS_ERROR_NULL, "points", 0, 0, 0);
  FAILS(made.given.point_count = 0, SBS_ERROR_EMPTY, "point_count", 0, 0, 0);
  FAILS(made.given.point_count = (size_t)INT32_MAX + 1, SBS_ERROR_TOO_LARGE, "point_count", 0, 0, 0);
  FAILS(made.given.scalar = (sbs_scalar)2, SBS_ERROR_OPTION, "scalar", 0, 0, 0);
  FAILS(made.given.points_stride = 23, SBS_ERROR_STRIDE, "points_stride", 0, 0, 0);
  FAILS(made.given.points_stride = 28, SBS_ERROR_STRIDE, "points_stride", 0, 0, 0);
  FAILS(made.points[2][1] = NAN, SBS_ERROR_NOT_FINITE, "points", 2, 2, 1);
}

static void test_bad_options(void) {
  FAILS(made.options.falloff = (sbs_capsules_falloff)3, SBS_ERROR_OPTION, "falloff", 0, 0, 0);
  FAILS(made.options.falloff = (sbs_capsules_falloff)-1, SBS_ERROR_OPTION, "falloff", 0, 0, 0);
  FAILS(made.options.outside = (sbs_capsules_outside)3, SBS_ERROR_OPTION, "outside", 0, 0, 0);
  FAILS(made.options.threads = -1, SBS_ERROR_OPTION, "threads", 0, 0, 0);
  FAILS(made.options.allocator.allocate = NULL, SBS_ERROR_NULL, "allocator.allocate", 0, 0, 0);
  FAILS(made.options.allocator.release = NULL, SBS_ERROR_NULL, "allocator.release", 0, 0, 0);
  FAILS(made.weights_out = NULL, SBS_ERROR_NULL, "joint_weights", 0, 0, 0);
  FAILS(memset(made.enabled, 0, 3), SBS_ERROR_EMPTY, "enabled", 0, 0, 0);
}

static void test_bad_output(void) {
  attempt made;
  sbs_fault fault;
  start(&made);
#define WEIGH(given, columns, indices) \
  sbs_capsules_weights(&made.capsules, given, NULL, columns, indices, made.weights[0], NULL, &fault)
  CHECK_REFUSED(WEIGH(&made.given, 2, NULL), SBS_ERROR_NULL, "joint_indices");
  CHECK_REFUSED(WEIGH(&made.given, 0, made.indices[0]), SBS_ERROR_EMPTY, "influences_per_vertex");
  CHECK_REFUSED(WEIGH(&made.given, SIZE_MAX / 8, made.indices[0]), SBS_ERROR_TOO_LARGE, "influences_per_vertex");
  CHECK_REFUSED(WEIGH(NULL, 1, made.indices[0]), SBS_ERROR_NULL, "points");
#undef WEIGH
  made.options.outside = SBS_CAPSULES_OUTSIDE_ERROR;
  CHECK_EQUAL(sbs_capsules_weights(&made.capsules, &made.given, &made.options, 0, NULL, NULL, NULL, &fault),
              SBS_ERROR_UNWEIGHTED);
  CHECK(fault.index[0] == 3 && fault.value == 1.0 && fault.limit == POINTS);
}

int main(void) {
  RUN(test_known_answers);
  RUN(test_threads_change_no_bit);
  RUN(test_bad_capsules);
  RUN(test_bad_points);
  RUN(test_bad_options);
  RUN(test_bad_output);
  return harness_result();
}
