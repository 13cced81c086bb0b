/* SPDX-License-Identifier: MIT */
/* Muscles, from C: volumes and distances by hand, skin that covers them, bad input, and where memory is short. */
#include <sbs/muscles.h>

#include "counting_allocator.h"

static const double PI = 3.14159265358979323846;

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
#define SKIN_RADIUS 1.5

typedef double matrix[3][4];

typedef struct tube {
  double positions[VERTICES][3];
  double normals[VERTICES][3];
} tube;

static void make_limb(tube *limb) {
  for (int ring = 0; ring < RINGS; ring++) {
    for (int side = 0; side < SIDES; side++) {
      const double angle = 2 * PI * side / SIDES;
      const double normal[3] = {0, cos(angle), sin(angle)};
      double *position = limb->positions[ring * SIDES + side];
      memcpy(limb->normals[ring * SIDES + side], normal, sizeof normal);
      for (int i = 0; i < 3; i++) position[i] = SKIN_RADIUS * normal[i];
      position[0] = 10.0 * ring / (RINGS - 1);
    }
  }
}

static int32_t triangles[2 * (RINGS - 1) * SIDES][3];

static void make_triangles(void) {
  for (int i = 0; i < (RINGS - 1) * SIDES; i++) {
    const int beside = i % SIDES == SIDES - 1 ? i + 1 - SIDES : i + 1;
    const int32_t corners[2][3] = {{i, beside, i + SIDES}, {beside, beside + SIDES, i + SIDES}};
    memcpy(triangles[2 * i], corners, sizeof corners);
  }
}

static sbs_muscle make_muscle(void) {
  sbs_muscle muscle = sbs_default_muscle();
  muscle.joints[1] = 1;
  muscle.points[1][0] = 10.0;
  muscle.radius = 1.0;
  muscle.reach = 4.0;
  return muscle;
}

static sbs_muscles *new_muscles(const sbs_muscle *muscle, const tube *limb) {
  sbs_muscles_desc desc = sbs_default_muscles_desc();
  desc.joint_count = JOINTS;
  desc.muscle_count = 1;
  desc.muscles = muscle;
  if (limb) {
    desc.vertex_count = VERTICES;
    desc.scalar = SBS_FLOAT64;
    desc.rest_positions = limb->positions;
    desc.rest_normals = limb->normals;
    desc.triangle_count = sizeof triangles / sizeof *triangles;
    desc.triangles = triangles[0];
  }
  sbs_muscles *muscles = NULL;
  sbs_fault fault = {0};
  if (!CHECK_EQUAL(sbs_muscles_new(&desc, NULL, &muscles, &fault), SBS_OK)) {
    fprintf(stderr, "    %s\n", fault.argument ? fault.argument : "");
  }
  return muscles;
}

/* The insertion moved along x. */
static sbs_pose move_insertion(double by, matrix joints[JOINTS]) {
  for (int j = 0; j < JOINTS; j++) {
    for (int i = 0; i < 12; i++) joints[j][i / 4][i % 4] = i % 5 == 0;
  }
  joints[1][0][3] = by;
  return (sbs_pose){joints, SBS_FLOAT64, 3};
}

/* -------------------------------------------------------------------------------------------------------- the belly */

/* The integral of (4 u (1 - u))^3 is 64 B(4, 4) = 64 / 140. */
static void test_a_belly_keeps_its_volume(void) {
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  const double volume = PI * 10.0 * 64 / 140;
  for (double by = -7.4; by < 8; by += 0.1) {
    matrix joints[JOINTS];
    sbs_muscle_state state;
    const sbs_pose pose = move_insertion(by, joints);
    CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_OK);
    CHECK_NEAR(state.length, 10 + by, 1e-13);
    CHECK_NEAR(state.belly_length, 10 + by, 1e-13);
    CHECK_NEAR(state.growth, sqrt(10 / (10 + by)), 1e-14);
    CHECK_NEAR(state.volume, volume, 1e-6 * volume); /* the radius is kept in single precision */
    CHECK_EQUAL(state.is_limited, 0);
  }
  sbs_muscles_free(muscles);
}

