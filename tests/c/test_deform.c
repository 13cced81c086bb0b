/* SPDX-License-Identifier: MIT */
/* Deformations whose results are known by hand. */
#include <float.h>

#include "base/scalar.h"
#include "rig.h"

static const sbs_method all_methods[] = {SBS_METHOD_RIGID, SBS_METHOD_LINEAR, SBS_METHOD_SPHERICAL,
                                         SBS_METHOD_DUAL_QUATERNION};

/* One vertex with a normal, between joints 0 and 1. */
static rig one_vertex(double position[3], double normal[3], double weights[2]) {
  static int32_t joints[2] = {0, 1};
  return (rig){
      .vertex_count = 1,
      .joint_count = 2,
      .influences = 2,
      .positions = position,
      .normals = normal,
      .joint_indices = joints,
      .joint_weights = weights,
  };
}

/* The coordinates of the deformed vertices, in double; with centers that are as good as undamped. */
static void deform_rig(const rig *made, sbs_scalar scalar, const transform *joints, sbs_method method,
                       double *positions, double *normals) {
  sbs_skin *skin = bind_rig(made, scalar, normals != NULL);
  const size_t count = 3 * made->vertex_count;
  void *out = malloc(count * sizeof(double)), *out_normals = malloc(count * sizeof(double));
  if (!out || !out_normals) abort();
  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.method = method;
  options.damping = 1e-16;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, out, normals ? out_normals : NULL, NULL, NULL), SBS_OK);
  for (size_t i = 0; i < count; i++) positions[i] = sbs_scalar_get(out, scalar, i);
  for (size_t i = 0; normals && i < count; i++) normals[i] = sbs_scalar_get(out_normals, scalar, i);
  free(out);
  free(out_normals);
  sbs_skin_free(skin);
}

/* A few roundings of numbers of size 1 to 5. */
static double tolerance_of(sbs_scalar scalar) {
  return 10.0 * sbs_scalar_epsilon(scalar);
}

static void check_vector(const double found[3], double x, double y, double z, double tolerance) {
  CHECK_NEAR(found[0], x, tolerance);
  CHECK_NEAR(found[1], y, tolerance);
  CHECK_NEAR(found[2], z, tolerance);
}

static void check_position(const rig *made, const transform *joints, sbs_method method, double x, double y, double z) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    double position[3], normal[3], position_with_normal[3];
    deform_rig(made, scalar, joints, method, position, NULL);
    check_vector(position, x, y, z, tolerance_of(scalar));
    deform_rig(made, scalar, joints, method, position_with_normal, normal);
    check_vector(position_with_normal, x, y, z, tolerance_of(scalar));
  }
}

static void check_normal(const rig *made, const transform *joints, sbs_method method, double x, double y, double z) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    double position[3], normal[3];
    deform_rig(made, scalar, joints, method, position, normal);
    check_vector(normal, x, y, z, tolerance_of(scalar));
  }
}

/* -------------------------------------------------------------------------------------------------------- positions */

static void test_rigid_takes_the_heaviest(void) {
  double position[3] = {1.0, 2.0, 3.0}, normal[3] = {1.0, 0.0, 0.0};
  const transform joints[2] = {translation(1.0, 0.0, 0.0), rotation(0.0, 0.0, 1.0, 90.0)};
  double weights[2] = {0.51, 0.49};
  rig made = one_vertex(position, normal, weights);
  check_position(&made, joints, SBS_METHOD_RIGID, 2.0, 2.0, 3.0);
  check_normal(&made, joints, SBS_METHOD_RIGID, 1.0, 0.0, 0.0);
  weights[0] = 0.49;
  weights[1] = 0.51;
  check_position(&made, joints, SBS_METHOD_RIGID, -2.0, 1.0, 3.0);
  check_normal(&made, joints, SBS_METHOD_RIGID, 0.0, 1.0, 0.0);
  weights[0] = weights[1] = 0.5; /* ties: the lowest */
  check_position(&made, joints, SBS_METHOD_RIGID, 2.0, 2.0, 3.0);
  made.joint_indices = (int32_t[]){1, 0};
  check_position(&made, joints, SBS_METHOD_RIGID, 2.0, 2.0, 3.0);
}

