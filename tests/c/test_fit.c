/* SPDX-License-Identifier: MIT */
/*
 * Weights, centers and matrices fitted to examples: the nearest point of a hull, memory, errors. tests/python holds it
 * against known weights.
 */
#include <sbs/fit.h>

#include "counting_allocator.h"
#include "fit/hull.h"
#include "rig.h"

enum {
  VERTICES = 40,
  JOINTS = 6,
  INFLUENCES = 3,
  FRAMES = 8
};

static rig mesh;
static transform joints[FRAMES * JOINTS];
static double posed[FRAMES * VERTICES * 3];

/* Corners of a plane around the origin at height 1, and one above: the nearest point is at (0, 0, 1), by hand. */
static void test_nearest_point(void) {
  static const double corners[5][3] = {{2, 0, 1}, {-1, 1, 1}, {-1, -1, 1}, {0, 0, 3}, {4, 4, 2}};
  double gram[25], w[5], work[64], point[3] = {0.0, 0.0, 0.0};
  CHECK(sbs_hull_work_size(5) <= 64);
  for (int i = 0; i < 25; i++) {
    gram[i] = 0.0;
    for (int k = 0; k < 3; k++) gram[i] += corners[i / 5][k] * corners[i % 5][k];
  }
  sbs_nearest_in_hull(5, gram, NULL, w, work);
  for (int i = 0; i < 5; i++) {
    for (int k = 0; k < 3; k++) point[k] += w[i] * corners[i][k];
  }
  CHECK_NEAR(point[0], 0.0, 1e-14);
  CHECK_NEAR(point[1], 0.0, 1e-14);
  CHECK_NEAR(point[2], 1.0, 1e-14);
  CHECK_NEAR(w[0], 1.0 / 3.0, 1e-14);
  CHECK_EQUAL(w[3] == 0.0 && w[4] == 0.0, 1);
  /* between (0, 0, 3) and (4, 4, 2): a - b = (-4, -4, 1), so the share of b is (a, a - b) / |a - b|^2 = 3 / 33 */
  const unsigned char allowed[5] = {0, 0, 0, 1, 1};
  sbs_nearest_in_hull(5, gram, allowed, w, work);
  CHECK_NEAR(w[3], 30.0 / 33.0, 1e-14);
  CHECK_NEAR(w[4], 3.0 / 33.0, 1e-14);
}

static sbs_fit_desc describe(void) {
  sbs_fit_desc desc = sbs_default_fit_desc();
  desc.vertex_count = VERTICES;
  desc.joint_count = JOINTS;
  desc.frame_count = FRAMES;
  desc.rest_positions = mesh.positions;
  desc.posed = posed;
  desc.poses = pose_of(joints);
  return desc;
}

