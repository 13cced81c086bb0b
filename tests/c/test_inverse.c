/* SPDX-License-Identifier: MIT */
/* Deformation undone: in any layout, by any number of threads, of huge numbers, and bad input. */
#include "rig.h"

enum {
  VERTICES = 3000,
  JOINTS = 9
};

static rig mesh;

static void make_pose(transform joints[JOINTS], double most_degrees) {
  uint64_t seed = 81;
  for (int j = 0; j < JOINTS; j++) joints[j] = random_rigid(&seed, most_degrees);
}

/* Threads, strides, the caller's scratch, and work in place change no bit. */
static void test_same_bits(void) {
  static double posed[VERTICES * 4], expected[VERTICES * 3], found[VERTICES * 4], loose[VERTICES * 4];
  static unsigned char expected_singular[VERTICES], singular[VERTICES];
  static _Alignas(64) unsigned char scratch[1 << 21];
  transform joints[JOINTS];
  make_pose(joints, 150.0);
  joints[0] = multiply(joints[0], scaling(2.0, 0.5, 1.25));
  joints[5] = multiply(joints[5], scaling(1.0, 1.0, 0.0));
  const sbs_pose pose = pose_of(joints);
  for (int i = 0; i < 8; i++) {
    const sbs_scalar scalar = i % 2 ? SBS_FLOAT64 : SBS_FLOAT32;
    const size_t size = 3 * size_of(scalar), stride = 4 * size_of(scalar);
    sbs_skin *skin = bind_rig(&mesh, scalar, 0);
    sbs_deform_options options = sbs_default_deform_options();
    options.method = (sbs_method)(i / 2);
    size_t expected_count, count;
    CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, posed, NULL, NULL, NULL), SBS_OK);
    options.threads = 1;
    CHECK_EQUAL(
        sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, expected, expected_singular, &expected_count, NULL),
        SBS_OK);
    options.threads = 3;
    CHECK_EQUAL(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, found, singular, &count, NULL), SBS_OK);
    CHECK(memcmp(found, expected, VERTICES * size) == 0);
    CHECK(memcmp(singular, expected_singular, VERTICES) == 0);
    CHECK_EQUAL(count, expected_count);
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
  make_pose(joints, 30.0);
  sbs_pose pose = pose_of(joints);
  sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT64, 0);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_fault fault;
  size_t count = 77;
  CHECK_REFUSED(sbs_skin_inverse_deform(NULL, &pose, NULL, posed, 0, rest, NULL, NULL, &fault), SBS_ERROR_NULL, "skin");
  CHECK_REFUSED(sbs_skin_inverse_deform(skin, NULL, NULL, posed, 0, rest, NULL, NULL, &fault), SBS_ERROR_NULL, "pose");
  CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, NULL, NULL, 0, rest, NULL, NULL, &fault), SBS_ERROR_NULL,
                "posed_positions");
  CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, NULL, NULL, NULL, &fault), SBS_ERROR_NULL,
                "rest_positions");

  const size_t strides[] = {1, 8, 16, 23, 25};
  for (int i = 0; i < 5; i++) {
    CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, NULL, posed, strides[i], rest, singular, &count, &fault),
                  SBS_ERROR_STRIDE, "posed_stride");
  }
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < 3; i++) {
    posed[3 * 1000 + i] = bad[i];
    CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, rest, singular, &count, &fault),
                  SBS_ERROR_NOT_FINITE, "posed_positions");
    CHECK(fault.index_count == 2 && fault.index[0] == 1000 && fault.index[1] == i);
    posed[3 * 1000 + i] = 0.0;
  }
  options.rest_positions = rest;
  CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, singular, &count, &fault),
                SBS_ERROR_OPTION, "rest_positions");
  options = sbs_default_deform_options();
  options.method = (sbs_method)4;
  CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, &options, posed, 0, rest, singular, &count, &fault),
                SBS_ERROR_OPTION, "method");
  joints[2].m[1][1] = NAN;
  CHECK_REFUSED(sbs_skin_inverse_deform(skin, &pose, NULL, posed, 0, rest, singular, &count, &fault),
                SBS_ERROR_NOT_FINITE, "skinning_matrices");
  CHECK(memcmp(rest, untouched, sizeof rest) == 0);
  CHECK(memcmp(singular, unmarked, sizeof singular) == 0);
  CHECK_EQUAL(count, 77);
  sbs_skin_free(skin);
}

/* Numbers at the ends of a type: vertices are singular where nothing is known, and never NaN. */
static void test_huge_numbers(void) {
  static float posed[VERTICES * 3];
  static double rest[VERTICES * 3];
  for (int i = 0; i < 4; i++) {
    transform joints[JOINTS];
    make_pose(joints, 90.0);
    const double scale = i % 2 ? 1e-30 : 1e30;
    for (int j = 0; j < JOINTS; j++) joints[j] = multiply(joints[j], scaling(scale, scale, scale));
    for (size_t k = 0; k < 3 * VERTICES; k++) posed[k] = i / 2 ? 3e38f : 1.0f;
    sbs_skin *skin = bind_rig(&mesh, SBS_FLOAT32, 0);
    const sbs_pose pose = pose_of(joints);
    for (int m = 0; m < 4; m++) {
      sbs_deform_options options = sbs_default_deform_options();
      options.method = (sbs_method)m;
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