static void test_it_stops_to_swell(void) {
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  const double shorter[4] = {-7.6, -9.99, -10, -25};
  for (int i = 0; i < 4; i++) {
    matrix joints[JOINTS];
    sbs_muscle_state state;
    const sbs_pose pose = move_insertion(shorter[i], joints);
    CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_OK);
    CHECK_EQUAL(state.is_limited, i < 3); /* -25 is as long as 15 the other way */
    CHECK(state.growth > 0 && state.growth <= 2);
  }
  sbs_muscles_free(muscles);
}

/* Tendons keep their length, 2 and 1; full tension takes a fifth of the belly, and they give way. */
static void test_tendons_and_tension(void) {
  sbs_muscle muscle = make_muscle();
  muscle.tendons[0] = 0.2;
  muscle.tendons[1] = 0.1;
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  matrix joints[JOINTS];
  sbs_muscle_state rest, moved, tense;
  const sbs_pose still = move_insertion(0.0, joints);
  const double full = 1.0;
  CHECK_EQUAL(sbs_muscles_measure(muscles, &still, NULL, &rest, NULL), SBS_OK);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &still, &full, &tense, NULL), SBS_OK);
  CHECK_NEAR(rest.belly_length, 7.0, 1e-13);
  CHECK(rest.growth == 1.0);
  CHECK_NEAR(tense.length, 10.0, 1e-13);
  CHECK_NEAR(tense.belly_length, 5.6, 1e-13);
  CHECK_NEAR(tense.growth, sqrt(1.25), 1e-14);
  CHECK_NEAR(tense.volume, rest.volume, 1e-12);
  double belly[2][3][3];
  CHECK_EQUAL(sbs_muscles_surface(muscles, &still, &full, 0, 2, 3, belly[0][0], NULL), SBS_OK);
  CHECK_NEAR(belly[0][0][0], 4.4 * 2 / 3, 1e-13);
  CHECK_NEAR(belly[1][0][0], 4.4 * 2 / 3 + 5.6, 1e-13);
  const sbs_pose bent = move_insertion(-2.0, joints);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &bent, NULL, &moved, NULL), SBS_OK);
  CHECK_NEAR(moved.belly_length, 5.0, 1e-13);
  CHECK_NEAR(moved.growth, sqrt(1.4), 1e-14);
  sbs_muscles_free(muscles);
}

/* A path that turns by a right angle; volume measured by another rule, with many sections. */
static void test_a_curved_belly_keeps_its_volume(void) {
  const double profile[3] = {0.25, 1.0, 0.5};
  sbs_muscle muscle = make_muscle();
  muscle.point_count = 4;
  const double points[4][3] = {{0, 0, 0}, {4, 1, 0}, {8, 2, 1}, {9, 6, 0}};
  memcpy(muscle.points, points, sizeof points);
  muscle.joints[3] = 1;
  muscle.profile = profile;
  muscle.profile_count = 3;
  muscle.flattening = 1.5;
  muscle.thin_direction[2] = 3.0;
  sbs_muscles *muscles = new_muscles(&muscle, NULL);
  double first = 0.0;
  for (int step = 0; step < 20; step++) {
    enum {
      MANY = 2001
    };
    static double rings[MANY][4][3];
    matrix joints[JOINTS];
    const sbs_pose pose = move_insertion(-0.25 * step, joints);
    sbs_muscle_state state;
    CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_OK);
    CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, MANY, 4, rings[0][0], NULL), SBS_OK);
    double volume = 0.0, before[3] = {0, 0, 0}, area_before = 0.0;
    for (int r = 0; r < MANY; r++) {
      double center[3], thin = 0.0, wide = 0.0, length = 0.0;
      for (int i = 0; i < 3; i++) {
        center[i] = (rings[r][0][i] + rings[r][2][i]) / 2;
        thin += pow(rings[r][0][i] - center[i], 2);
        wide += pow(rings[r][1][i] - center[i], 2);
        length += pow(center[i] - before[i], 2);
      }
      CHECK_NEAR(sqrt(wide / thin), 1.5, 1e-9);
      const double area = PI * sqrt(thin * wide);
      if (r) volume += sqrt(length) * (area + area_before) / 2;
      memcpy(before, center, sizeof before);
      area_before = area;
    }
    if (!step) first = volume;
    CHECK_NEAR(volume, first, 2e-6 * first); /* of trapezoids and chords */
    CHECK_NEAR(volume, state.volume, 2e-6 * first);
  }
  sbs_muscles_free(muscles);
}