static void test_known_weights(void) {
  const sbs_fit_desc desc = describe();
  int32_t indices[VERTICES * INFLUENCES];
  double weights[VERTICES * INFLUENCES], errors[VERTICES];
  sbs_fit_options options = sbs_default_fit_options();
  options.influences = INFLUENCES;
  CHECK_EQUAL(sbs_fit_weights(&desc, &options, indices, weights, errors, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) CHECK_NEAR(errors[v], 0.0, 1e-9);
}

/* Matrices that made the examples are found again from others: one joint by itself, the others as they are. */
static void test_known_matrices(void) {
  sbs_fit_desc desc = describe();
  int32_t indices[VERTICES];
  const unsigned char fixed[JOINTS] = {1};
  double weights[VERTICES], errors[FRAMES], own[FRAMES * VERTICES * 3], found[FRAMES * JOINTS * 12];
  uint64_t seed = 3;
  transform start[FRAMES * JOINTS];
  for (size_t v = 0; v < VERTICES; v++) {
    indices[v] = (int32_t)(v % JOINTS);
    weights[v] = 1.0;
    for (size_t f = 0; f < FRAMES; f++) {
      const transform *joint = joints + f * JOINTS + v % JOINTS;
      const double *p = mesh.positions + 3 * v;
      for (size_t k = 0; k < 3; k++) {
        own[3 * (f * VERTICES + v) + k] =
            joint->m[k][0] * p[0] + joint->m[k][1] * p[1] + joint->m[k][2] * p[2] + joint->m[k][3];
      }
    }
  }
  for (size_t j = 0; j < FRAMES * JOINTS; j++) start[j] = j % JOINTS ? random_rigid(&seed, 60.0) : joints[j];
  desc.posed = own;
  desc.poses = pose_of(start);
  CHECK_EQUAL(sbs_fit_matrices(&desc, 1, indices, weights, fixed, NULL, found, errors, NULL), SBS_OK);
  for (size_t f = 0; f < FRAMES; f++) CHECK_NEAR(errors[f], 0.0, 1e-9);
  /* drawn to where they begin by 1e-9 of the spread */
  for (size_t i = 0; i < FRAMES * JOINTS * 12; i++) CHECK_NEAR(found[i], (&joints[0].m[0][0])[i], 1e-7);
}

/* Examples about centers are met by those centers again, or by others that move the vertices alike. */
static void test_known_centers(void) {
  sbs_fit_desc desc = describe();
  sbs_skin_desc with_centers = describe_rig(&mesh);
  double centers[VERTICES * 3], own[FRAMES * VERTICES * 3], found[VERTICES * 3], errors[VERTICES];
  uint64_t seed = 5;
  for (int i = 0; i < VERTICES * 3; i++) centers[i] = random_between(&seed, -1.0, 1.0);
  with_centers.centers = centers;
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&with_centers, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_deform_options options = sbs_default_deform_options();
  options.center = SBS_CENTER_OPTIMIZED;
  for (size_t f = 0; f < FRAMES; f++) {
    const sbs_pose pose = pose_of(joints + f * JOINTS);
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, own + f * VERTICES * 3, NULL, NULL, NULL), SBS_OK);
  }
  sbs_skin_free(skin);
  desc.posed = own;
  for (int turn = 0; turn < 5; turn++) { /* each is drawn a little to where it begins */
    CHECK_EQUAL(sbs_fit_centers(&desc, INFLUENCES, mesh.joint_indices, mesh.joint_weights, NULL, found, errors, NULL),
                SBS_OK);
    memcpy(centers, found, sizeof centers);
    desc.centers = centers;
  }
  for (size_t v = 0; v < VERTICES; v++) CHECK_NEAR(errors[v], 0.0, 1e-5);
}

static sbs_status fit_all_centers(const sbs_allocator *allocator, void *unused) {
  const sbs_fit_desc desc = describe();
  double found[VERTICES * 3];
  sbs_fit_options options = sbs_default_fit_options();
  (void)unused;
  options.allocator = *allocator;
  return sbs_fit_centers(&desc, INFLUENCES, mesh.joint_indices, mesh.joint_weights, &options, found, NULL, NULL);
}

static sbs_status fit_all_matrices(const sbs_allocator *allocator, void *unused) {
  const sbs_fit_desc desc = describe();
  const int32_t indices[VERTICES] = {0};
  const double weights[VERTICES] = {0.0};
  double found[FRAMES * JOINTS * 12];
  sbs_fit_matrices_options options = sbs_default_fit_matrices_options();
  (void)unused;
  options.allocator = *allocator;
  return sbs_fit_matrices(&desc, 1, indices, weights, NULL, &options, found, NULL, NULL);
}

static sbs_status fit_all(const sbs_allocator *allocator, void *unused) {
  const sbs_fit_desc desc = describe();
  int32_t indices[VERTICES * INFLUENCES];
  double weights[VERTICES * INFLUENCES];
  sbs_fit_options options = sbs_default_fit_options();
  (void)unused;
  options.influences = INFLUENCES;
  options.iterations = 1;
  options.allocator = *allocator;
  return sbs_fit_weights(&desc, &options, indices, weights, NULL, NULL);
}

