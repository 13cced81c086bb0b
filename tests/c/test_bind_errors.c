/* SPDX-License-Identifier: MIT */
/*
 * Every error of binding with its fault: which argument, where, what value against what limit; outputs stay untouched.
 */
#include "faults.h"

/* sbs_skin_check says the same as binding: status, fault and report. */
static void check_agrees(const subject *made) {
  sbs_skin *skin = NULL;
  sbs_weight_report bound = {7, 7, 7, 7, 7, 7}, checked = bound;
  sbs_fault bind_fault = no_fault, said = no_fault;
  const sbs_status status = sbs_skin_new(&made->desc, &made->options, &skin, &bound, &bind_fault);
  CHECK_EQUAL(sbs_skin_check(&made->desc, &made->options, &checked, &said), status);
  CHECK(memcmp(&bound, &checked, sizeof bound) == 0);
  CHECK_STRING(said.argument, bind_fault.argument);
  CHECK_EQUAL(said.index_count, bind_fault.index_count);
  CHECK_EQUAL(said.index[0], bind_fault.index[0]);
  CHECK_EQUAL(said.index[1], bind_fault.index[1]);
  CHECK_EQUAL(sbs_skin_check(&made->desc, &made->options, NULL, NULL), status);
  if (status == SBS_OK) sbs_skin_free(skin);
}

/* Binds, and sees to it that errors leave the outputs as they were, with or without a fault to write to. */
static sbs_fault bind(const subject *made, sbs_status expected) {
  check_agrees(made);
  sbs_skin *const before = (sbs_skin *)(void *)&before;
  sbs_skin *skin = before;
  sbs_weight_report report = {7, 7, 7, 7, 7, 7};
  const sbs_weight_report report_before = report;
  sbs_fault fault = no_fault;
  CHECK_STRING(sbs_status_string(sbs_skin_new(&made->desc, &made->options, &skin, &report, &fault)),
               sbs_status_string(expected));
  if (expected == SBS_OK) {
    CHECK(skin != before);
    check_untouched_fault(&fault);
    sbs_skin_free(skin);
    return fault;
  }
  CHECK(skin == before);
  CHECK(memcmp(&report, &report_before, sizeof report) == 0);
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, &skin, NULL, NULL), expected);
  CHECK(skin == before);
  return fault;
}

static void check_bind(const subject *made, sbs_status expected, const char *argument) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 0, 0, 0, 0.0, 0.0);
}

static void check_bind_number(const subject *made, sbs_status expected, const char *argument, double value,
                              double limit) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 0, 0, 0, value, limit);
}

static void check_bind_at(const subject *made, sbs_status expected, const char *argument, size_t row, size_t column,
                          double value, double limit) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 2, row, column, value, limit);
}

static void check_bind_row(const subject *made, sbs_status expected, const char *argument, size_t row, double value,
                           double limit) {
  const sbs_fault fault = bind(made, expected);
  check_fault(&fault, argument, 1, row, 0, value, limit);
}

static void test_no_error(void) {
  subject *made = new_subject();
  bind(made, SBS_OK);
  made->desc.rest_normals = NULL;
  made->desc.parents = NULL;
  made->desc.joint_positions = NULL;
  bind(made, SBS_OK);
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&made->desc, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_skin_free(skin);
}