/* --------------------------------------------------------------------------------------------------------- the skin */

static void test_nothing_moves_at_rest(void) {
  tube rest, moved;
  make_limb(&rest);
  moved = rest;
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, &rest);
  matrix joints[JOINTS];
  const sbs_pose pose = move_insertion(0.0, joints);
  size_t covered;
  CHECK(sbs_muscles_covered(muscles, &covered) == covered && covered > VERTICES / 2);
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, moved.normals, 0, 0, NULL),
              SBS_OK);
  CHECK(memcmp(&moved, &rest, sizeof rest) == 0);
  sbs_muscles_free(muscles);
}

/* The skin as linear blending moves it where the insertion's weight rises like a power of x. */
static tube follow(const tube *rest, double by, double power) {
  tube moved = *rest;
  for (int v = 0; v < VERTICES; v++) moved.positions[v][0] += by * pow(rest->positions[v][0] / 10.0, power);
  return moved;
}

/* The distance to the surface, by all of its points. */
static double distance_to(const double point[3], const double *surface, size_t count) {
  double least = INFINITY;
  for (size_t i = 0; i < count; i++) {
    double squared = 0.0;
    for (int axis = 0; axis < 3; axis++) squared += pow(point[axis] - surface[3 * i + (size_t)axis], 2);
    if (squared < least) least = squared;
  }
  return sqrt(least);
}

static void test_skin_keeps_its_distance(void) {
  enum {
    FINE = 1500
  };
  static double belly[FINE][SIDES][3];
  tube rest, moved;
  make_limb(&rest);
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, &rest);
  for (double by = -3; by < 4; by += 2) {
    matrix joints[JOINTS];
    const sbs_pose pose = move_insertion(by, joints);
    int32_t vertices[VERTICES];
    double shares[VERTICES], distances[VERTICES];
    size_t covered, whole = 0;
    moved = follow(&rest, by, 2);
    sbs_muscles_covered(muscles, &covered);
    CHECK_EQUAL(sbs_muscles_cover_of(muscles, 0, vertices, shares, distances, NULL), SBS_OK);
    CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, moved.normals, 0, 0, NULL),
                SBS_OK);
    CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, FINE, SIDES, belly[0][0], NULL), SBS_OK);
    for (size_t i = 0; i < covered; i++) {
      const double found = distance_to(moved.positions[vertices[i]], belly[0][0], sizeof belly / sizeof belly[0][0]);
      CHECK(found > 0.3);
      if (shares[i] < 1) continue;
      whole++;
      if (!CHECK_NEAR(found, distances[i], 0.01 * distances[i]))
        printf("by %g ring %d share %g d %g x %g\n", by, vertices[i] / SIDES, shares[i], distances[i],
               moved.positions[vertices[i]][0]);
    }
    CHECK(whole > VERTICES / 3);
  }
  sbs_muscles_free(muscles);
}

/* Normals are those of the surface that the moved rings form. */
static void test_normals_follow(void) {
  tube rest, moved;
  make_limb(&rest);
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, &rest);
  matrix joints[JOINTS];
  const sbs_pose pose = move_insertion(-3.0, joints);
  moved = follow(&rest, -3.0, 1);
  CHECK_EQUAL(sbs_muscles_cover(muscles, &pose, NULL, SBS_FLOAT64, moved.positions, 0, moved.normals, 0, 0, NULL),
              SBS_OK);
  double most = 0.0;
  for (int ring = 1; ring < RINGS - 1; ring++) {
    const double *before = moved.positions[(ring - 1) * SIDES], *after = moved.positions[(ring + 1) * SIDES];
    const double x = after[0] - before[0], y = after[1] - before[1], *normal = moved.normals[ring * SIDES];
    CHECK_NEAR(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2], 1.0,
               5e-7); /* in single precision */
    if (!CHECK_NEAR(asin(-y / hypot(x, y)), asin(normal[0]), 0.03)) printf("ring %d\n", ring);
    most = fmax(most, fabs(normal[0]));
  }
  CHECK(most > 0.1);
  sbs_muscles_free(muscles);
}