/* A weight of 1 is that joint's matrix, whatever the method; and so is any blend of equal matrices. */
static void test_single_and_equal_joints(void) {
  uint64_t seed = 1;
  for (int i = 0; i < 20; i++) {
    double position[3] = {1.0, -2.0, 0.5}, normal[3] = {0.0, 0.0, 1.0}, weights[2] = {0.0, 1.0}, moved[3];
    const rig made = one_vertex(position, normal, weights);
    const transform joint = random_rigid(&seed, 180.0);
    const transform joints[2] = {random_rigid(&seed, 180.0), joint}, equal[2] = {joint, joint};
    move_point(&joint, position, moved);
    for (int m = 0; m < 4; m++) {
      weights[0] = 0.0;
      check_position(&made, joints, all_methods[m], moved[0], moved[1], moved[2]);
      check_normal(&made, joints, all_methods[m], joint.m[0][2], joint.m[1][2], joint.m[2][2]);
      weights[0] = 0.4;
      check_position(&made, equal, all_methods[m], moved[0], moved[1], moved[2]);
      check_normal(&made, equal, all_methods[m], joint.m[0][2], joint.m[1][2], joint.m[2][2]);
    }
  }
}

/* The rest pose gives the rest positions, but for the rounding of positions relative to the set's centroid. */
static void test_rest_pose(void) {
  rig made = new_rig(1, 500, 6, 3);
  double *positions = malloc(1500 * sizeof *positions), *normals = malloc(1500 * sizeof *normals);
  if (!positions || !normals) abort();
  transform joints[6];
  for (int j = 0; j < 6; j++) joints[j] = identity();
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    for (int m = 0; m < 4; m++) {
      deform_rig(&made, scalar, joints, all_methods[m], positions, normals);
      double worst = 0.0;
      for (size_t i = 0; i < 1500; i++) worst = fmax(worst, fabs(positions[i] - made.positions[i]));
      CHECK_NEAR(worst, 0.0, sbs_scalar_epsilon(scalar));
    }
  }
  free(positions);
  free(normals);
  free_rig(&made);
}

/* Vertices of no joint stay where they are to the last bit: numbers of all sizes, among vertices that move. */
static void test_unweighted_vertices_stay(void) {
  enum {
    VERTICES = 40
  };
  static const double awkward[] = {0.1, 1e-30, 3e30, -1.0 / 3.0, 16777217.0, 0.0};
  rig made = new_rig(2, VERTICES, 3, 2);
  uint64_t seed = 2;
  transform joints[3];
  for (int j = 0; j < 3; j++) joints[j] = random_rigid(&seed, 180.0);
  for (size_t v = 0; v < VERTICES; v += 2) {
    made.joint_weights[2 * v] = made.joint_weights[2 * v + 1] = 0.0;
    for (size_t i = 0; i < 3; i++) {
      made.positions[3 * v + i] = awkward[(v + i) % 6];
      made.normals[3 * v + i] = i == v % 3 ? 5.0 : 0.0;
    }
  }
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    for (int m = 0; m < 4; m++) {
      double positions[3 * VERTICES], normals[3 * VERTICES];
      deform_rig(&made, scalar, joints, all_methods[m], positions, normals);
      for (size_t v = 0; v < VERTICES; v += 2) {
        for (size_t i = 0; i < 3; i++) {
          const double rest = made.positions[3 * v + i];
          CHECK(positions[3 * v + i] == (scalar == SBS_FLOAT32 ? (double)(float)rest : rest));
          CHECK(normals[3 * v + i] == (i == v % 3 ? 1.0 : 0.0));
        }
      }
      CHECK(fabs(positions[3] - made.positions[3]) > 1e-3); /* the others moved */
    }
  }
  free_rig(&made);
}