static void test_null(void) {
  subject *made = new_subject();
  sbs_skin *skin = NULL;
  sbs_fault fault = no_fault;
  CHECK_EQUAL(sbs_skin_new(NULL, &made->options, &skin, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "desc", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, NULL, NULL, &fault), SBS_ERROR_NULL);
  check_fault(&fault, "skin", 0, 0, 0, 0.0, 0.0);
  CHECK_EQUAL(sbs_skin_new(NULL, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_check(NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_skin_check(&made->desc, NULL, NULL, NULL), SBS_OK);

  (made = new_subject())->desc.rest_positions = NULL;
  check_bind(made, SBS_ERROR_NULL, "rest_positions");
  (made = new_subject())->desc.joint_indices = NULL;
  check_bind(made, SBS_ERROR_NULL, "joint_indices");
  (made = new_subject())->desc.joint_weights = NULL;
  check_bind(made, SBS_ERROR_NULL, "joint_weights");
  (made = new_subject())->options.allocator.allocate = NULL;
  check_bind(made, SBS_ERROR_NULL, "allocator.allocate");
  (made = new_subject())->options.allocator.release = NULL;
  check_bind(made, SBS_ERROR_NULL, "allocator.release");
}

static void test_empty(void) {
  subject *made = new_subject();
  made->desc.vertex_count = 0;
  check_bind(made, SBS_ERROR_EMPTY, "vertex_count");
  (made = new_subject())->desc.joint_count = 0;
  check_bind(made, SBS_ERROR_EMPTY, "joint_count");
  (made = new_subject())->desc.influences_per_vertex = 0;
  check_bind(made, SBS_ERROR_EMPTY, "influences_per_vertex");
  made->desc = sbs_default_skin_desc();
  bind(made, SBS_ERROR_NULL);
}

static void test_too_large(void) {
  const size_t most = INT32_MAX - 16;
  const size_t counts[] = {most + 1, INT32_MAX, (size_t)INT32_MAX + 1, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    subject *made = new_subject();
    made->desc.vertex_count = counts[i];
    check_bind_number(made, SBS_ERROR_TOO_LARGE, "vertex_count", (double)counts[i], (double)most);
    (made = new_subject())->desc.joint_count = counts[i];
    check_bind_number(made, SBS_ERROR_TOO_LARGE, "joint_count", (double)counts[i], (double)most);
  }
  subject *made = new_subject();
  const size_t influences = SIZE_MAX / sizeof(double) / VERTICES;
  made->desc.influences_per_vertex = influences + 1;
  check_bind_number(made, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)influences, (double)influences);
}

static void test_option(void) {
  subject *made = new_subject();
  made->desc.scalar = (sbs_scalar)2;
  check_bind_number(made, SBS_ERROR_OPTION, "scalar", 2.0, 0.0);
  (made = new_subject())->desc.weight_scalar = (sbs_scalar)7;
  check_bind_number(made, SBS_ERROR_OPTION, "weight_scalar", 7.0, 0.0);
  (made = new_subject())->options.sum_tolerance = -1e-9;
  check_bind_number(made, SBS_ERROR_OPTION, "sum_tolerance", -1e-9, 0.0);
  (made = new_subject())->options.sum_tolerance = NAN;
  check_bind_number(made, SBS_ERROR_OPTION, "sum_tolerance", NAN, 0.0);
  (made = new_subject())->options.sum_tolerance = INFINITY;
  bind(made, SBS_OK);
}

static void test_stride(void) {
  subject *made = new_subject();
  const size_t strides[] = {1, 8, 11, 13, 14};
  for (int i = 0; i < 5; i++) {
    (made = new_subject())->desc.rest_positions_stride = strides[i];
    check_bind_number(made, SBS_ERROR_STRIDE, "rest_positions_stride", (double)strides[i], 12.0);
    (made = new_subject())->desc.rest_normals_stride = strides[i];
    check_bind_number(made, SBS_ERROR_STRIDE, "rest_normals_stride", (double)strides[i], 12.0);
  }
  (made = new_subject())->desc.rest_normals_stride = 12;
  bind(made, SBS_OK);
}

static void test_not_finite(void) {
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    for (size_t axis = 0; axis < 3; axis++) {
      subject *made = new_subject();
      made->positions[2][axis] = bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "rest_positions", 2, axis, (double)bad[i], 0.0);
      (made = new_subject())->normals[1][axis] = bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "rest_normals", 1, axis, (double)bad[i], 0.0);
      (made = new_subject())->joint_positions[3][axis] = (double)bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "joint_positions", 3, axis, (double)bad[i], 0.0);
      double centers[VERTICES][3] = {{0.0}};
      (made = new_subject())->desc.centers = centers[0];
      centers[2][axis] = (double)bad[i];
      check_bind_at(made, SBS_ERROR_NOT_FINITE, "centers", 2, axis, (double)bad[i], 0.0);
    }
  }
}

static void test_joint_index(void) {
  const int32_t bad[] = {-1, JOINTS, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 4; i++) {
    subject *made = new_subject();
    made->joint_indices[1][1] = bad[i]; /* of weight 0: padding must be in range, too */
    check_bind_at(made, SBS_ERROR_JOINT_INDEX, "joint_indices", 1, 1, (double)bad[i], JOINTS);
    made->joint_indices[0][1] = bad[i]; /* the first is told */
    check_bind_at(made, SBS_ERROR_JOINT_INDEX, "joint_indices", 0, 1, (double)bad[i], JOINTS);
  }
}

