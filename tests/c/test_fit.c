/* SPDX-License-Identifier: MIT */
/*
 * Weights, centers and matrices fitted to examples: the nearest point of a hull, memory, errors. tests/python holds
 * them against known weights.
 */
#include <sbs/fit.h>

#include "base/lapack.h"
#include "counting_allocator.h"
#include "rig.h"
#include "solve/hull.h"

enum {
  VERTICES = 40,
  JOINTS = 6,
  INFLUENCES = 3,
  FRAMES = 8
};

static rig mesh;
static transform joints[FRAMES * JOINTS];
static double posed[FRAMES * VERTICES * 3];

/* Products that overflow leave no order among corners; squares that do are refused. */
static void test_products_that_overflow(void) {
  enum {
    CORNERS = 6
  };
  double gram[CORNERS * CORNERS], w[CORNERS], *work = malloc(sbs_hull_work_size(CORNERS) * sizeof *work);
  if (!work) abort();
  for (int i = 0; i < CORNERS * CORNERS; i++) gram[i] = i % (CORNERS + 1) ? -1.7e308 : 1.7e308 / (1 + i);
  double sum = 0.0;
  CHECK_EQUAL(sbs_nearest_in_hull(CORNERS, gram, w, work), SBS_OK);
  for (int i = 0; i < CORNERS; i++) {
    CHECK(w[i] >= 0.0 && w[i] <= 1.0);
    sum += w[i];
  }
  CHECK_NEAR(sum, 1.0, 1e-15);
  for (int i = 0; i < CORNERS * CORNERS; i++) gram[i] = i % (CORNERS + 1) ? 1e-310 : 3e-310;
  gram[0] = 9e-310; /* so small that a divisor is 0 */
  CHECK_EQUAL(sbs_nearest_in_hull(CORNERS, gram, w, work), SBS_OK);
  sum = 0.0;
  for (int i = 0; i < CORNERS; i++) sum += w[i];
  CHECK_NEAR(sum, 1.0, 1e-15);
  gram[CORNERS + 1] = INFINITY;
  CHECK_EQUAL(sbs_nearest_in_hull(CORNERS, gram, w, work), SBS_ERROR_NOT_FINITE);
  gram[CORNERS + 1] = NAN;
  CHECK_EQUAL(sbs_nearest_in_hull(CORNERS, gram, w, work), SBS_ERROR_NOT_FINITE);
  free(work);
}

