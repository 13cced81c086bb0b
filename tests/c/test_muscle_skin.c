/* SPDX-License-Identifier: MIT */
/* Skin that covers a muscle, from C: types, strides and joints. Where it goes is tested in Python. */
#include "muscle_limb.h"

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
  RUN(test_types_strides_and_threads);
  RUN(test_skin_of_other_joints_stays);
  return harness_result();
}
