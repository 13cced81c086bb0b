/* SPDX-License-Identifier: MIT */
/* Twist spread along bones: the edges of angles, frames as joints, bad and large input, and where memory is short. */
#include "counting_allocator.h"
#include "gradient/twist.h"
#include "limb.h"
#include "twist/twist.h"

static const double PI = 3.14159265358979323846;

static void about(int axis, double angle, double quaternion[4]) {
  quaternion[0] = cos(angle / 2);
  for (int i = 0; i < 3; i++) quaternion[1 + i] = i == axis ? sin(angle / 2) : 0.0;
}

/* ----------------------------------------------------------------------------------------------------------- angles */

static const double x_axis[3] = {1, 0, 0};

static void test_the_nearest_of_all_turns(void) {
  double q[4];
  about(0, 3.0, q);
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 3.2), 3.0, 1e-14);
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 0.1), 3.0, 1e-14);
  CHECK_NEAR(sbs_twist_angle(q, x_axis, -0.2), 3.0 - 2 * PI, 1e-14);
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 100.0), 3.0 + 2 * PI * 15, 1e-12);
}

/* Half a turn across the axis has no twist of its own. */
static void test_where_every_twist_is_as_good(void) {
  const double q[4] = {0, 0, 0.6, 0.8};
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 0.0), 0.0, 0.0);
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 2.5), 2.5, 0.0);
}

/* ----------------------------------------------------------------------------------------------------------- a limb */

static void test_where_frames_hang(void) {
  const int32_t parents[JOINTS] = {-1, 0, 1};
  const double positions[JOINTS][3] = {{0, 0, 0}, {0, 0, 0}, {4, 0, 0}};
  const sbs_twist_desc desc = describe();
  sbs_twist *twist = new_twist(&desc);
  int32_t new_parents[JOINTS + 4];
  double places[JOINTS + 4][3];
  const int32_t expected[JOINTS + 4] = {-1, 0, 6, 0, 3, 4, 5};
  const double along[JOINTS + 4] = {0, 0, 4, 0, 2.0 / 3, 2, 10.0 / 3};
  CHECK_EQUAL(sbs_twist_joints(twist, parents, positions[0], new_parents, places[0], NULL), SBS_OK);
  for (int j = 0; j < JOINTS + 4; j++) {
    CHECK_EQUAL(new_parents[j], expected[j]);
    CHECK_NEAR(places[j][0], along[j], 1e-15);
  }
  CHECK_EQUAL(sbs_twist_joints(twist, NULL, positions[0], NULL, places[0], NULL), SBS_OK);
  sbs_twist_free(twist);
}

/* ------------------------------------------------------------------------------------------------------- influences */

