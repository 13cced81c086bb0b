/* SPDX-License-Identifier: MIT */
/* Tools for weights: in place, with arguments that Python cannot pass, and at the limits of numbers. */
#include <sbs/influences.h>

#include <float.h>
#include <math.h>

#include "rig.h"

/* ------------------------------------------------------------------------------------------------------------ clean */

static const int32_t indices[3][3] = {{2, 0, 1}, {1, 1, 0}, {0, 0, 0}};
static const double weights[3][3] = {{0.5, 0.25, 1.25}, {0.25, 0.25, 0.5}, {0.0, 0.0, 0.0}};

static sbs_influences_table small_table(void) {
  return (sbs_influences_table){.vertex_count = 3,
                                .joint_count = 3,
                                .influences_per_vertex = 3,
                                .joint_indices = indices[0],
                                .scalar = SBS_FLOAT64,
                                .joint_weights = weights[0]};
}

static void check_rows(const int32_t *found_indices, const double *found_weights, const int32_t *expected_indices,
                       const double *expected_weights, size_t count) {
  for (size_t i = 0; i < count; i++) {
    CHECK_EQUAL(found_indices[i], expected_indices[i]);
    CHECK(found_weights[i] == expected_weights[i]); /* shares of powers of two: exact */
  }
}

static void test_in_place(void) {
  int32_t joint_indices[9];
  double joint_weights[9];
  memcpy(joint_indices, indices, sizeof indices);
  memcpy(joint_weights, weights, sizeof weights);
  sbs_influences_table table = small_table();
  table.joint_indices = joint_indices;
  table.joint_weights = joint_weights;
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  options.normalize = 0;
  options.threshold = 0.5;
  const int32_t expected_indices[] = {1, 2, 0, 0, 1, 0, 0, 0, 0};
  const double expected_weights[] = {1.25, 0.5, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0};
  CHECK_EQUAL(sbs_influences_clean(&table, &options, joint_indices, joint_weights, NULL, NULL), SBS_OK);
  check_rows(joint_indices, joint_weights, expected_indices, expected_weights, 9);
}

static void test_clean_refuses(void) {
  sbs_influences_table table = small_table();
  int32_t i[9] = {-7};
  double w[9] = {-7.0};
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_influences_clean(NULL, NULL, i, w, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, NULL, w, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, NULL, NULL, &fault), SBS_ERROR_NULL);
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  options.allocator.release = NULL;
  CHECK_EQUAL(sbs_influences_clean(&table, &options, i, w, NULL, &fault), SBS_ERROR_NULL);
  table.joint_indices = NULL;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_NULL);
  table = small_table();
  table.joint_weights = NULL;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_NULL);
  table = small_table();
  table.vertex_count = 0;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_EMPTY);
  table.vertex_count = (size_t)INT32_MAX + 1;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_TOO_LARGE);
  table = small_table();
  table.influences_per_vertex = SIZE_MAX / 2;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_TOO_LARGE);
  table = small_table();
  table.joint_count = 0;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_EMPTY);
  table.joint_count = SIZE_MAX;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_TOO_LARGE);
  table = small_table();
  table.scalar = (sbs_scalar)9;
  CHECK_EQUAL(sbs_influences_clean(&table, NULL, i, w, NULL, &fault), SBS_ERROR_OPTION);
  table = small_table();
  CHECK(i[0] == -7 && w[0] == -7.0);
}

/* ------------------------------------------------------------------------------------------------------------- tidy */

