/* SPDX-License-Identifier: MIT */
/*
 * Tools for weights: in place, with arguments that Python cannot pass, and where memory is short; weights that spread
 * over a surface, by hand.
 */
#include <float.h>
#include <sbs/influences.h>

#include "counting_allocator.h"

/* A square of two triangles. Its diagonal from 1 to 2 is opposite two right angles, and so conducts next to nothing. */
enum {
  VERTICES = 4,
  JOINTS = 3
};
static const double positions[VERTICES][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
static const int32_t triangles[2][3] = {{0, 1, 2}, {1, 3, 2}};
static const double ones[VERTICES] = {1, 1, 1, 1};
static const sbs_mesh_desc square = {.vertex_count = VERTICES,
                                     .scalar = SBS_FLOAT64,
                                     .positions = positions,
                                     .triangle_count = 2,
                                     .triangles = triangles[0]};

/* One corner follows joint 0, the opposite one joint 1, and vertices between follow both. */
static const int32_t joints[VERTICES][2] = {{0, 0}, {0, 1}, {0, 1}, {1, 0}};
static const double weights[VERTICES][2] = {{1, 0}, {0.5, 0.5}, {0.5, 0.5}, {1, 0}};
static const sbs_influences_table square_table = {.vertex_count = VERTICES,
                                                  .joint_count = JOINTS,
                                                  .influences_per_vertex = 2,
                                                  .joint_indices = joints[0],
                                                  .scalar = SBS_FLOAT64,
                                                  .joint_weights = weights};

static void test_in_place(void) {
  int32_t joint_indices[9] = {2, 0, 1, 1, 1, 0, 0, 0, 0};
  double joint_weights[9] = {0.5, 0.25, 1.25, 0.25, 0.25, 0.5, 0.0, 0.0, 0.0};
  const sbs_influences_table table = {3, JOINTS, 3, joint_indices, SBS_FLOAT64, joint_weights};
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  options.normalize = 0;
  options.threshold = 0.5;
  const int32_t expected_indices[9] = {1, 2, 0, 0, 1, 0, 0, 0, 0};
  const double expected[9] = {1.25, 0.5, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0}; /* shares of powers of two: exact */
  size_t most = 0;
  CHECK_EQUAL(sbs_influences_clean(&table, &options, joint_indices, joint_weights, NULL, NULL), SBS_OK);
  CHECK(memcmp(joint_indices, expected_indices, sizeof expected_indices) == 0);
  CHECK(memcmp(joint_weights, expected, sizeof expected) == 0);
  CHECK_EQUAL(sbs_influences_tidy(&table, joint_indices, joint_weights, &most, NULL), SBS_OK);
  CHECK_EQUAL(most, 2);
  CHECK(joint_weights[0] == 1.25 / 1.75 && joint_indices[3] == 0 && joint_weights[3] == 0.5);

  /* Of one joint more than the largest number: ratios stay, and nothing is infinite. */
  float largest[3] = {FLT_MAX, FLT_MAX, FLT_MAX};
  int32_t twice[3] = {0, 1, 1};
  const sbs_influences_table of_floats = {1, JOINTS, 3, twice, SBS_FLOAT32, largest};
  CHECK_EQUAL(sbs_influences_clean(&of_floats, &options, twice, largest, NULL, NULL), SBS_OK);
  CHECK(twice[0] == 1 && largest[0] == FLT_MAX && largest[1] == FLT_MAX / 2.0f);
}

/*
 * At the corner the area is 1/6 and both edges conduct 1/2, to vertices that keep 1/2 by symmetry:
 * (1/6 + 1) w = 1/6 + 1/4 + 1/4, so w = 4/7. Of the 3/7 that the other joint gains, the threshold is taken.
 */
static void test_diffuses(void) {
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  int32_t found_joints[VERTICES][2];
  double found[VERTICES][2];
  const double thresholds[2] = {0.0, 0.01};
  for (int t = 0; t < 2; t++) {
    options.threshold = thresholds[t];
    CHECK_EQUAL(sbs_influences_diffuse(&square_table, &square, ones, &options, 2, found_joints[0], found[0], NULL),
                SBS_OK);
    for (int v = 0; v < VERTICES; v++) {
      const double expected = v == 0 || v == 3 ? 4.0 / 7.0 / (1.0 - thresholds[t]) : 0.5;
      CHECK_EQUAL(found_joints[v][0], v == 3);
      CHECK_EQUAL(found_joints[v][1], v != 3);
      CHECK_NEAR(found[v][0], expected, 1e-14); /* some roundings of numbers of about 1 */
      CHECK_NEAR(found[v][1], 1.0 - expected, 1e-14);
    }
    CHECK(found[1][0] == 0.5 && found[2][1] == 0.5); /* weights that do not change keep their bits */
  }
  options.threshold = 1.0; /* no joint gains, and losers are alone */
  CHECK_EQUAL(sbs_influences_diffuse(&square_table, &square, ones, &options, 2, found_joints[0], found[0], NULL),
              SBS_OK);
  CHECK(memcmp(found, weights, sizeof found) == 0);
}

/* Two triangles that touch at two points, where each has vertices and weights of its own. */
static void test_parts_that_only_touch(void) {
  const double places[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const int32_t corners[2][3] = {{0, 1, 2}, {3, 4, 5}};
  const int32_t apart[6] = {0, 0, 0, 1, 1, 1}, alike[6] = {0, 1, 1, 1, 1, 1}; /* the second has a seam */
  const double whole[6] = {1, 1, 1, 1, 1, 1};
  const sbs_mesh_desc mesh = {
      .vertex_count = 6, .scalar = SBS_FLOAT64, .positions = places, .triangle_count = 2, .triangles = corners[0]};
  for (int which = 0; which < 2; which++) {
    const int32_t *given = which ? alike : apart;
    const sbs_influences_table table = {6, JOINTS, 1, given, SBS_FLOAT64, whole};
    int32_t found_joints[6][2];
    double found[6][2];
    CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, whole, NULL, 2, found_joints[0], found[0], NULL), SBS_OK);
    for (int v = 0; v < 6; v++) CHECK(found_joints[v][0] == given[v] && found[v][0] == 1.0);
  }
}