static void test_weights_are_shared_by_two_frames(void) {
  enum {
    V = 5
  };
  const float rest[V][3] = {{-1, 2, 0}, {0.5f, 1, 0}, {3.75f, 0, 1}, {4, 0, 1}, {2, 0, 0}};
  const int32_t joints[V][2] = {{1, 0}, {0, 1}, {1, 2}, {1, 0}, {2, 0}};
  const double weights[V][2] = {{1, 0}, {0.25, 0.75}, {0.5, 0.5}, {INFINITY, NAN}, {-1, 0}};
  sbs_twist_desc desc = describe();
  desc.frames_per_bone = 5;
  sbs_twist *twist = new_twist(&desc);
  int32_t found[V][4];
  double shared[V][4];
  CHECK_EQUAL(sbs_twist_influences(twist, V, SBS_FLOAT32, rest, 0, 2, joints[0], SBS_FLOAT64, weights, NULL, found[0],
                                   shared[0], NULL),
              SBS_OK);
  const int32_t expected[V][4] = {{3, 0, 0, 0}, {0, 0, 3, 4}, {6, 7, 2, 0}, {0, 7, 0, 0}, {2, 0, 0, 0}};
  const double shares[V][4] = {
      {1, 0, 0, 0}, {0.25, 0, 0.375, 0.375}, {0.125, 0.375, 0.5, 0}, {0, INFINITY, NAN, 0}, {-1, 0, 0, 0}};
  for (int i = 0; i < 4 * V; i++) {
    CHECK_EQUAL(found[i / 4][i % 4], expected[i / 4][i % 4]);
    const double a = shared[i / 4][i % 4], b = shares[i / 4][i % 4];
    CHECK(a == b || (isnan(a) && isnan(b)));
  }
  /* Given shares, and smooth ones: 3 / 64 - 2 / 512 of the bone, times four. */
  const double given[V][2] = {{0.5, 9}, {9, 0}, {1, 9}, {0, 9}, {9, 9}};
  CHECK_EQUAL(sbs_twist_influences(twist, V, SBS_FLOAT32, rest, 0, 2, joints[0], SBS_FLOAT64, weights, given[0],
                                   found[0], shared[0], NULL),
              SBS_OK);
  CHECK_EQUAL(found[0][0], 5);
  CHECK_EQUAL(found[1][2], 3);
  CHECK_EQUAL(found[2][1], 7);
  sbs_twist_free(twist);
  desc.smooth = 1;
  twist = new_twist(&desc);
  CHECK_EQUAL(sbs_twist_influences(twist, V, SBS_FLOAT32, rest, 0, 2, joints[0], SBS_FLOAT64, weights, NULL, found[0],
                                   shared[0], NULL),
              SBS_OK);
  CHECK_NEAR(shared[1][3], 0.75 * 4 * (3.0 / 64 - 2.0 / 512), 1e-15);
  sbs_twist_free(twist);
}

/* -------------------------------------------------------------------------------------------------------- bad input */

static void check_refused(sbs_twist_desc desc, sbs_status status, const char *argument) {
  sbs_twist *twist = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_twist_new(&desc, NULL, &twist, &fault), status);
  CHECK_STRING(fault.argument, argument);
  CHECK(twist == NULL);
}

