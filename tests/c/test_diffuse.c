/* SPDX-License-Identifier: MIT */
/* Weights that spread over a surface: by hand, with arguments that Python cannot pass, and where memory is short. */
#include <sbs/influences.h>

#include <math.h>

#include "counting_allocator.h"

enum {
  VERTICES = 4,
  JOINTS = 3,
};

/* A square of two triangles. Its diagonal from 1 to 2 is opposite two right angles, and so conducts next to nothing. */
static const double positions[VERTICES][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
static const int32_t triangles[2][3] = {{0, 1, 2}, {1, 3, 2}};
static const double ones[VERTICES] = {1, 1, 1, 1};

/* One corner follows joint 0, the opposite one joint 1, and those between follow both. */
static const int32_t joints[VERTICES][2] = {{0, 0}, {0, 1}, {0, 1}, {1, 0}};
static const double weights[VERTICES][2] = {{1, 0}, {0.5, 0.5}, {0.5, 0.5}, {1, 0}};

static sbs_mesh_desc square(void) {
  return (sbs_mesh_desc){.vertex_count = VERTICES,
                         .scalar = SBS_FLOAT64,
                         .positions = positions,
                         .triangle_count = 2,
                         .triangles = triangles[0]};
}

static sbs_influences_table table_of(const int32_t *joint_indices, const double *joint_weights) {
  return (sbs_influences_table){.vertex_count = VERTICES,
                                .joint_count = JOINTS,
                                .influences_per_vertex = 2,
                                .joint_indices = joint_indices,
                                .scalar = SBS_FLOAT64,
                                .joint_weights = joint_weights};
}

/*
 * At the corner the area is 1/6 and both edges conduct 1/2, to vertices that keep 1/2 by symmetry:
 * (1/6 + 1) w = 1/6 + 1/4 + 1/4, so w = 4/7. Of the 3/7 that the other joint gains, the threshold is taken.
 */
static void test_by_hand(void) {
  const sbs_influences_table table = table_of(joints[0], weights[0]);
  const sbs_mesh_desc mesh = square();
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  int32_t found_joints[VERTICES][2];
  double found[VERTICES][2];
  const double thresholds[2] = {0.0, 0.01};
  for (int t = 0; t < 2; t++) {
    options.threshold = thresholds[t];
    CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, &options, 2, found_joints[0], found[0], NULL), SBS_OK);
    for (int v = 0; v < VERTICES; v++) {
      const double expected = v == 0 || v == 3 ? 4.0 / 7.0 / (1.0 - thresholds[t]) : 0.5;
      CHECK_EQUAL(found_joints[v][0], v == 3);
      CHECK_EQUAL(found_joints[v][1], v != 3);
      CHECK_NEAR(found[v][0], expected, 1e-14); /* some roundings of numbers of about 1 */
      CHECK_NEAR(found[v][1], 1.0 - expected, 1e-14);
    }
    CHECK(found[1][0] == 0.5 && found[2][1] == 0.5); /* those that do not change keep their bits */
  }
  options.threshold = 1.0; /* no joint gains, and losers are alone */
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, &options, 2, found_joints[0], found[0], NULL), SBS_OK);
  for (int v = 0; v < VERTICES; v++) CHECK(found[v][0] == weights[v][0] && found[v][1] == weights[v][1]);
}

/* Two triangles that touch at two points, where each has vertices and weights of its own. */
static void test_parts_that_only_touch(void) {
  const double places[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const int32_t corners[2][3] = {{0, 1, 2}, {3, 4, 5}};
  const int32_t apart[6] = {0, 0, 0, 1, 1, 1}, alike[6] = {0, 1, 1, 1, 1, 1};
  const double whole[6] = {1, 1, 1, 1, 1, 1};
  const sbs_mesh_desc mesh = {
      .vertex_count = 6, .scalar = SBS_FLOAT64, .positions = places, .triangle_count = 2, .triangles = corners[0]};
  sbs_influences_table table = {6, JOINTS, 1, apart, SBS_FLOAT64, whole};
  int32_t found_joints[6][2];
  double found[6][2];
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, whole, NULL, 2, found_joints[0], found[0], NULL), SBS_OK);
  for (int v = 0; v < 6; v++) CHECK(found_joints[v][0] == apart[v] && found[v][0] == 1.0);

  /* Where the weights are the same there is a seam; a vertex with one joint is hard all the same. */
  table.joint_indices = alike;
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, whole, NULL, 2, found_joints[0], found[0], NULL), SBS_OK);
  for (int v = 0; v < 6; v++) CHECK(found_joints[v][0] == alike[v] && found[v][0] == 1.0);
}

static void test_refuses(void) {
  sbs_influences_table table = table_of(joints[0], weights[0]);
  sbs_mesh_desc mesh = square();
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  int32_t i[VERTICES * 2] = {-7};
  double w[VERTICES * 2] = {-7.0};
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_influences_diffuse(NULL, &mesh, ones, NULL, 2, i, w, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_diffuse(&table, NULL, ones, NULL, 2, i, w, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, NULL, NULL, 2, i, w, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "lengths");
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, NULL, 2, NULL, w, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, NULL, 2, i, NULL, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, NULL, 0, i, w, &fault), SBS_ERROR_EMPTY);
  options.threshold = NAN;
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, &options, 2, i, w, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "threshold");
  mesh.vertex_count = VERTICES - 1;
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, NULL, 2, i, w, &fault), SBS_ERROR_OPTION);
  mesh = square();
  mesh.positions_stride = 7;
  CHECK_EQUAL(sbs_influences_diffuse(&table, &mesh, ones, NULL, 2, i, w, &fault), SBS_ERROR_STRIDE);
  CHECK(i[0] == -7 && w[0] == -7.0);
}

static sbs_status diffuse(const sbs_allocator *allocator, void *unused) {
  const sbs_influences_table table = table_of(joints[0], weights[0]);
  const sbs_mesh_desc mesh = square();
  sbs_influences_diffuse_options options = sbs_default_influences_diffuse_options();
  int32_t found_joints[VERTICES * 2];
  double found[VERTICES * 2];
  (void)unused;
  options.allocator = *allocator;
  return sbs_influences_diffuse(&table, &mesh, ones, &options, 2, found_joints, found, NULL);
}

static void test_every_allocation_fails_in_turn(void) {
  CHECK(fail_each_allocation(diffuse, NULL, NULL) > 20);
}

int main(void) {
  RUN(test_by_hand);
  RUN(test_parts_that_only_touch);
  RUN(test_refuses);
  RUN(test_every_allocation_fails_in_turn);
  return harness_result();
}