/* Of use to a sanitizer: lists of influences that stay empty have no address, to which nothing may be added. */
static void test_smooths_a_mesh_without_weights(void) {
  const double none[VERTICES] = {0.0};
  const int32_t first[VERTICES] = {0};
  const sbs_influences_table table = {VERTICES, 1, 1, first, SBS_FLOAT64, none};
  int32_t found_indices[VERTICES] = {-7};
  double found_weights[VERTICES] = {-7.0};
  CHECK_EQUAL(sbs_influences_smooth(&table, &square, NULL, 1, found_indices, found_weights, NULL), SBS_OK);
  CHECK(memcmp(found_indices, first, sizeof first) == 0 && memcmp(found_weights, none, sizeof none) == 0);
}

/* Tools by number: clean, tidy, smooth, diffuse. */
static sbs_status call(int tool, const sbs_influences_table *table, const sbs_mesh_desc *mesh, size_t width,
                       int32_t *found, double *shares, sbs_fault *fault) {
  switch (tool) {
    case 0: return sbs_influences_clean(table, NULL, found, shares, NULL, fault);
    case 1: return sbs_influences_tidy(table, found, shares, NULL, fault);
    case 2: return sbs_influences_smooth(table, mesh, NULL, width, found, shares, fault);
    default: return sbs_influences_diffuse(table, mesh, ones, NULL, width, found, shares, fault);
  }
}

