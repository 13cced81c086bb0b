/* SPDX-License-Identifier: MIT */
/*
 * Muscles: a belly by hand, types, strides and joints, bad and large input, and where memory is short. tests/python
 * tests where skin goes.
 */
#include <sbs/muscles.h>

#include "counting_allocator.h"
#include "rig.h"
#include "tube.h"

/*
 * A limb along x whose muscle lies on the axis, from 0 to 10, with joint 0 at its origin and joint 1 at its insertion,
 * and a tube of skin around it.
 */
enum {
  JOINTS = 2,
  RINGS = 41,
  SIDES = 24,
  VERTICES = RINGS * SIDES
};

typedef struct tube {
  double positions[VERTICES][3];
  double normals[VERTICES][3];
} tube;

static tube rest, moved;
static int32_t triangles[2 * (RINGS - 1) * SIDES][3];

static void make_limb(void) {
  add_tube(rest.normals, triangles, 0, RINGS, SIDES, 0.0, 0.0, 1.0);
  add_tube(rest.positions, triangles, 0, RINGS, SIDES, 0.0, 10.0, 1.5);
}

static sbs_muscle make_muscle(void) {
  sbs_muscle muscle = sbs_default_muscle();
  muscle.joints[1] = 1;
  muscle.points[1][0] = 10.0;
  muscle.radius = 1.0;
  muscle.reach = 4.0;
  return muscle;
}

static sbs_muscles_desc describe(const sbs_muscle *muscle) {
  sbs_muscles_desc desc = sbs_default_muscles_desc();
  desc.joint_count = JOINTS;
  desc.muscle_count = 1;
  desc.muscles = muscle;
  desc.vertex_count = VERTICES;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = rest.positions;
  desc.rest_normals = rest.normals;
  desc.triangle_count = sizeof triangles / sizeof *triangles;
  desc.triangles = triangles[0];
  return desc;
}

static sbs_muscles *new_muscles(const sbs_muscle *muscle) {
  const sbs_muscles_desc desc = describe(muscle);
  sbs_muscles *muscles = NULL;
  CHECK_EQUAL(sbs_muscles_new(&desc, NULL, &muscles, NULL), SBS_OK);
  return muscles;
}

/* The insertion moved along x. */
static sbs_pose move_insertion(double by, transform joints[JOINTS]) {
  joints[0] = identity();
  joints[1] = translation(by, 0.0, 0.0);
  return pose_of(joints);
}

/* Tendons keep their length, 2 and 1; full tension takes a fifth of the belly, and they give way. */
static void test_tendons_and_tension(void) {
  sbs_muscle muscle = make_muscle();
  muscle.tendons[0] = 0.2;
  muscle.tendons[1] = 0.1;
  sbs_muscles *muscles = new_muscles(&muscle);
  transform joints[JOINTS];
  sbs_muscle_state still, tense;
  const sbs_pose pose = move_insertion(0.0, joints);
  const double full = 1.0;
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &still, NULL), SBS_OK);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, &full, &tense, NULL), SBS_OK);
  CHECK_NEAR(still.belly_length, 7.0, 1e-13);
  CHECK(still.growth == 1.0);
  CHECK_NEAR(tense.length, 10.0, 1e-13);
  CHECK_NEAR(tense.belly_length, 5.6, 1e-13);
  CHECK_NEAR(tense.growth, sqrt(1.25), 1e-14);
  CHECK_NEAR(tense.volume, still.volume, 1e-12);
  double belly[2][3][3];
  CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, &full, 0, 2, 3, belly[0][0], NULL), SBS_OK);
  CHECK_NEAR(belly[0][0][0], 4.4 * 2 / 3, 1e-13);
  CHECK_NEAR(belly[1][0][0], 4.4 * 2 / 3 + 5.6, 1e-13);
  const double shorter[4] = {-7.6, -9.99, -10, -25};
  for (int i = 0; i < 4; i++) {
    const sbs_pose short_pose = move_insertion(shorter[i], joints);
    CHECK_EQUAL(sbs_muscles_measure(muscles, &short_pose, NULL, &tense, NULL), SBS_OK);
    CHECK_EQUAL(tense.is_limited, i < 3); /* -25 is as long as 15 the other way */
  }
  sbs_muscles_free(muscles);
}