/* Far from the origin nothing but the rounding of the output is lost: 1e6 + x has an ulp of 1/16 in float32. */
static void test_far_from_the_origin(void) {
  double position[3] = {0.5, 1.0, 0.0}, normal[3] = {0.0, 1.0, 0.0}, weights[2] = {0.5, 0.5}, found[3];
  const rig made = one_vertex(position, normal, weights);
  const transform far = translation(1e6, 0.0, 0.0);
  const transform joints[2] = {far, multiply(far, rotation(0.0, 1.0, 0.0, 90.0))};
  deform_rig(&made, SBS_FLOAT32, joints, SBS_METHOD_SPHERICAL, found, NULL);
  check_vector(found, (double)(float)(1e6 + 0.5 * sqrt(0.5)), 1.0, -0.5 * sqrt(0.5), 1e-6);
}

/* ---------------------------------------------------------------------------------------------------------- normals */

/* A plane's normals by A^-T: (1, 1) on a mesh that is drawn out twofold along x is (1/2, 1). */
static void test_normals_of_scaled_joints(void) {
  double position[3] = {0.0, 0.0, 0.0}, normal[3] = {1.0, 1.0, 0.0}, weights[2] = {1.0, 0.0};
  const rig made = one_vertex(position, normal, weights);
  const transform turn = rotation(0.0, 0.0, 1.0, 90.0);
  transform joints[2] = {scaling(2.0, 1.0, 1.0), identity()};
  for (int m = 0; m < 4; m++) check_normal(&made, joints, all_methods[m], sqrt(0.2), sqrt(0.8), 0.0);
  joints[0] = multiply(turn, joints[0]);
  for (int m = 0; m < 4; m++) check_normal(&made, joints, all_methods[m], -sqrt(0.8), sqrt(0.2), 0.0);
  joints[0] = scaling(1e-20, 1e-20, 1e-20);
  for (int m = 0; m < 4; m++) check_normal(&made, joints, all_methods[m], sqrt(0.5), sqrt(0.5), 0.0);
  joints[0] = scaling(1.0, 0.0, 1.0); /* flattened: all normals stand on the plane */
  for (int m = 0; m < 4; m++) check_normal(&made, joints, all_methods[m], 0.0, 1.0, 0.0);
  joints[0] = scaling(-1.0, 1.0, 1.0); /* mirrored */
  for (int m = 0; m < 4; m++) check_normal(&made, joints, all_methods[m], -sqrt(0.5), sqrt(0.5), 0.0);
}

/* What the joint that isn't followed does to normals, however wild, is nothing to the one that is. */
static void test_rigid_normals_are_those_of_the_heaviest(void) {
  double position[3] = {0.0, 0.0, 0.0}, normal[3] = {1.0, 1.0, 0.0}, weights[2] = {0.6, 0.4};
  const rig made = one_vertex(position, normal, weights);
  const transform joints[2] = {scaling(2.0, 1.0, 1.0), scaling(1e-30, 1e-30, 1e-30)};
  check_normal(&made, joints, SBS_METHOD_RIGID, sqrt(0.2), sqrt(0.8), 0.0);
}

static void test_zero_normals_stay_zero(void) {
  double position[3] = {1.0, 0.0, 0.0}, normal[3] = {0.0, 0.0, 0.0}, weights[2] = {0.7, 0.3};
  const rig made = one_vertex(position, normal, weights);
  const transform joints[2] = {rotation(0.0, 0.0, 1.0, 90.0), scaling(1.0, 2.0, 3.0)};
  for (int m = 0; m < 4; m++) check_normal(&made, joints, all_methods[m], 0.0, 0.0, 0.0);
}

/* ----------------------------------------------------------------------------------------- joints that aren't rigid */