static void test_refuses(void) {
  static const int32_t untouched[2 * VERTICES] = {-7};
  int32_t found[2 * VERTICES] = {-7};
  double shares[2 * VERTICES] = {-7.0};
  sbs_fault fault = {0};
  for (int tool = 0; tool < 4; tool++) {
    sbs_influences_table table = square_table;
    sbs_mesh_desc mesh = square;
    CHECK_EQUAL(call(tool, NULL, &mesh, 2, found, shares, &fault), SBS_ERROR_NULL);
    CHECK_EQUAL(call(tool, &table, &mesh, 2, NULL, shares, &fault), SBS_ERROR_NULL);
    CHECK_EQUAL(call(tool, &table, &mesh, 2, found, NULL, &fault), SBS_ERROR_NULL);
#define REFUSED(change, status) \
  table = square_table, mesh = square, change; \
  CHECK_EQUAL(call(tool, &table, &mesh, 2, found, shares, &fault), status)
    REFUSED(table.joint_indices = NULL, SBS_ERROR_NULL);
    REFUSED(table.joint_weights = NULL, SBS_ERROR_NULL);
    REFUSED(table.vertex_count = 0, SBS_ERROR_EMPTY);
    REFUSED(table.joint_count = 0, SBS_ERROR_EMPTY);
    REFUSED(table.vertex_count = (size_t)INT32_MAX + 1, SBS_ERROR_TOO_LARGE);
    REFUSED(table.influences_per_vertex = SIZE_MAX / 2, SBS_ERROR_TOO_LARGE);
    REFUSED(table.joint_count = SIZE_MAX, SBS_ERROR_TOO_LARGE);
    REFUSED(table.scalar = (sbs_scalar)9, SBS_ERROR_OPTION);
    if (tool < 2) continue;
    REFUSED(mesh.vertex_count--, SBS_ERROR_OPTION);
    REFUSED(mesh.positions_stride = 7, SBS_ERROR_STRIDE);
    REFUSED(mesh.triangle_count = SIZE_MAX / 4, SBS_ERROR_TOO_LARGE);
#undef REFUSED
    CHECK_EQUAL(call(tool, &square_table, NULL, 2, found, shares, &fault), SBS_ERROR_NULL);
    CHECK_EQUAL(call(tool, &square_table, &square, 0, found, shares, &fault), SBS_ERROR_EMPTY);
  }
  sbs_influences_clean_options cleaning = sbs_default_influences_clean_options();
  cleaning.allocator.release = NULL;
  CHECK_EQUAL(sbs_influences_clean(&square_table, &cleaning, found, shares, NULL, &fault), SBS_ERROR_NULL);
  sbs_influences_diffuse_options diffusing = sbs_default_influences_diffuse_options();
  diffusing.threshold = NAN;
  CHECK_REFUSED(sbs_influences_diffuse(&square_table, &square, ones, &diffusing, 2, found, shares, &fault),
                SBS_ERROR_OPTION, "threshold");
  CHECK_REFUSED(sbs_influences_diffuse(&square_table, &square, NULL, NULL, 2, found, shares, &fault), SBS_ERROR_NULL,
                "lengths");
  CHECK(memcmp(found, untouched, sizeof found) == 0 && shares[0] == -7.0);
}

static sbs_status diffuse(const sbs_allocator *allocator, void *unused) {
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  int32_t found[VERTICES * 2];
  double shares[VERTICES * 2];
  (void)unused;
  options.allocator = *allocator;
  return sbs_influences_diffuse(&square_table, &square, ones, &options, 2, found, shares, NULL);
}

static void test_every_allocation_fails_in_turn(void) {
  CHECK(fail_each_allocation(diffuse, NULL, NULL) > 20);
}

int main(void) {
  RUN(test_in_place);
  RUN(test_diffuses);
  RUN(test_parts_that_only_touch);
  RUN(test_smooths_a_mesh_without_weights);
  RUN(test_refuses);
  RUN(test_every_allocation_fails_in_turn);
  return harness_result();
}