/* Of a muscle with all that one can have: a path with four points, a profile, and flat sections. */
static void test_types_strides_and_threads(void) {
  sbs_muscle muscle = make_muscle();
  const double profile[3] = {0.25, 1.0, 0.5}, points[4][3] = {{0, 0, 0}, {3, 0.1, 0}, {7, 0, 0.1}, {10, 0, 0}};
  memcpy(muscle.points, points, sizeof points);
  muscle.point_count = 4;
  muscle.joints[2] = muscle.joints[3] = 1;
  muscle.profile = profile;
  muscle.profile_count = 3;
  muscle.radius = 0.5;
  muscle.flattening = 1.5;
  muscle.thin_direction[2] = 3.0;
  sbs_muscles *muscles = new_muscles(&muscle);
  transform joints[JOINTS];
  const sbs_pose pose = move_insertion(-2.0, joints);
  moved = rest;
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, NULL, 0, 1, NULL), SBS_OK);
  CHECK(memcmp(moved.normals, rest.normals, sizeof rest.normals) == 0);
  static float rows[VERTICES][5];
  for (int v = 0; v < VERTICES; v++) {
    for (int i = 0; i < 5; i++) rows[v][i] = i < 3 ? (float)rest.positions[v][i] : 7.0f;
  }
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT32, rows, sizeof *rows, NULL, 0, 3, NULL), SBS_OK);
  for (int v = 0; v < VERTICES; v++) {
    for (int i = 0; i < 5; i++) CHECK_NEAR(rows[v][i], i < 3 ? moved.positions[v][i] : 7.0, 1e-6);
  }
  sbs_muscles_free(muscles);
}

/* A vertex near a muscle that follows other joints stays. */
static void test_skin_of_other_joints_stays(void) {
  const sbs_muscle muscle = make_muscle();
  static int32_t joint_indices[VERTICES][1];
  static float joint_weights[VERTICES][1];
  for (int v = 0; v < VERTICES; v++) joint_indices[v][0] = v % 2 ? 2 : 1, joint_weights[v][0] = 0.5f;
  sbs_muscles_desc desc = describe(&muscle);
  desc.joint_count = 3;
  desc.influences_per_vertex = 1;
  desc.joint_indices = joint_indices[0];
  desc.joint_weights = joint_weights[0];
  sbs_muscles *muscles = NULL;
  CHECK_EQUAL(sbs_muscles_new(&desc, NULL, &muscles, NULL), SBS_OK);
  int32_t vertices[VERTICES];
  size_t covered;
  sbs_muscles_covered(muscles, &covered);
  CHECK(covered > VERTICES / 4);
  CHECK_EQUAL(sbs_muscles_cover_of(muscles, 0, vertices, NULL, NULL, NULL), SBS_OK);
  for (size_t i = 0; i < covered; i++) CHECK_EQUAL(vertices[i] % 2, 0);
  sbs_muscles_free(muscles);
}

static void expect(sbs_muscle muscle, sbs_status status, const char *argument) {
  const sbs_muscles_desc desc = describe(&muscle);
  sbs_muscles *muscles = NULL;
  sbs_fault fault = {0};
  CHECK_REFUSED(sbs_muscles_new(&desc, NULL, &muscles, &fault), status, argument);
  CHECK(muscles == NULL);
}

#define WITH(assignment) muscle = make_muscle(), muscle.assignment