static void test_types_strides_and_threads(void) {
  tube rest, moved;
  make_limb(&rest);
  const sbs_muscle muscle = make_muscle();
  sbs_muscles *muscles = new_muscles(&muscle, &rest);
  matrix joints[JOINTS];
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
  tube rest;
  make_limb(&rest);
  const sbs_muscle muscle = make_muscle();
  static int32_t joint_indices[VERTICES][1];
  static float joint_weights[VERTICES][1];
  for (int v = 0; v < VERTICES; v++) joint_indices[v][0] = v % 2 ? 2 : 1, joint_weights[v][0] = 0.5f;
  sbs_muscles_desc desc = sbs_default_muscles_desc();
  desc.joint_count = 3;
  desc.muscle_count = 1;
  desc.muscles = &muscle;
  desc.vertex_count = VERTICES;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = rest.positions;
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

/* -------------------------------------------------------------------------------------------------------- bad input */

static void expect(sbs_muscle muscle, sbs_status status, const char *argument) {
  tube rest;
  make_limb(&rest);
  sbs_muscles_desc desc = sbs_default_muscles_desc();
  desc.joint_count = JOINTS;
  desc.muscle_count = 1;
  desc.muscles = &muscle;
  desc.vertex_count = VERTICES;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = rest.positions;
  sbs_muscles *muscles = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_muscles_new(&desc, NULL, &muscles, &fault), status);
  CHECK_STRING(fault.argument, argument);
  CHECK(muscles == NULL);
}

#define WITH(assignment) muscle = make_muscle(), muscle.assignment

static void test_bad_input_is_told(void) {
  sbs_muscle muscle;
  WITH(points[1][0] = 0.0), expect(muscle, SBS_ERROR_OPTION, "points");
  WITH(points[1][0] = NAN), expect(muscle, SBS_ERROR_NOT_FINITE, "points");
  WITH(point_count = 1), expect(muscle, SBS_ERROR_OPTION, "point_count");
  WITH(point_count = 5), expect(muscle, SBS_ERROR_OPTION, "point_count");
  WITH(joints[1] = 2), expect(muscle, SBS_ERROR_JOINT_INDEX, "joints");
  WITH(radius = 0.0), expect(muscle, SBS_ERROR_OPTION, "radius");
  WITH(radius = INFINITY), expect(muscle, SBS_ERROR_OPTION, "radius");
  WITH(radius = 1.6), expect(muscle, SBS_ERROR_RADIUS, "radius");
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
  tube rest;
  make_limb(&rest);
  sbs_muscles *muscles = new_muscles(&muscle, &rest);
  matrix joints[JOINTS];
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
  joints[1][0][0] = INFINITY;
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_ERROR_NOT_FINITE);
  sbs_muscles_free(muscles);
  sbs_muscles_free(NULL);
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
  tube rest;
  make_limb(&rest);
  const sbs_muscle muscle = make_muscle();
  new_call call = {sbs_default_muscles_desc(), NULL};
  call.desc.joint_count = JOINTS;
  call.desc.muscle_count = 1;
  call.desc.muscles = &muscle;
  call.desc.vertex_count = VERTICES;
  call.desc.scalar = SBS_FLOAT64;
  call.desc.rest_positions = rest.positions;
  call.desc.rest_normals = rest.normals;
  call.desc.triangle_count = sizeof triangles / sizeof *triangles;
  call.desc.triangles = triangles[0];
  CHECK(fail_each_allocation(call_new, discard, &call) > 10);
}

int main(void) {
  make_triangles();
  RUN(test_a_belly_keeps_its_volume);
  RUN(test_it_stops_to_swell);
  RUN(test_tendons_and_tension);
  RUN(test_a_curved_belly_keeps_its_volume);
  RUN(test_nothing_moves_at_rest);
  RUN(test_skin_keeps_its_distance);
  RUN(test_normals_follow);
  RUN(test_types_strides_and_threads);
  RUN(test_skin_of_other_joints_stays);
  RUN(test_bad_input_is_told);
  RUN(test_bad_poses_are_told);
  RUN(test_where_memory_is_short);
  return harness_result();
}