static void test_bad_bones_are_refused(void) {
  const sbs_twist_desc good = describe();
  sbs_twist_desc desc = good;
  const int32_t far[1] = {3}, low[1] = {-2}, twice[2] = {1, 1}, two[2] = {0, 0};
  const double infinite[3] = {0, INFINITY, 0}, two_heads[6] = {0}, two_tails[6] = {1, 0, 0, 1, 0, 0};
  const double large[3] = {0, 1.1 * SBS_LARGEST, 0};
  sbs_twist *twist = NULL;
  CHECK_EQUAL(sbs_twist_new(NULL, NULL, &twist, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_new(&good, NULL, NULL, NULL), SBS_ERROR_NULL);
  desc.joint_count = 0, check_refused(desc, SBS_ERROR_EMPTY, "joint_count");
  desc = good, desc.joint_count = (size_t)INT32_MAX + 1, check_refused(desc, SBS_ERROR_TOO_LARGE, "joint_count");
  desc = good, desc.frames_per_bone = (size_t)INT32_MAX, check_refused(desc, SBS_ERROR_TOO_LARGE, "bone_count");
  desc = good, desc.frames_per_bone = 1, check_refused(desc, SBS_ERROR_OPTION, "frames_per_bone");
  desc = good, desc.joints = NULL, check_refused(desc, SBS_ERROR_NULL, "joints");
  desc = good, desc.parents = NULL, check_refused(desc, SBS_ERROR_NULL, "parents");
  desc = good, desc.heads = NULL, check_refused(desc, SBS_ERROR_NULL, "heads");
  desc = good, desc.tails = NULL, check_refused(desc, SBS_ERROR_NULL, "tails");
  desc = good, desc.heads = infinite, check_refused(desc, SBS_ERROR_NOT_FINITE, "heads");
  desc = good, desc.tails = infinite, check_refused(desc, SBS_ERROR_NOT_FINITE, "tails");
  desc = good, desc.heads = large, check_refused(desc, SBS_ERROR_TOO_LARGE, "heads");
  desc = good, desc.tails = large, check_refused(desc, SBS_ERROR_TOO_LARGE, "tails");
  desc = good, desc.tails = good.heads, check_refused(desc, SBS_ERROR_OPTION, "tails");
  desc = good, desc.joints = far, check_refused(desc, SBS_ERROR_JOINT_INDEX, "joints");
  desc = good, desc.joints = low, check_refused(desc, SBS_ERROR_JOINT_INDEX, "joints");
  desc = good, desc.parents = far, check_refused(desc, SBS_ERROR_PARENT, "parents");
  desc = good, desc.parents = limb, check_refused(desc, SBS_ERROR_PARENT, "parents");
  desc = good, desc.children = far, check_refused(desc, SBS_ERROR_JOINT_INDEX, "children");
  desc = good, desc.children = limb, check_refused(desc, SBS_ERROR_JOINT_INDEX, "children");
  desc = good, desc.bone_count = 2, desc.joints = twice, desc.parents = two, desc.children = NULL;
  desc.heads = two_heads, desc.tails = two_tails, check_refused(desc, SBS_ERROR_JOINT_INDEX, "joints");
  sbs_twist_free(NULL);
  CHECK_EQUAL(sbs_twist_joint_count(NULL), 0);
}

static void test_bad_influences_are_refused(void) {
  const sbs_twist_desc desc = describe();
  sbs_twist *twist = new_twist(&desc);
  double rest[1][3] = {{0, 0, 0}}, share[1] = {1.5}, shared[2];
  int32_t joint[1] = {3}, found[2];
  const float weight[1] = {1};
  sbs_fault fault = {0};
#define INFLUENCES(columns, scalar, weight_scalar, shares) \
  sbs_twist_influences(twist, 1, scalar, rest, 0, columns, joint, weight_scalar, weight, shares, found, shared, &fault)
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, NULL), SBS_ERROR_JOINT_INDEX); /* though there are 7 joints */
  CHECK_STRING(fault.argument, "joint_indices");
  joint[0] = 1;
  CHECK_EQUAL(INFLUENCES(0, SBS_FLOAT64, SBS_FLOAT32, NULL), SBS_ERROR_EMPTY);
  CHECK_EQUAL(INFLUENCES(1, (sbs_scalar)7, SBS_FLOAT32, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, (sbs_scalar)7, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, share), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "shares");
  rest[0][1] = NAN;
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, NULL), SBS_ERROR_NOT_FINITE);
#undef INFLUENCES
  CHECK_EQUAL(sbs_twist_influences(twist, 0, SBS_FLOAT64, NULL, 0, 1, NULL, SBS_FLOAT64, NULL, NULL, NULL, NULL, NULL),
              SBS_OK);
  sbs_twist_free(twist);
}