static void test_bad_input_is_told(void) {
  sbs_muscle muscle;
  WITH(points[1][0] = 0.0), expect(muscle, SBS_ERROR_OPTION, "points");
  WITH(points[1][0] = NAN), expect(muscle, SBS_ERROR_NOT_FINITE, "points");
  WITH(points[1][0] = 1e200), expect(muscle, SBS_ERROR_TOO_LARGE, "points");
  WITH(radius = 1e200), expect(muscle, SBS_ERROR_TOO_LARGE, "radius");
  WITH(reach = 1.1 * SBS_MUSCLE_LARGEST), expect(muscle, SBS_ERROR_TOO_LARGE, "reach");
  WITH(most_growth = 1e300), expect(muscle, SBS_ERROR_TOO_LARGE, "most_growth");
  WITH(flattening = 1e300), expect(muscle, SBS_ERROR_TOO_LARGE, "flattening");
  WITH(point_count = 1), expect(muscle, SBS_ERROR_OPTION, "point_count");
  WITH(point_count = 5), expect(muscle, SBS_ERROR_OPTION, "point_count");
  WITH(joints[1] = 2), expect(muscle, SBS_ERROR_JOINT_INDEX, "joints");
  WITH(radius = 0.0), expect(muscle, SBS_ERROR_OPTION, "radius");
  WITH(radius = INFINITY), expect(muscle, SBS_ERROR_OPTION, "radius");
  WITH(radius = 1.6), expect(muscle, SBS_ERROR_RADIUS, "radius");
  WITH(radius = 1e3), expect(muscle, SBS_ERROR_RADIUS, "radius"); /* of which the surface is nearest at its ends */
  WITH(reach = 0.0), expect(muscle, SBS_ERROR_OPTION, "reach");
  WITH(tendons[0] = 1.0), expect(muscle, SBS_ERROR_OPTION, "tendons");
  WITH(tendons[0] = -0.1), expect(muscle, SBS_ERROR_OPTION, "tendons");
  WITH(tendons[0] = 0.5), muscle.tendons[1] = 0.5, expect(muscle, SBS_ERROR_OPTION, "tendons");
  WITH(flattening = 0.9), expect(muscle, SBS_ERROR_OPTION, "flattening");
  WITH(flattening = 1.5), expect(muscle, SBS_ERROR_OPTION, "thin_direction");
  WITH(contraction = 1.0), expect(muscle, SBS_ERROR_OPTION, "contraction");
  WITH(most_growth = 0.5), expect(muscle, SBS_ERROR_OPTION, "most_growth");
  WITH(most_growth = NAN), expect(muscle, SBS_ERROR_OPTION, "most_growth");
  const double beyond[2] = {0.5, 1.5}, nothing[2] = {0, 0};
  WITH(profile_count = 2), expect(muscle, SBS_ERROR_NULL, "profile");
  muscle.profile = beyond, expect(muscle, SBS_ERROR_OPTION, "profile");
  muscle.profile = nothing, expect(muscle, SBS_ERROR_OPTION, "profile");
  WITH(covered_count = 1), expect(muscle, SBS_ERROR_NULL, "covered");
  const int32_t there_is_none = 9;
  muscle.covered = &there_is_none, expect(muscle, SBS_ERROR_JOINT_INDEX, "covered");
}

static void test_bad_poses_are_told(void) {
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle);
  transform joints[JOINTS];
  const sbs_pose pose = move_insertion(0.0, joints);
  const double beyond = 1.5, no_number = NAN;
  sbs_muscle_state state;
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, &beyond, &state, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, &no_number, &state, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(sbs_muscles_measure(NULL, &pose, NULL, &state, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_muscles_measure(muscles, NULL, NULL, &state, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, NULL, 0, NULL, 0, 0, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, rest.positions, 8, NULL, 0, 0, NULL),
              SBS_ERROR_STRIDE);
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, rest.positions, 0, NULL, 0, -1, NULL),
              SBS_ERROR_NEGATIVE);
  double surface[9];
  CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 1, 2, 3, surface, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, 1, 3, surface, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, 2, 2, surface, NULL), SBS_ERROR_OPTION);
  joints[1].m[0][0] = INFINITY;
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_ERROR_NOT_FINITE);
  sbs_muscles_free(muscles);
  sbs_muscles_free(NULL);
}

static size_t count_not_finite(const double *numbers, size_t count) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) found += isfinite(numbers[i]) ? 0 : 1;
  return found;
}