/* A wholly mirrored character deforms as the mirror image. */
static void test_mirrored_character(void) {
  enum {
    VERTICES = 100
  };
  rig made = new_rig(3, VERTICES, 4, 3);
  uint64_t seed = 3;
  const transform mirror = scaling(-1.0, 1.0, 1.0);
  transform joints[4], mirrored[4];
  for (int j = 0; j < 4; j++) {
    joints[j] = random_rigid(&seed, 80.0);
    mirrored[j] = multiply(mirror, joints[j]);
  }
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    for (int m = 0; m < 4; m++) {
      double p[3 * VERTICES], n[3 * VERTICES], p_mirrored[3 * VERTICES], n_mirrored[3 * VERTICES];
      deform_rig(&made, scalar, joints, all_methods[m], p, n);
      deform_rig(&made, scalar, mirrored, all_methods[m], p_mirrored, n_mirrored);
      for (int i = 0; i < 3 * VERTICES; i++) {
        const double sign = i % 3 == 0 ? -1.0 : 1.0;
        CHECK_NEAR(p_mirrored[i], sign * p[i], tolerance_of(scalar));
        CHECK_NEAR(n_mirrored[i], sign * n[i], tolerance_of(scalar));
      }
    }
  }
  free_rig(&made);
}

/* Scaled to zero, alone or beside a plain joint: half the way to the point that it shrinks to. */
static void test_joint_scaled_to_zero(void) {
  double position[3] = {2.0, 1.0, 0.0}, normal[3] = {0.0, 1.0, 0.0}, weights[2] = {0.5, 0.5};
  const rig made = one_vertex(position, normal, weights);
  const transform joints[2] = {identity(), scaling(0.0, 0.0, 0.0)};
  for (int m = 1; m < 4; m++) check_position(&made, joints, all_methods[m], 1.0, 0.5, 0.0);
  weights[0] = 0.0;
  for (int m = 0; m < 4; m++) check_position(&made, joints, all_methods[m], 0.0, 0.0, 0.0);
}

/* ------------------------------------------------------------------------------------------------- formats of input */