/* LAPACK went on with this for ever. */
static void test_lapack_is_given_finite_numbers_alone(void) {
  double m[9] = {INFINITY, -INFINITY, 1.0, INFINITY, 1.0, INFINITY, 0.0, 0.0, INFINITY}, s[3], vt[9], work[32];
  CHECK(sbs_svd_work_size(3) <= 32);
  CHECK_EQUAL(sbs_svd(3, m, s, vt, work), SBS_ERROR_NOT_FINITE);
  for (int i = 0; i < 9; i++) m[i] = i ? 0.0 : NAN;
  CHECK_EQUAL(sbs_svd(3, m, s, vt, work), SBS_ERROR_NOT_FINITE);
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

static sbs_twist *new_twist(void) {
  static const int32_t bone[1] = {1}, parent[1] = {0};
  static const double head[3] = {-1.0, 0.0, 0.0}, tail[3] = {1.0, 0.5, 0.0};
  sbs_twist_desc desc = sbs_default_twist_desc();
  sbs_twist *twist = NULL;
  desc.joint_count = JOINTS, desc.bone_count = 1;
  desc.joints = bone, desc.parents = parent, desc.heads = head, desc.tails = tail;
  CHECK_EQUAL(sbs_twist_new(&desc, NULL, &twist, NULL), SBS_OK);
  return twist;
}

static sbs_status fit_all_centers(const sbs_allocator *allocator, void *twist) {
  sbs_fit_desc desc = describe();
  double found[VERTICES * 3];
  sbs_fit_options options = sbs_default_fit_options();
  desc.twist = twist;
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

static sbs_status fit_all(const sbs_allocator *allocator, void *twist) {
  sbs_fit_desc desc = describe();
  int32_t indices[VERTICES * INFLUENCES];
  double weights[VERTICES * INFLUENCES];
  sbs_fit_options options = sbs_default_fit_options();
  desc.twist = twist;
  options.influences = INFLUENCES;
  options.iterations = 1;
  options.allocator = *allocator;
  return sbs_fit_weights(&desc, &options, indices, weights, NULL, NULL);
}

static void test_every_allocation_fails_in_turn(void) {
  CHECK(fail_each_allocation(fit_all, NULL, NULL) >= 7);
  CHECK(fail_each_allocation(fit_all_centers, NULL, NULL) >= 6);
  CHECK(fail_each_allocation(fit_all_matrices, NULL, NULL) >= 5);
  sbs_twist *twist = new_twist();
  CHECK(fail_each_allocation(fit_all, NULL, twist) >= 8);
  CHECK(fail_each_allocation(fit_all_centers, NULL, twist) >= 7);
  sbs_twist_free(twist);
}

/* Checks that each function refuses numbers beyond the largest, names them, and has written nothing. */
static void check_too_large(const sbs_fit_desc *desc, const double *weights, const char *argument, size_t row,
                            size_t column) {
  static double made[3][FRAMES * JOINTS * 12], untouched[FRAMES * JOINTS * 12];
  const int has_weights = weights != mesh.joint_weights, end = desc->toward ? 1 : 3;
  memset(untouched, 0x5a, sizeof untouched);
  for (int which = has_weights; which < end; which++) {
    sbs_fault fault = {0};
    memset(made, 0x5a, sizeof made);
    const sbs_status status =
        which == 0 ? sbs_fit_weights(desc, NULL, (int32_t *)(void *)made[0], made[1], made[2], &fault)
        : which == 1
            ? sbs_fit_centers(desc, INFLUENCES, mesh.joint_indices, weights, NULL, made[0], made[1], &fault)
            : sbs_fit_matrices(desc, INFLUENCES, mesh.joint_indices, weights, NULL, NULL, made[0], made[1], &fault);
    CHECK_EQUAL(status, SBS_ERROR_TOO_LARGE);
    CHECK_STRING(fault.argument, argument);
    CHECK(fault.index[0] == row && fault.index[1] == column && fault.limit == SBS_LARGEST);
    for (int i = 0; i < 3; i++) CHECK(memcmp(made[i], untouched, sizeof untouched) == 0);
  }
}

static void test_numbers_that_are_too_large(void) {
  static double rest[VERTICES * 3], examples[FRAMES * VERTICES * 3], toward[VERTICES * JOINTS];
  static double weights[VERTICES * INFLUENCES];
  static transform turned[FRAMES * JOINTS];
  memcpy(rest, mesh.positions, sizeof rest);
  memcpy(examples, posed, sizeof examples);
  memcpy(weights, mesh.joint_weights, sizeof weights);
  memcpy(turned, joints, sizeof turned);
  turned[JOINTS + 2].m[1][0] = 1e200;
  rest[3 * 7 + 1] = -1e31;
  examples[3 * (VERTICES + 5)] = 1e308;
  toward[JOINTS * 3 + 2] = 1e300;
  weights[4] = 1e300;
  sbs_fit_desc desc = describe();
  check_too_large(&desc, weights, "joint_weights", 1, 1);
#define TOO_LARGE(field, given, name, row, column) \
  desc = describe(), desc.field = given; \
  check_too_large(&desc, mesh.joint_weights, name, row, column)
  TOO_LARGE(poses.skinning_matrices, turned, "skinning_matrices", JOINTS + 2, 4);
  TOO_LARGE(rest_positions, rest, "rest_positions", 7, 1);
  TOO_LARGE(posed, examples, "posed", VERTICES + 5, 0);
  TOO_LARGE(centers, rest, "centers", 7, 1);
  TOO_LARGE(toward, toward, "toward", 3, 2);
#undef TOO_LARGE
}

/* The largest numbers that are taken, and the smallest damping, give finite results. */
static void test_largest_numbers(void) {
  static double rest[VERTICES * 3], examples[FRAMES * VERTICES * 3];
  static transform turned[FRAMES * JOINTS];
  const double sizes[] = {SBS_LARGEST, 1e-300, 1e-160, 1.0};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (int i = 0; i < VERTICES * 3; i++)
      rest[i] = fmin(fmax(mesh.positions[i] * sizes[s], -SBS_LARGEST), SBS_LARGEST);
    for (int i = 0; i < FRAMES * VERTICES * 3; i++) examples[i] = sizes[s] * sin(i);
    for (int j = 0; j < FRAMES * JOINTS; j++) {
      for (int i = 0; i < 12; i++) turned[j].m[i / 4][i % 4] = sizes[s] * cos(j * 12 + i);
    }
    sbs_fit_desc desc = describe();
    desc.rest_positions = rest;
    desc.posed = examples;
    desc.poses = pose_of(turned);
    desc.centers = rest;
    for (int way = 0; way < 5; way++) {
      int32_t indices[VERTICES * INFLUENCES];
      double weights[VERTICES * INFLUENCES], errors[VERTICES];
      sbs_fit_options options = sbs_default_fit_options();
      options.influences = INFLUENCES;
      options.damping = 1e-300;
      options.method = way < 3 ? SBS_METHOD_SPHERICAL : way == 3 ? SBS_METHOD_LINEAR : SBS_METHOD_DUAL_QUATERNION;
      options.center = (sbs_center)(way % 3);
      CHECK_EQUAL(sbs_fit_weights(&desc, &options, indices, weights, errors, NULL), SBS_OK);
      for (size_t v = 0; v < VERTICES; v++) {
        double sum = 0.0;
        for (size_t k = 0; k < INFLUENCES; k++) sum += weights[v * INFLUENCES + k];
        CHECK_NEAR(sum, 1.0, 1e-14);
        CHECK(isfinite(errors[v]));
      }
    }
    double centers[VERTICES * 3], matrices[FRAMES * JOINTS * 12], errors[VERTICES];
    CHECK_EQUAL(sbs_fit_centers(&desc, INFLUENCES, mesh.joint_indices, mesh.joint_weights, NULL, centers, errors, NULL),
                SBS_OK);
    for (size_t v = 0; v < VERTICES * 3; v++) CHECK(isfinite(centers[v]) && isfinite(errors[v / 3]));
    CHECK_EQUAL(
        sbs_fit_matrices(&desc, INFLUENCES, mesh.joint_indices, mesh.joint_weights, NULL, NULL, matrices, errors, NULL),
        SBS_OK);
    for (size_t i = 0; i < FRAMES * JOINTS * 12; i++) CHECK(isfinite(matrices[i]) && isfinite(errors[i / JOINTS / 12]));
  }
}

static void test_errors(void) {
  static int32_t indices[VERTICES * INFLUENCES];
  static double weights[VERTICES * INFLUENCES], matrices[FRAMES * JOINTS * 12], angles[FRAMES][2];
  const unsigned char nothing[VERTICES * JOINTS] = {0};
  sbs_twist *one = new_twist();
  sbs_fit_options options = sbs_default_fit_options();
  sbs_fit_desc desc;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_fit_weights(NULL, NULL, NULL, NULL, NULL, NULL), SBS_ERROR_NULL);
#define REFUSED(change, status, argument) \
  desc = describe(), desc.change; \
  CHECK_REFUSED(sbs_fit_weights(&desc, &options, indices, weights, NULL, &fault), status, argument)
  REFUSED(frame_count = 0, SBS_ERROR_EMPTY, "frame_count");
  REFUSED(allowed = nothing, SBS_ERROR_OPTION, "allowed");
  REFUSED(poses.twist_angles = angles[0], SBS_ERROR_OPTION, "twist_angles");
  angles[2][1] = NAN, desc.twist = one;
  CHECK_REFUSED(sbs_fit_weights(&desc, NULL, indices, weights, NULL, &fault), SBS_ERROR_NOT_FINITE, "twist_angles");
  desc.poses.twist_angles = NULL, desc.joint_count = JOINTS - 1;
  CHECK_REFUSED(sbs_fit_weights(&desc, NULL, indices, weights, NULL, &fault), SBS_ERROR_OPTION, "twist");
  options.influences = 0;
  REFUSED(toward = NULL, SBS_ERROR_OPTION, "influences");
  options = sbs_default_fit_options(), options.method = SBS_METHOD_RIGID;
  REFUSED(toward = NULL, SBS_ERROR_OPTION, "method");
  options = sbs_default_fit_options(), options.center = SBS_CENTER_OPTIMIZED;
  REFUSED(toward = NULL, SBS_ERROR_OPTION, "centers");
  options = sbs_default_fit_options(), options.pull = -1.0;
  REFUSED(toward = NULL, SBS_ERROR_OPTION, "pull");
  options = sbs_default_fit_options();
  const double kept = posed[7];
  posed[7] = NAN;
  REFUSED(toward = NULL, SBS_ERROR_NOT_FINITE, "posed");
  CHECK_EQUAL(fault.index[0], 2);
  posed[7] = kept;
#undef REFUSED
#define FIT(indices) sbs_fit_matrices(&desc, 1, indices, weights, NULL, NULL, matrices, NULL, &fault)
  indices[5] = JOINTS;
  CHECK_EQUAL(FIT(indices), SBS_ERROR_JOINT_INDEX);
  CHECK(fault.index[0] == 5 && fault.limit == JOINTS);
  CHECK_EQUAL(FIT(NULL), SBS_ERROR_NULL);
  desc.twist = one, indices[5] = 0;
  CHECK_REFUSED(FIT(indices), SBS_ERROR_OPTION, "twist");
#undef FIT
  sbs_twist_free(one);
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
  RUN(test_products_that_overflow);
  RUN(test_lapack_is_given_finite_numbers_alone);
  RUN(test_every_allocation_fails_in_turn);
  RUN(test_numbers_that_are_too_large);
  RUN(test_largest_numbers);
  RUN(test_errors);
  free_rig(&mesh);
  return harness_result();
}