static void test_every_allocation_fails_in_turn(void) {
  CHECK(fail_each_allocation(fit_all, NULL, NULL) >= 4);
  CHECK(fail_each_allocation(fit_all_centers, NULL, NULL) >= 5);
  CHECK(fail_each_allocation(fit_all_matrices, NULL, NULL) >= 3);
}

static sbs_status fit_with(const sbs_fit_desc *desc, const sbs_fit_options *options, sbs_fault *fault) {
  static int32_t indices[VERTICES * INFLUENCES];
  static double weights[VERTICES * INFLUENCES];
  return sbs_fit_weights(desc, options, indices, weights, NULL, fault);
}

static void test_errors(void) {
  sbs_fault fault = {0};
  sbs_fit_desc desc = describe();
  sbs_fit_options options = sbs_default_fit_options();
  options.influences = 0;
  CHECK_EQUAL(fit_with(&desc, &options, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "influences") == 0);
  options = sbs_default_fit_options();
  options.method = SBS_METHOD_RIGID;
  CHECK_EQUAL(fit_with(&desc, &options, &fault), SBS_ERROR_OPTION);
  options = sbs_default_fit_options();
  options.center = SBS_CENTER_OPTIMIZED;
  CHECK_EQUAL(fit_with(&desc, &options, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "centers") == 0);
  desc = describe();
  const unsigned char nothing[VERTICES * JOINTS] = {0};
  desc.allowed = nothing;
  CHECK_EQUAL(fit_with(&desc, NULL, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "allowed") == 0 && fault.index[0] == 0);
  desc = describe();
  options = sbs_default_fit_options();
  options.pull = -1.0;
  CHECK_EQUAL(fit_with(&desc, &options, &fault), SBS_ERROR_OPTION);
  CHECK(strcmp(fault.argument, "pull") == 0);
  int32_t indices[VERTICES] = {0};
  double weights[VERTICES] = {0.0}, found[FRAMES * JOINTS * 12];
  indices[5] = JOINTS;
  CHECK_EQUAL(sbs_fit_matrices(&desc, 1, indices, weights, NULL, NULL, found, NULL, &fault), SBS_ERROR_JOINT_INDEX);
  CHECK(fault.index[0] == 5 && fault.limit == JOINTS);
  indices[5] = 0;
  weights[6] = -1.0;
  CHECK_EQUAL(sbs_fit_matrices(&desc, 1, indices, weights, NULL, NULL, found, NULL, &fault), SBS_ERROR_NEGATIVE);
  CHECK_EQUAL(sbs_fit_matrices(&desc, 1, NULL, weights, NULL, NULL, found, NULL, &fault), SBS_ERROR_NULL);
  desc.frame_count = 0;
  CHECK_EQUAL(fit_with(&desc, NULL, NULL), SBS_ERROR_EMPTY);
  desc = describe();
  posed[7] = NAN;
  CHECK_EQUAL(fit_with(&desc, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK(strcmp(fault.argument, "posed") == 0 && fault.index[0] == 2);
  CHECK_EQUAL(sbs_fit_weights(NULL, NULL, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);
}

int main(void) {
  uint64_t seed = 9;
  mesh = new_rig(4, VERTICES, JOINTS, INFLUENCES);
  for (int j = 0; j < FRAMES * JOINTS; j++) joints[j] = random_rigid(&seed, 60.0);
  const sbs_skin_desc desc = describe_rig(&mesh);
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_deform_options options = sbs_default_deform_options();
  options.center = SBS_CENTER_WEIGHTED;
  for (size_t f = 0; f < FRAMES; f++) {
    const sbs_pose pose = pose_of(joints + f * JOINTS);
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, posed + f * VERTICES * 3, NULL, NULL, NULL), SBS_OK);
  }
  sbs_skin_free(skin);
  RUN(test_nearest_point);
  RUN(test_known_weights);
  RUN(test_known_matrices);
  RUN(test_known_centers);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_errors);
  free_rig(&mesh);
  return harness_result();
}