static void test_bad_poses_are_refused(void) {
  const sbs_twist_desc desc = describe();
  sbs_twist *twist = new_twist(&desc);
  matrix joints[JOINTS];
  double angles[2] = {0, NAN}, found[JOINTS + SBS_TWIST_FRAMES][3][4];
  sbs_fault fault = {0};
  pose_limb(0, 0, 0, joints);
  const sbs_pose pose = pose_of(joints);
  CHECK_EQUAL(sbs_twist_angles(NULL, &pose, NULL, angles, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_angles(twist, NULL, NULL, angles, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_angles(twist, &pose, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_pose(twist, &pose, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_angles(twist, &pose, angles, angles, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "previous");
  CHECK_EQUAL(sbs_twist_pose(twist, &pose, angles, found[0][0], &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "angles");
  joints[2][1][1] = NAN;
  CHECK_EQUAL(sbs_twist_pose(twist, &pose, NULL, found[0][0], &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "skinning_matrices");
  sbs_twist_free(twist);
}

/* Numbers of a matrix, or angles, that are too large are refused; of the largest that are not, all is finite. */
static void test_large_poses(void) {
  enum {
    NUMBERS = 12 * (JOINTS + SBS_TWIST_FRAMES)
  };
  const double corners[6] = {SBS_LARGEST, -SBS_LARGEST, SBS_LARGEST, -SBS_LARGEST, SBS_LARGEST, SBS_LARGEST};
  const double numbers[] = {1e300, -1.1 * SBS_LARGEST, SBS_LARGEST, 1e-105, 1e-300};
  for (int far_away = 0; far_away < 2; far_away++) {
    sbs_twist_desc desc = describe();
    if (far_away) desc.heads = corners, desc.tails = corners + 3;
    sbs_twist *twist = new_twist(&desc);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
      matrix joints[JOINTS];
      double angles[2] = {0.0}, found[NUMBERS], by[NUMBERS], by_joints[12 * JOINTS], by_angles[2] = {0.0};
      sbs_fault fault = {0};
      pose_limb(0.3, 0.5, 0.7, joints);
      const sbs_status expected = fabs(numbers[n]) > SBS_LARGEST ? SBS_ERROR_TOO_LARGE : SBS_OK;
      for (int i = 0; i < 12; i++) joints[1][i / 4][i % 4] *= numbers[n];
      joints[1][0][0] = numbers[n];
      const sbs_pose pose = pose_of(joints);
      memset(found, 0, sizeof found);
      for (int i = 0; i < NUMBERS; i++) by[i] = sin(i);
      CHECK_EQUAL(sbs_twist_angles(twist, &pose, NULL, angles, NULL), expected);
      CHECK_EQUAL(sbs_twist_pose(twist, &pose, NULL, found, &fault), expected);
      if (expected) {
        CHECK_STRING(fault.argument, "skinning_matrices");
        CHECK(fault.index[0] == 1 && fault.index[1] == 0);
        for (int i = 0; i < NUMBERS; i++) CHECK(found[i] == 0.0);
        continue;
      }
      for (int i = 0; i < NUMBERS; i++) CHECK(isfinite(found[i]));
      CHECK_EQUAL(sbs_twist_pose_gradient(twist, &pose, NULL, by, by_joints, by_angles), SBS_OK);
      for (int i = 0; i < 12 * JOINTS; i++) CHECK(isfinite(by_joints[i]));
      CHECK(isfinite(angles[0]) && isfinite(angles[1]) && isfinite(by_angles[0]) && isfinite(by_angles[1]));
      angles[1] = 1e308;
      CHECK_EQUAL(sbs_twist_pose(twist, &pose, angles, found, &fault), SBS_ERROR_TOO_LARGE);
      CHECK_STRING(fault.argument, "angles");
    }
    sbs_twist_free(twist);
  }
}

static void test_short_memory(void) {
  const sbs_twist_desc desc = describe();
  for (size_t fail_at = 0; fail_at < 4; fail_at++) {
    allocation_counter counter = {.fail_at = fail_at};
    const sbs_allocator allocator = counting_allocator(&counter);
    sbs_twist *twist = NULL;
    const sbs_status status = sbs_twist_new(&desc, &allocator, &twist, NULL);
    CHECK_EQUAL(status, fail_at < 3 ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK);
    sbs_twist_free(twist);
    CHECK_EQUAL(counter.released, counter.allocated);
  }
}

int main(void) {
  RUN(test_the_nearest_of_all_turns);
  RUN(test_where_every_twist_is_as_good);
  RUN(test_where_frames_hang);
  RUN(test_weights_are_shared_by_two_frames);
  RUN(test_bad_bones_are_refused);
  RUN(test_bad_influences_are_refused);
  RUN(test_bad_poses_are_refused);
  RUN(test_large_poses);
  RUN(test_short_memory);
  return harness_result();
}
