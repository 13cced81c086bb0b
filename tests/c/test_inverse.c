/* SPDX-License-Identifier: MIT */
/* Deformation undone: rest positions come back, and vertices that joints have crushed are told. */
#include "rig.h"

enum {
  VERTICES = 3000,
  JOINTS = 9
};

static const sbs_method all_methods[] = {SBS_METHOD_RIGID, SBS_METHOD_LINEAR, SBS_METHOD_SPHERICAL,
                                         SBS_METHOD_DUAL_QUATERNION};

static rig mesh;

/* Rigid joints that turn by up to so much, the first ones scaled, sheared and mirrored where `general`. */
static void make_pose(transform joints[JOINTS], uint64_t seed, double most_degrees, int general) {
  for (int j = 0; j < JOINTS; j++) joints[j] = random_rigid(&seed, most_degrees);
  if (!general) return;
  transform shear = identity();
  shear.m[0][1] = 0.5;
  joints[0] = multiply(joints[0], scaling(2.0, 0.5, 1.25));
  joints[1] = multiply(joints[1], shear);
}

static size_t size_of(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
}

static double number_at(const void *numbers, sbs_scalar scalar, size_t index) {
  return scalar == SBS_FLOAT32 ? (double)((const float *)numbers)[index] : ((const double *)numbers)[index];
}

/* Deforms by the pose and undoes it; returns the largest error of vertices that are not singular. */
static double largest_error(const sbs_skin *skin, sbs_scalar scalar, const transform *joints,
                            const sbs_deform_options *options, size_t *singular_count) {
  static double posed[VERTICES * 3], rest[VERTICES * 3];
  static unsigned char singular[VERTICES];
  const sbs_pose pose = pose_of(joints);
  double largest = 0.0;
  size_t counted = 0;
  memset(singular, 7, sizeof singular);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, options, posed, NULL, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, options, posed, 0, rest, singular, singular_count, NULL), SBS_OK);
  for (size_t v = 0; v < VERTICES; v++) {
    CHECK(singular[v] <= 1);
    counted += singular[v];
    for (size_t k = 0; k < 3; k++) {
      const double error = fabs(number_at(rest, scalar, 3 * v + k) - mesh.positions[3 * v + k]);
      CHECK(isfinite(error));
      /* such a vertex keeps its rest position, to the rounding of one sum */
      if (singular[v]) CHECK_NEAR(error, 0.0, scalar == SBS_FLOAT32 ? 2.4e-7 : 4.5e-16);
      if (!singular[v] && error > largest) largest = error;
    }
  }
  CHECK_EQUAL(*singular_count, counted);
  return largest;
}

/* The size of the mesh is 3.5. */
static double tolerance_of(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? 3.5e-6 : 3.5e-12;
}

/* Joints that turn little against each other: no method comes close to crushing a vertex. */
static void test_rest_comes_back(void) {
  static double amount[VERTICES];
  uint64_t seed = 11;
  for (size_t v = 0; v < VERTICES; v++) amount[v] = random_between(&seed, 0.0, 1.0);
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 0);
    for (int i = 0; i < 16; i++) {
      transform joints[JOINTS];
      make_pose(joints, (uint64_t)i, 40.0, i & 1);
      sbs_deform_options options = sbs_default_deform_options();
      options.method = all_methods[i / 2 % 4];
      const int turns = options.method == SBS_METHOD_SPHERICAL || options.method == SBS_METHOD_DUAL_QUATERNION;
      if (i >= 8 && turns) {
        options.amount = amount;
        options.amount_scalar = SBS_FLOAT64;
      }
      size_t singular_count = 77;
      const double error = largest_error(skin, scalar, joints, &options, &singular_count);
      CHECK_NEAR(error, 0.0, tolerance_of(scalar));
      CHECK_EQUAL(singular_count, 0);
    }
    sbs_skin_free(skin);
  }
}

/* The rotation methods are a rotation, whatever the joints do, so nothing is lost. */
static void test_rotations_lose_nothing(void) {
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 0);
    for (int m = 0; m < 4; m++) {
      if (all_methods[m] == SBS_METHOD_LINEAR) continue;
      transform joints[JOINTS];
      make_pose(joints, 23, 179.0, 0);
      sbs_deform_options options = sbs_default_deform_options();
      options.method = all_methods[m];
      size_t singular_count = 77;
      CHECK_NEAR(largest_error(skin, scalar, joints, &options, &singular_count), 0.0, tolerance_of(scalar));
      CHECK_EQUAL(singular_count, 0);
    }
    sbs_skin_free(skin);
  }
}