/* The same matrices as 3x4 and 4x4, float32 and float64, give the same bits. */
static void test_formats_of_matrices(void) {
  enum {
    VERTICES = 200
  };
  rig made = new_rig(4, VERTICES, 5, 3);
  uint64_t seed = 4;
  float singles[5][3][4], squares[5][4][4];
  double doubles[5][3][4], double_squares[5][4][4];
  for (int j = 0; j < 5; j++) {
    const transform joint = random_rigid(&seed, 90.0);
    for (int i = 0; i < 16; i++) {
      const float number = i < 12 ? (float)joint.m[i / 4][i % 4] : (i == 15 ? 1.0f : 0.0f);
      if (i < 12) singles[j][i / 4][i % 4] = number;
      if (i < 12) doubles[j][i / 4][i % 4] = (double)number;
      squares[j][i / 4][i % 4] = number;
      double_squares[j][i / 4][i % 4] = (double)number;
    }
  }
  const sbs_pose poses[4] = {{doubles, SBS_FLOAT64, 3, NULL},
                             {double_squares, SBS_FLOAT64, 4, NULL},
                             {singles, SBS_FLOAT32, 3, NULL},
                             {squares, SBS_FLOAT32, 4, NULL}};
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT64, 0);
  for (int m = 0; m < 4; m++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.method = all_methods[m];
    double first[VERTICES][3], other[VERTICES][3];
    CHECK_EQUAL(sbs_skin_deform(skin, poses, &options, first, NULL, NULL, NULL), SBS_OK);
    for (int i = 1; i < 4; i++) {
      CHECK_EQUAL(sbs_skin_deform(skin, poses + i, &options, other, NULL, NULL, NULL), SBS_OK);
      CHECK(memcmp(other, first, sizeof first) == 0);
    }
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

/* Rest positions and normals within larger records, and weights of float32. */
static void test_strided_input(void) {
  enum {
    VERTICES = 50
  };
  struct record {
    float before, position[3], between, normal[3];
  } records[VERTICES];
  float weights[VERTICES][2];
  rig made = new_rig(5, VERTICES, 4, 2);
  for (size_t i = 0; i < 2 * VERTICES; i++) {
    weights[i / 2][i % 2] = (float)made.joint_weights[i];
    made.joint_weights[i] = (double)weights[i / 2][i % 2];
  }
  for (size_t i = 0; i < 3 * VERTICES; i++) {
    records[i / 3].before = records[i / 3].between = NAN;
    records[i / 3].position[i % 3] = (float)made.positions[i];
    records[i / 3].normal[i % 3] = (float)made.normals[i];
  }
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = VERTICES;
  desc.joint_count = 4;
  desc.influences_per_vertex = 2;
  desc.rest_positions = records[0].position;
  desc.rest_positions_stride = sizeof records[0];
  desc.rest_normals = records[0].normal;
  desc.rest_normals_stride = sizeof records[0];
  desc.joint_indices = made.joint_indices;
  desc.joint_weights = weights;
  sbs_skin *strided = NULL, *packed = bind_rig(&made, SBS_FLOAT32, 1);
  if (!CHECK_EQUAL(sbs_skin_new(&desc, NULL, &strided, NULL, NULL), SBS_OK)) return;

  uint64_t seed = 5;
  transform joints[4];
  for (int j = 0; j < 4; j++) joints[j] = random_rigid(&seed, 90.0);
  const sbs_pose pose = pose_of(joints);
  float by_strided[2][VERTICES][3], by_packed[2][VERTICES][3];
  CHECK_EQUAL(sbs_skin_deform(strided, &pose, NULL, by_strided[0], by_strided[1], NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform(packed, &pose, NULL, by_packed[0], by_packed[1], NULL, NULL), SBS_OK);
  CHECK(memcmp(by_strided, by_packed, sizeof by_packed) == 0);
  sbs_skin_free(strided);
  sbs_skin_free(packed);
  free_rig(&made);
}

/* ----------------------------------------------------------------------------------------------------------- report */

static void test_report(void) {
  rig made = new_rig(6, 300, 5, 2);
  sbs_skin *skin = bind_rig(&made, SBS_FLOAT32, 0);
  transform joints[2][5];
  for (int j = 0; j < 10; j++) joints[j / 5][j % 5] = identity();
  joints[0][3] = scaling(1.0, 2.0, 1.0);
  joints[1][3] = scaling(1.0, 2.0, 1.0);
  joints[1][4] = scaling(-1.0, 1.0, 1.0);
  const sbs_pose pose = pose_of(joints[0]);
  static float positions[2][300][3];
  for (int m = 0; m < 4; m++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.method = all_methods[m];
    sbs_deform_report report;
    CHECK_EQUAL(sbs_skin_deform_many(skin, 2, &pose, &options, positions, NULL, &report, NULL), SBS_OK);
    CHECK_EQUAL(report.nontrivial_joint_sets, 10); /* 2 of 5 joints */
    CHECK_EQUAL(report.solves, all_methods[m] == SBS_METHOD_SPHERICAL ? 20 : 0);
    CHECK_EQUAL(report.nonrigid_joints, 3);
  }
  sbs_skin_free(skin);
  free_rig(&made);
}

static void run_all(void) {
  RUN(test_rigid_takes_the_heaviest);
  RUN(test_single_and_equal_joints);
  RUN(test_rest_pose);
  RUN(test_unweighted_vertices_stay);
  RUN(test_far_from_the_origin);
  RUN(test_normals_of_scaled_joints);
  RUN(test_rigid_normals_are_those_of_the_heaviest);
  RUN(test_zero_normals_stay_zero);
  RUN(test_mirrored_character);
  RUN(test_joint_scaled_to_zero);
  RUN(test_formats_of_matrices);
  RUN(test_strided_input);
  RUN(test_report);
}

int main(void) {
  run_with_every_instruction_set(run_all);
  return harness_result();
}