/* A pose that is too large is refused, and changes nothing; in the largest that is not, all that is found is finite. */
static void test_large_poses(void) {
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle);
  transform joints[JOINTS];
  const sbs_pose pose = move_insertion(0.0, joints);
  sbs_muscle_state state;
  double surface[3 * 4 * 5];
  const double numbers[] = {1e300, -1e31, SBS_LARGEST, -SBS_LARGEST, 1e-300, 1e15};
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
    const sbs_status expected = fabs(numbers[n]) > SBS_LARGEST ? SBS_ERROR_TOO_LARGE : SBS_OK;
    for (size_t i = 0; i < 12; i++) {
      sbs_fault fault = {0};
      (void)move_insertion(0.0, joints);
      joints[1].m[i / 4][i % 4] = numbers[n];
      moved = rest;
      CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, moved.normals, 0, 0, &fault),
                  expected);
      if (expected) {
        CHECK_STRING(fault.argument, "skinning_matrices");
        CHECK(fault.index[0] == 1 && fault.index[1] == i);
        CHECK(memcmp(&moved, &rest, sizeof rest) == 0);
      }
      CHECK_EQUAL(count_not_finite(moved.positions[0], 3 * VERTICES), 0);
      CHECK_EQUAL(count_not_finite(moved.normals[0], 3 * VERTICES), 0);
      CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), expected);
      CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, 4, 5, surface, NULL), expected);
      if (expected) continue;
      CHECK(isfinite(state.length) && isfinite(state.belly_length) && isfinite(state.growth) && isfinite(state.volume));
      CHECK_EQUAL(count_not_finite(surface, 3 * 4 * 5), 0);
    }
  }
  /* Skin anywhere: where the way to the muscle is beyond single precision, it stays. */
  (void)move_insertion(-2.0, joints);
  for (int v = 0; v < VERTICES; v++) {
    for (int i = 0; i < 3; i++) moved.positions[v][i] = v % 3 ? rest.positions[v][i] : (v % 2 ? 1e300 : 1e25) * (i - 1);
  }
  moved.positions[0][0] = rest.positions[0][0]; /* which all are relative to */
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, moved.normals, 0, 0, NULL),
              SBS_OK);
  CHECK_EQUAL(count_not_finite(moved.positions[0], 3 * VERTICES), 0);
  CHECK_EQUAL(count_not_finite(moved.normals[0], 3 * VERTICES), 0);
  sbs_muscles_free(muscles);
}

typedef struct new_call {
  sbs_muscles_desc desc;
  sbs_muscles *muscles;
} new_call;

static sbs_status call_new(const sbs_allocator *allocator, void *subject) {
  new_call *call = subject;
  return sbs_muscles_new(&call->desc, allocator, &call->muscles, NULL);
}

static void discard(void *subject) {
  sbs_muscles_free(((new_call *)subject)->muscles);
}

static void test_where_memory_is_short(void) {
  const sbs_muscle muscle = make_muscle();
  new_call call = {describe(&muscle), NULL};
  CHECK(fail_each_allocation(call_new, discard, &call) > 10);

  /* Skin stays as it is where a pose finds no memory, and is moved where the next one does. */
  allocation_counter counter = {.fail_at = SIZE_MAX};
  const sbs_allocator allocator = counting_allocator(&counter);
  sbs_muscles *muscles = NULL;
  CHECK_EQUAL(sbs_muscles_new(&call.desc, &allocator, &muscles, NULL), SBS_OK);
  transform joints[JOINTS];
  const sbs_pose pose = move_insertion(-2.0, joints);
  moved = rest;
  const size_t before = counter.allocated;
  size_t failures = 0;
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  for (; status == SBS_ERROR_OUT_OF_MEMORY && failures < 100; failures++) {
    CHECK(memcmp(&moved, &rest, sizeof rest) == 0);
    const size_t lent = counter.allocated - counter.released;
    counter.fail_at = counter.allocated + failures;
    status = sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, moved.normals, 0, 1, NULL);
    CHECK_EQUAL(counter.allocated - counter.released, lent);
  }
  CHECK_EQUAL(status, SBS_OK);
  CHECK(failures > 1 && counter.allocated > before);
  CHECK(memcmp(&moved, &rest, sizeof rest) != 0);
  sbs_muscles_free(muscles);
  CHECK_EQUAL(counter.released, counter.allocated);
}

int main(void) {
  make_limb();
  RUN(test_tendons_and_tension);
  RUN(test_types_strides_and_threads);
  RUN(test_skin_of_other_joints_stays);
  RUN(test_bad_input_is_told);
  RUN(test_bad_poses_are_told);
  RUN(test_large_poses);
  RUN(test_where_memory_is_short);
  return harness_result();
}