/* A scene far away: what is lost is the rounding of the posed positions, 100 sizes away, and no more. */
static void test_far_away(void) {
  transform joints[JOINTS];
  make_pose(joints, 31, 60.0, 1);
  for (int j = 0; j < JOINTS; j++) joints[j] = multiply(translation(300.0, -200.0, 100.0), joints[j]);
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&mesh, scalar, 0);
    const sbs_deform_options options = sbs_default_deform_options();
    size_t singular_count = 77;
    const double error = largest_error(skin, scalar, joints, &options, &singular_count);
    CHECK_NEAR(error, 0.0, scalar == SBS_FLOAT32 ? 2e-4 : 4e-13);
    CHECK_EQUAL(singular_count, 0);
    sbs_skin_free(skin);
  }
}

/* Vertices of joints that are scaled to a plane, a line, a point or nearly so have no inverse, and no others. */
static void test_singular(void) {
  enum {
    KINDS = 6
  };
  const double scales[KINDS][3] = {{1.0, 1.0, 0.0},  {1.0, 0.0, 0.0},    {0.0, 0.0, 0.0},
                                   {1.0, 1.0, 1e-7}, {1e-9, 1e-9, 1e-9}, {1e-7, 1e-8, 1.0}};
  rig alone = new_rig(3, VERTICES, JOINTS, 1);
  for (size_t i = 0; i < 3 * VERTICES; i++) alone.positions[i] = mesh.positions[i];
  for (int i = 0; i < 2 * KINDS; i++) {
    /* turned about before and after, so that no entry of the matrix is zero */
    transform joints[JOINTS];
    make_pose(joints, 41, 170.0, 0);
    const double *scale = scales[i % KINDS];
    uint64_t seed = 43;
    joints[4] = multiply(joints[4], multiply(scaling(scale[0], scale[1], scale[2]), random_rigid(&seed, 100.0)));
    if (i >= KINDS) joints[4] = scaling(scale[0], scale[1], scale[2]);
    for (int m = 0; m < 4; m++) {
      sbs_deform_options options = sbs_default_deform_options();
      options.method = all_methods[m];
      sbs_skin *skin = bind_rig(&alone, SBS_FLOAT32, 0);
      size_t singular_count = 77, expected = 0;
      for (size_t v = 0; v < VERTICES; v++) expected += alone.joint_indices[v] == 4;
      CHECK_NEAR(largest_error(skin, SBS_FLOAT32, joints, &options, &singular_count), 0.0, tolerance_of(SBS_FLOAT32));
      CHECK_EQUAL(singular_count, expected);
      sbs_skin_free(skin);
    }
  }
  free_rig(&alone);
}

/* Halfway between a joint and the same turned by 180 degrees, linear blending makes a line of everything. */
static void test_collapse_of_linear_blending(void) {
  const transform joints[2] = {identity(), rotation(1.0, 0.0, 0.0, 180.0)};
  const int32_t joint_indices[2][2] = {{0, 1}, {0, 1}};
  const double weights[2][2] = {{0.5, 0.5}, {0.75, 0.25}}, positions[2][3] = {{0.5, 1.0, 0.0}, {0.5, 1.0, 2.0}};
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = 2;
  desc.joint_count = 2;
  desc.influences_per_vertex = 2;
  desc.scalar = desc.weight_scalar = SBS_FLOAT64;
  desc.rest_positions = positions;
  desc.joint_indices = joint_indices[0];
  desc.joint_weights = weights;
  sbs_skin *skin;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  sbs_deform_options options = sbs_default_deform_options();
  options.method = SBS_METHOD_LINEAR;
  const sbs_pose pose = pose_of(joints);
  const double posed[2][3] = {{0.5, 0.0, 0.0}, {0.5, 0.5, 1.0}};
  double rest[2][3];
  unsigned char singular[2];
  size_t count;
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, singular, &count, NULL), SBS_OK);
  CHECK_EQUAL(count, 1);
  CHECK_EQUAL(singular[0], 1);
  CHECK_EQUAL(singular[1], 0);
  for (int i = 0; i < 6; i++) CHECK_NEAR(rest[i / 3][i % 3], positions[i / 3][i % 3], 4e-15);
  sbs_skin_free(skin);
}

/* What is sculpted on the posed mesh: the rest position that comes back is deformed to it, wherever it is. */
/*
 * The mesh with these positions, and joints that sit somewhere: what they stretch is not about the shape's centroids.
 */
static sbs_skin *bind_shape(const double *positions) {
  static double joint_positions[JOINTS][3];
  uint64_t seed = 55;
  for (int j = 0; j < JOINTS; j++) {
    for (int i = 0; i < 3; i++) joint_positions[j][i] = random_between(&seed, -1.0, 1.0);
  }
  sbs_skin_desc desc = describe_rig(&mesh);
  desc.rest_positions = positions;
  desc.joint_positions = joint_positions[0];
  sbs_skin *skin = NULL;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, NULL), SBS_OK);
  if (!skin) abort();
  return skin;
}