static void test_tidies(void) {
  const int32_t given_indices[4][3] = {{2, 0, 2}, {1, 0, 2}, {2, 1, 1}, {0, 1, 0}};
  const double given_weights[4][3] = {
      {0.5, 1.0, 0.5}, {NAN, -1.0, INFINITY}, {1.0, 0.25, 0.75}, {DBL_MAX, DBL_MAX, 0.0}};
  sbs_influences_table table = small_table();
  table.vertex_count = 4;
  table.joint_indices = given_indices[0];
  table.joint_weights = given_weights[0];
  const int32_t expected_indices[] = {0, 2, 0, 0, 0, 0, 1, 2, 0, 0, 1, 0}; /* ties by joint */
  const double expected_weights[] = {0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.5, 0.5, 0.0};
  int32_t found_indices[12];
  double found_weights[12];
  size_t most = 0;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_influences_tidy(&table, found_indices, found_weights, &most, &fault), SBS_OK);
  check_rows(found_indices, found_weights, expected_indices, expected_weights, 12);
  CHECK_EQUAL(most, 2);
  CHECK_EQUAL(sbs_influences_tidy(&table, found_indices, found_weights, NULL, NULL), SBS_OK);

  CHECK_EQUAL(sbs_influences_tidy(NULL, found_indices, found_weights, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_tidy(&table, NULL, found_weights, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_tidy(&table, found_indices, NULL, NULL, &fault), SBS_ERROR_NULL);
  table.vertex_count = 0;
  CHECK_EQUAL(sbs_influences_tidy(&table, found_indices, found_weights, NULL, &fault), SBS_ERROR_EMPTY);
}

/* Of one joint more than the largest number: ratios stay, and nothing is infinite. */
static void test_sums_of_duplicates_beyond_the_largest_number(void) {
  static const float largest[3] = {FLT_MAX, FLT_MAX, FLT_MAX};
  static const double largest_doubles[3] = {DBL_MAX, DBL_MAX, DBL_MAX};
  static const int32_t joints[3] = {0, 1, 1};
  sbs_influences_table table = {
      .vertex_count = 1, .joint_count = 2, .influences_per_vertex = 3, .joint_indices = joints};
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  options.normalize = 0;
  int32_t found[3];
  float shares[3];
  table.joint_weights = largest;
  table.scalar = SBS_FLOAT32;
  CHECK_EQUAL(sbs_influences_clean(&table, &options, found, shares, NULL, NULL), SBS_OK);
  CHECK(found[0] == 1 && shares[0] == FLT_MAX && shares[1] == FLT_MAX / 2.0f);
  double double_shares[3];
  table.joint_weights = largest_doubles;
  table.scalar = SBS_FLOAT64;
  CHECK_EQUAL(sbs_influences_clean(&table, &options, found, double_shares, NULL, NULL), SBS_OK);
  CHECK(found[0] == 1 && double_shares[0] == DBL_MAX && double_shares[1] == DBL_MAX / 2.0);
}

/* ----------------------------------------------------------------------------------------------------------- smooth */

/* A square of two triangles; its last vertex stands where the first does, in no triangle. */
static const double positions[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 0}};
static const int32_t triangles[2][3] = {{0, 1, 2}, {1, 3, 2}};
static const int32_t square_indices[5] = {0, 1, 1, 1, 0};
static const double square_weights[5] = {1, 1, 1, 1, 1};

static sbs_mesh_desc square(void) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  mesh.vertex_count = 5;
  mesh.scalar = SBS_FLOAT64;
  mesh.positions = positions;
  mesh.triangle_count = 2;
  mesh.triangles = triangles[0];
  return mesh;
}

static sbs_influences_table square_table(void) {
  return (sbs_influences_table){.vertex_count = 5,
                                .joint_count = 2,
                                .influences_per_vertex = 1,
                                .joint_indices = square_indices,
                                .scalar = SBS_FLOAT64,
                                .joint_weights = square_weights};
}

/* All that a sanitizer sees: lists of influences that stay empty have no address, to which nothing may be added. */
static void test_smooths_a_mesh_without_weights(void) {
  const int32_t joints[4] = {0};
  const double none[4] = {0.0};
  const float row[4][3] = {{0.0f}, {1.0f}, {2.0f}, {3.0f}};
  const int32_t corners[3] = {0, 1, 2};
  const sbs_influences_table table = {4, 1, 1, joints, SBS_FLOAT64, none};
  const sbs_mesh_desc mesh = {.vertex_count = 4, .positions = row, .triangle_count = 1, .triangles = corners};
  int32_t found_indices[4] = {-7};
  double found_weights[4] = {-7.0};
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 1, found_indices, found_weights, NULL), SBS_OK);
  check_rows(found_indices, found_weights, joints, none, 4);
}

static void test_smooth_refuses(void) {
  sbs_influences_table table = square_table();
  sbs_mesh_desc mesh = square();
  int32_t i[10] = {-7};
  double w[10] = {-7.0};
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_influences_smooth(NULL, &mesh, NULL, 2, i, w, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_smooth(&table, NULL, NULL, 2, i, w, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 2, NULL, w, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 2, i, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 0, i, w, &fault), SBS_ERROR_EMPTY);
  mesh.vertex_count = 4;
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 2, i, w, &fault), SBS_ERROR_OPTION);
  mesh = square();
  mesh.positions_stride = 7;
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 2, i, w, &fault), SBS_ERROR_STRIDE);
  mesh = square();
  mesh.triangle_count = SIZE_MAX / 4;
  CHECK_EQUAL(sbs_influences_smooth(&table, &mesh, NULL, 2, i, w, &fault), SBS_ERROR_TOO_LARGE);
  CHECK(i[0] == -7 && w[0] == -7.0);
}

int main(void) {
  RUN(test_in_place);
  RUN(test_clean_refuses);
  RUN(test_tidies);
  RUN(test_sums_of_duplicates_beyond_the_largest_number);
  RUN(test_smooths_a_mesh_without_weights);
  RUN(test_smooth_refuses);
  return harness_result();
}