static void test_parent(void) {
  const int32_t out_of_range[] = {-2, JOINTS, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 4; i++) {
    subject *made = new_subject();
    made->parents[2] = out_of_range[i];
    check_bind_row(made, SBS_ERROR_PARENT, "parents", 2, (double)out_of_range[i], JOINTS);
  }
  subject *made = new_subject();
  made->parents[2] = 2;
  check_bind_row(made, SBS_ERROR_PARENT, "parents", 2, 2.0, JOINTS);

  made = new_subject(); /* 3 hangs on the circle 0 -> 2 -> 1 -> 0: a member of the circle is told */
  memcpy(made->parents, (int32_t[]){2, 0, 1, 1}, sizeof made->parents);
  const sbs_fault fault = bind(made, SBS_ERROR_PARENT);
  check_fault(&fault, "parents", 1, fault.index[0], 0, (double)made->parents[fault.index[0] % JOINTS], JOINTS);
  CHECK(fault.index[0] < 3);

  made = new_subject(); /* parents may follow their children */
  memcpy(made->parents, (int32_t[]){3, 0, 1, -1}, sizeof made->parents);
  bind(made, SBS_OK);
}

/* A chain is walked once, from whichever end its numbers start; and a circle at its far end is found. */
static void test_deep_chains(void) {
  enum {
    CHAIN = 200000
  };
  int32_t *parents = malloc(CHAIN * sizeof *parents);
  if (!parents) abort();
  subject *made = new_subject();
  made->desc.joint_count = CHAIN;
  made->desc.parents = parents;
  made->desc.joint_positions = NULL;
  for (int32_t j = 0; j < CHAIN; j++) parents[j] = j - 1;
  bind(made, SBS_OK);
  for (int32_t j = 0; j < CHAIN; j++) parents[j] = j + 1 < CHAIN ? j + 1 : -1;
  bind(made, SBS_OK);
  parents[CHAIN - 1] = CHAIN - 1;
  check_bind_row(made, SBS_ERROR_PARENT, "parents", CHAIN - 1, CHAIN - 1, CHAIN);
  parents[CHAIN - 1] = 0;
  bind(made, SBS_ERROR_PARENT);
  free(parents);
}

static void test_weight_under_strict(void) {
  static const struct {
    float weights[INFLUENCES];
    int index_count;
    size_t column;
  } cases[] = {
      {{0.5f, NAN}, 2, 1},  {{INFINITY, 0.5f}, 2, 0}, {{1.0f, -0.5f}, 2, 1},
      {{0.0f, 0.0f}, 1, 0}, {{0.25f, 0.5f}, 1, 0},    {{0.5f, 0.6f}, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject *made = new_subject();
    memcpy(made->weights[2], cases[i].weights, sizeof made->weights[2]);
    bind(made, SBS_OK);
    made->options.strict = 1;
    const sbs_fault fault = bind(made, SBS_ERROR_WEIGHT);
    /* one weight is shown where it alone is to blame */
    const double value = cases[i].index_count == 2 ? (double)cases[i].weights[cases[i].column] : 0.0;
    check_fault(&fault, "joint_weights", cases[i].index_count, 2, cases[i].column, value, 0.0);
  }
  subject *made = new_subject();
  made->joint_indices[2][0] = made->joint_indices[2][1];
  bind(made, SBS_OK);
  made->options.strict = 1;
  check_bind_row(made, SBS_ERROR_WEIGHT, "joint_weights", 2, 0.0, 0.0);

  made = new_subject();
  made->options.strict = 1;
  bind(made, SBS_OK);
  made->options.sum_tolerance = 0.3;
  made->weights[2][0] = 0.0f;
  bind(made, SBS_OK); /* 0.75 is within 0.3 of 1 */
}

static void test_counts_repairs(void) {
  subject *made = new_subject();
  memcpy(made->weights, (float[VERTICES][INFLUENCES]){{NAN, -1.0f}, {1.0f, INFINITY}, {0.5f, 0.1f}},
         sizeof made->weights);
  made->joint_indices[2][0] = made->joint_indices[2][1];
  sbs_skin *skin = NULL;
  sbs_weight_report report = {7, 7, 7, 7, 7, 7};
  CHECK_EQUAL(sbs_skin_new(&made->desc, &made->options, &skin, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.nan, 1);
  CHECK_EQUAL(report.infinite, 1);
  CHECK_EQUAL(report.negative, 1);
  CHECK_EQUAL(report.unweighted, 1);
  CHECK_EQUAL(report.off_sum, 1);
  CHECK_EQUAL(report.duplicate, 1);
  sbs_skin_free(skin);
}

int main(void) {
  RUN(test_no_error);
  RUN(test_null);
  RUN(test_empty);
  RUN(test_too_large);
  RUN(test_option);
  RUN(test_stride);
  RUN(test_not_finite);
  RUN(test_joint_index);
  RUN(test_parent);
  RUN(test_deep_chains);
  RUN(test_weight_under_strict);
  RUN(test_counts_repairs);
  return harness_result();
}
