/* SPDX-License-Identifier: MIT */
/* Skin that covers a muscle, from C: at rest, its distance, its normals, types and strides. */
#include "muscle_limb.h"

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
  cover(muscles, &pose, &moved);
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
    const double x = point[0] - surface[3 * i], y = point[1] - surface[3 * i + 1], z = point[2] - surface[3 * i + 2];
    least = fmin(least, x * x + y * y + z * z);
  }
  return sqrt(least);
}

static void test_skin_keeps_its_distance(void) {
  enum {
    FINE = 300 /* rings 0.033 apart: what is 0.3 or more away is found 0.0005 too far at most */
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
    cover(muscles, &pose, &moved);
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

/* All is as without the size. What skin moves by is found in single precision. */
static void test_a_character_has_muscles_of_its_size(void) {
  const sbs_muscle muscle = make_muscle();
  const double sizes[2] = {100.0, 0.01};
  tube rest;
  make_limb(&rest);
  sbs_muscles *muscles = new_muscles(&muscle, &rest);
  matrix joints[JOINTS];
  const sbs_pose pose = move_insertion(-2.0, joints);
  const tube bare = follow(&rest, -2.0, 2.0);
  tube moved = bare;
  sbs_muscle_state state, other;
  double belly[4 * SIDES][3], larger[4 * SIDES][3];
  cover(muscles, &pose, &moved);
  CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &state, NULL), SBS_OK);
  CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, 4, SIDES, belly[0], NULL), SBS_OK);
  for (int i = 0; i < 2; i++) {
    tube scaled = bare;
    move_insertion(-2.0, joints);
    for (int j = 0; j < 12 * JOINTS; j++) joints[j / 12][j % 12 / 4][j % 4] *= sizes[i];
    for (int v = 0; v < 3 * VERTICES; v++) scaled.positions[v / 3][v % 3] *= sizes[i];
    cover(muscles, &pose, &scaled);
    for (int v = 0; v < 3 * VERTICES; v++) {
      CHECK_NEAR(scaled.positions[v / 3][v % 3] / sizes[i], moved.positions[v / 3][v % 3], 1e-5);
      CHECK_NEAR(scaled.normals[v / 3][v % 3], moved.normals[v / 3][v % 3], 1e-5);
    }
    CHECK_EQUAL(sbs_muscles_measure(muscles, &pose, NULL, &other, NULL), SBS_OK);
    CHECK_NEAR(other.length, state.length, 1e-13);
    CHECK_NEAR(other.growth, state.growth, 1e-13);
    CHECK_NEAR(other.volume, state.volume, 1e-12);
    CHECK_EQUAL(sbs_muscles_surface(muscles, &pose, NULL, 0, 4, SIDES, larger[0], NULL), SBS_OK);
    for (int k = 0; k < 12 * SIDES; k++) CHECK_NEAR(larger[k / 3][k % 3] / sizes[i], belly[k / 3][k % 3], 1e-13);
  }
  CHECK(memcmp(&bare, &moved, sizeof moved) != 0);
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
  cover(muscles, &pose, &moved);
  double most = 0.0;
  for (int ring = 1; ring < RINGS - 1; ring++) {
    const double *before = moved.positions[(ring - 1) * SIDES], *after = moved.positions[(ring + 1) * SIDES];
    const double x = after[0] - before[0], y = after[1] - before[1], *normal = moved.normals[ring * SIDES];
    CHECK_NEAR(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2], 1.0,
               5e-7); /* in single precision */
    if (!CHECK_NEAR(asin(-y / hypot(x, y)), asin(normal[0]), 0.03)) printf("ring %d\n", ring);
    most = fmax(most, fabs(normal[0]));
  }
  CHECK(most > 0.08); /* of a bulge that falls off over a third of the belly */
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

int main(void) {
  make_triangles();
  RUN(test_nothing_moves_at_rest);
  RUN(test_skin_keeps_its_distance);
  RUN(test_a_character_has_muscles_of_its_size);
  RUN(test_normals_follow);
  RUN(test_types_strides_and_threads);
  RUN(test_skin_of_other_joints_stays);
  return harness_result();
}