static void test_sculpted(void) {
  static double posed[VERTICES * 3], rest[VERTICES * 3], again[VERTICES * 3];
  transform joints[JOINTS];
  make_pose(joints, 51, 60.0, 1);
  const sbs_pose pose = pose_of(joints);
  uint64_t seed = 53;
  for (size_t i = 0; i < 3 * VERTICES; i++) posed[i] = random_between(&seed, -3.0, 3.0);
  for (int m = 0; m < 4; m++) {
    sbs_deform_options options = sbs_default_deform_options();
    options.method = all_methods[m];
    options.center = SBS_CENTER_JOINT_SET;
    sbs_skin *skin = bind_shape(mesh.positions);
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, NULL, NULL, NULL), SBS_OK);
    sbs_skin *shape = bind_shape(rest);
    CHECK_EQUAL(sbs_skin_deform(shape, &pose, &options, again, NULL, NULL, NULL), SBS_OK);
    /* the shape has centroids of its own, and the damping pulls its rotation centers there: 1e-8 of the equations */
    for (size_t i = 0; i < 3 * VERTICES; i++) CHECK_NEAR(again[i], posed[i], m == 2 ? 1e-4 : 1e-11);
    sbs_skin_free(skin);
    sbs_skin_free(shape);
  }
}

static void test_unweighted_vertices_stay(void) {
  rig still = new_rig(7, 40, 2, 2);
  for (size_t i = 0; i < 80; i++) still.joint_weights[i] = 0.0;
  for (sbs_scalar scalar = SBS_FLOAT32; scalar <= SBS_FLOAT64; scalar++) {
    sbs_skin *skin = bind_rig(&still, scalar, 0);
    void *posed = numbers_of(still.normals, 120, scalar); /* anything */
    double rest[120];
    size_t count = 77;
    transform joints[JOINTS];
    make_pose(joints, 61, 90.0, 0);
    const sbs_pose pose = pose_of(joints);
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, rest, NULL, &count, NULL), SBS_OK);
    CHECK(memcmp(rest, posed, 120 * size_of(scalar)) == 0);
    CHECK_EQUAL(count, 0);
    free(posed);
    sbs_skin_free(skin);
  }
  free_rig(&still);
}

/* A mesh of one vertex has no size of its own; at the origin, none at all. */
static void test_one_vertex(void) {
  rig one = new_rig(9, 1, 3, 2);
  for (int i = 0; i < 2; i++) {
    if (i) memset(one.positions, 0, 3 * sizeof(double));
    sbs_skin *skin = bind_rig(&one, SBS_FLOAT32, 0);
    transform joints[JOINTS];
    make_pose(joints, 71, 90.0, 0);
    const sbs_pose pose = pose_of(joints);
    float posed[3], rest[3];
    size_t count = 77;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, NULL, posed, NULL, NULL, NULL), SBS_OK);
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, rest, NULL, &count, NULL), SBS_OK);
    CHECK_EQUAL(count, 0);
    for (int k = 0; k < 3; k++) CHECK_NEAR((double)rest[k], one.positions[k], 3.5e-6);
    sbs_skin_free(skin);
  }
  free_rig(&one);
}

/* Threads, strides, the caller's scratch, and work in place change no bit. */
static void test_same_bits(void) {
  static double posed[VERTICES * 4], expected[VERTICES * 3], found[VERTICES * 4], loose[VERTICES * 4];
  static unsigned char expected_singular[VERTICES], singular[VERTICES];
  static _Alignas(64) unsigned char scratch[1 << 21];
  transform joints[JOINTS];
  make_pose(joints, 81, 150.0, 1);
  joints[5] = multiply(joints[5], scaling(1.0, 1.0, 0.0));
  const sbs_pose pose = pose_of(joints);
  for (int i = 0; i < 8; i++) {
    const sbs_scalar scalar = i % 2 ? SBS_FLOAT64 : SBS_FLOAT32;
    const size_t size = 3 * size_of(scalar), stride = 4 * size_of(scalar);
    sbs_skin *skin = bind_rig(&mesh, scalar, 0);
    sbs_deform_options options = sbs_default_deform_options();
    options.method = all_methods[i / 2];
    size_t expected_count, count;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, posed, NULL, NULL, NULL), SBS_OK);
    options.threads = 1;
    CHECK_EQUAL(
        sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, expected, expected_singular, &expected_count, NULL),
        SBS_OK);
    const int threads[] = {2, 5};
    for (int t = 0; t < 2; t++) {
      options.threads = threads[t];
      CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, found, singular, &count, NULL), SBS_OK);
      CHECK(memcmp(found, expected, VERTICES * size) == 0);
      CHECK(memcmp(singular, expected_singular, VERTICES) == 0);
      CHECK_EQUAL(count, expected_count);
    }
    memset(loose, 0x55, sizeof loose);
    memset(found, 0x55, sizeof found);
    for (size_t v = 0; v < VERTICES; v++) memcpy((char *)loose + v * stride, (char *)posed + v * size, size);
    options.positions_stride = stride;
    options.scratch = scratch;
    options.scratch_size = sbs_skin_scratch_size(skin);
    CHECK(options.scratch_size <= sizeof scratch);
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, loose, stride, found, NULL, &count, NULL), SBS_OK);
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, loose, stride, loose, NULL, NULL, NULL), SBS_OK);
    CHECK(memcmp(found, loose, VERTICES * stride) == 0);
    CHECK_EQUAL(count, expected_count);
    for (size_t v = 0; v < VERTICES; v++) {
      CHECK(memcmp((char *)found + v * stride, (char *)expected + v * size, size) == 0);
    }
    options.positions_stride = 0;
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, posed, NULL, NULL, NULL), SBS_OK);
    CHECK(memcmp(posed, expected, VERTICES * size) == 0);
    sbs_skin_free(skin);
  }
}

static void test_errors(void) {
  static double posed[VERTICES * 3], rest[VERTICES * 3], untouched[VERTICES * 3];
  static unsigned char singular[VERTICES], unmarked[VERTICES];
  transform joints[JOINTS];
  make_pose(joints, 91, 30.0, 0);
  sbs_pose pose = pose_of(joints);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_fault fault;
  size_t count = 77;
  CHECK_EQUAL(sbs_skin_inverse_deform(NULL, &pose, NULL, posed, 0, rest, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "skin");
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, NULL, NULL, posed, 0, rest, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "pose");
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, NULL, 0, rest, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "posed_positions");
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "rest_positions");

  const size_t strides[] = {1, 8, 16, 23, 25};
  for (int i = 0; i < 5; i++) {
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, posed, strides[i], rest, singular, &count, &fault),
                SBS_ERROR_STRIDE);
    CHECK_STRING(fault.argument, "posed_stride");
  }
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < 3; i++) {
    posed[3 * 1000 + i] = bad[i];
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, rest, singular, &count, &fault),
                SBS_ERROR_NOT_FINITE);
    CHECK_STRING(fault.argument, "posed_positions");
    CHECK_EQUAL(fault.index_count, 2);
    CHECK_EQUAL(fault.index[0], 1000);
    CHECK_EQUAL(fault.index[1], i);
    posed[3 * 1000 + i] = 0.0;
  }
  options.method = (sbs_method)4;
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, singular, &count, &fault),
              SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "method");
  joints[2].m[1][1] = NAN;
  CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, rest, singular, &count, &fault),
              SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "skinning_matrices");
  CHECK(memcmp(rest, untouched, sizeof rest) == 0);
  CHECK(memcmp(singular, unmarked, sizeof singular) == 0);
  CHECK_EQUAL(count, 77);
  sbs_skin_free(skin);
}

/* Numbers at the edge of what the type holds: told as singular where they tell nothing, never a NaN. */
static void test_huge_numbers(void) {
  static float posed[VERTICES * 3];
  static double rest[VERTICES * 3];
  for (int i = 0; i < 4; i++) {
    transform joints[JOINTS];
    make_pose(joints, 95, 90.0, 0);
    const double scale = i % 2 ? 1e-30 : 1e30;
    for (int j = 0; j < JOINTS; j++) joints[j] = multiply(joints[j], scaling(scale, scale, scale));
    for (size_t k = 0; k < 3 * VERTICES; k++) posed[k] = i / 2 ? 3e38f : 1.0f;
    sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0);
    const sbs_pose pose = pose_of(joints);
    for (int m = 0; m < 4; m++) {
      sbs_deform_options options = sbs_default_deform_options();
      options.method = all_methods[m];
      size_t count = 0;
      CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, NULL, &count, NULL), SBS_OK);
      CHECK_EQUAL(count, i ? VERTICES : 0);
      for (size_t k = 0; k < 3 * VERTICES; k++) {
        const double found = number_at(rest, SBS_FLOAT32, k);
        CHECK(isfinite(found));
        if (i) CHECK_NEAR(found, mesh.positions[k], 2.4e-7);
      }
    }
    sbs_skin_free(skin);
  }
}

static void tests(void) {
  RUN(test_rest_comes_back);
  RUN(test_rotations_lose_nothing);
  RUN(test_far_away);
  RUN(test_singular);
  RUN(test_collapse_of_linear_blending);
  RUN(test_sculpted);
  RUN(test_unweighted_vertices_stay);
  RUN(test_one_vertex);
  RUN(test_same_bits);
  RUN(test_huge_numbers);
}

int main(void) {
  mesh = new_rig(2, VERTICES, JOINTS, 3);
  run_with_every_instruction_set(tests);
  RUN(test_errors);
  free_rig(&mesh);
  return harness_result();
}
