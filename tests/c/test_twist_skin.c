/* SPDX-License-Identifier: MIT */
/* Skins with twists spread along bones, deformed by the matrices of the skeleton alone. */
#include "counting_allocator.h"
#include "limb.h"

enum {
  SKIN_V = 5,
  SKIN_FRAMES = 3
};
static const double skin_rest[SKIN_V][3] = {{-1, 0.5, 0}, {0.5, 0, 1}, {2, 1, 0}, {3.5, 0, -1}, {5, 0.25, 0.5}};
static const int32_t skin_joints[SKIN_V][2] = {{0, 1}, {0, 1}, {1, 0}, {1, 2}, {2, 0}};
static const float skin_weights[SKIN_V][2] = {{1, 0}, {0.25f, 0.75f}, {1, 0}, {0.5f, 0.5f}, {1, 0}};
static const int32_t skin_parents[JOINTS] = {-1, 0, 1};
static const double skin_places[JOINTS][3] = {{0, 0, 0}, {0, 0, 0}, {4, 0, 0}};

static sbs_skin_desc describe_skin(void) {
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = SKIN_V, desc.joint_count = JOINTS, desc.influences_per_vertex = 2;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = skin_rest, desc.rest_normals = skin_rest;
  desc.joint_indices = skin_joints[0], desc.joint_weights = skin_weights;
  desc.parents = skin_parents, desc.joint_positions = skin_places[0];
  return desc;
}

static sbs_skin *new_skin(const sbs_twist *twist) {
  const sbs_skin_desc desc = describe_skin();
  sbs_skin *skin = NULL;
  return CHECK_EQUAL(sbs_twist_skin_new(twist, &desc, NULL, &skin, NULL, NULL), SBS_OK) ? skin : NULL;
}

/* The same by the parts that it consists of, bit for bit; for several frames, with given twists and without. */
static void test_a_skin_deforms_from_plain_matrices(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  const size_t count = sbs_twist_joint_count(twist);
  sbs_skin *skin = new_skin(twist), *by_parts = NULL;

  int32_t found[SKIN_V][4], new_parents[JOINTS + SBS_TWIST_FRAMES];
  double shared[SKIN_V][4], places[JOINTS + SBS_TWIST_FRAMES][3];
  CHECK_EQUAL(sbs_twist_influences(twist, SKIN_V, SBS_FLOAT64, skin_rest, 0, 2, skin_joints[0], SBS_FLOAT32,
                                   skin_weights, NULL, found[0], shared[0], NULL),
              SBS_OK);
  CHECK_EQUAL(sbs_twist_joints(twist, skin_parents, skin_places[0], new_parents, places[0], NULL), SBS_OK);
  sbs_skin_desc desc = describe_skin();
  desc.joint_count = count, desc.influences_per_vertex = 4;
  desc.joint_indices = found[0], desc.joint_weights = shared, desc.weight_scalar = SBS_FLOAT64;
  desc.parents = new_parents, desc.joint_positions = places[0];
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &by_parts, NULL, NULL), SBS_OK);

  matrix frames[SKIN_FRAMES][JOINTS];
  for (int f = 0; f < SKIN_FRAMES; f++) pose_limb(0.4 * f, 1.5 - f, 0.8 * f, frames[f]);
  const double told[SKIN_FRAMES][2] = {{4, -1}, {0, 0}, {-2, 5}};
  for (int with_angles = 0; with_angles < 2; with_angles++) {
    const double *angles = with_angles ? told[0] : NULL;
    double posed[SKIN_FRAMES][SKIN_V][3], normals[SKIN_FRAMES][SKIN_V][3];
    const sbs_pose poses = pose_of(frames[0]);
    CHECK_EQUAL(sbs_twist_deform(twist, skin, SKIN_FRAMES, &poses, angles, NULL, posed, normals, NULL, NULL), SBS_OK);
    for (int f = 0; f < SKIN_FRAMES; f++) {
      double all[JOINTS + SBS_TWIST_FRAMES][3][4], expected[SKIN_V][3], expected_normals[SKIN_V][3];
      const sbs_pose one = pose_of(frames[f]);
      CHECK_EQUAL(sbs_twist_pose(twist, &one, angles ? told[f] : NULL, all[0][0], NULL), SBS_OK);
      const sbs_pose with_frames = {.skinning_matrices = all, .scalar = SBS_FLOAT64, .rows = 3};
      CHECK_EQUAL(sbs_skin_deform(by_parts, &with_frames, NULL, expected, expected_normals, NULL, NULL), SBS_OK);
      CHECK(memcmp(posed[f], expected, sizeof expected) == 0);
      CHECK(memcmp(normals[f], expected_normals, sizeof expected_normals) == 0);
    }
  }
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 0, &(sbs_pose){.rows = 3}, NULL, NULL, NULL, NULL, NULL, NULL), SBS_OK);
  sbs_skin_free(by_parts);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
}

/* With memory of the caller none is allocated, and what it lacks is told. */
static void test_a_frame_in_memory_of_the_caller(void) {
  const sbs_twist_desc bones = describe();
  allocation_counter counter = {.fail_at = SIZE_MAX};
  const sbs_allocator allocator = counting_allocator(&counter);
  sbs_twist *twist = NULL;
  CHECK_EQUAL(sbs_twist_new(&bones, &allocator, &twist, NULL), SBS_OK);
  sbs_skin *skin = new_skin(twist);
  const size_t made = counter.allocated, size = sbs_twist_scratch_size(twist, skin);
  CHECK(size > sbs_skin_scratch_size(skin));
  CHECK_EQUAL(sbs_twist_scratch_size(NULL, skin), 0);
  CHECK_EQUAL(sbs_twist_scratch_size(twist, NULL), 0);
  char *memory = malloc(size + 63), *aligned = memory + (64 - (uintptr_t)memory % 64) % 64;
  matrix joints[JOINTS];
  double posed[SKIN_V][3], expected[SKIN_V][3];
  pose_limb(0.3, 2.0, -1.0, joints);
  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.scratch = aligned, options.scratch_size = size;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, &pose, NULL, &options, posed, NULL, NULL, &fault), SBS_OK);
  CHECK_EQUAL(counter.allocated, made);
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, &pose, NULL, NULL, expected, NULL, NULL, &fault), SBS_OK);
  CHECK(memcmp(posed, expected, sizeof posed) == 0);
  CHECK_EQUAL(counter.allocated, made + 1);
  options.scratch_size = size - 1;
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, &pose, NULL, &options, posed, NULL, NULL, &fault), SBS_ERROR_SCRATCH);
  CHECK_STRING(fault.argument, "scratch_size");
  CHECK_NEAR(fault.limit, (double)size, 0.0);
  options.scratch = aligned + 8, options.scratch_size = size - 8;
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, &pose, NULL, &options, posed, NULL, NULL, &fault), SBS_ERROR_SCRATCH);
  CHECK_STRING(fault.argument, "scratch");
  counter.fail_at = counter.allocated;
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, &pose, NULL, NULL, posed, NULL, NULL, &fault), SBS_ERROR_OUT_OF_MEMORY);
  free(memory);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
  CHECK_EQUAL(counter.released, counter.allocated);
}

/* Faults speak of the arguments as they were given. */
static void test_bad_skins_are_refused(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin_desc desc = describe_skin();
  sbs_skin *skin = NULL, *plain = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_twist_skin_new(NULL, &desc, NULL, &skin, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_skin_new(twist, NULL, NULL, &skin, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_skin_new(twist, &desc, NULL, NULL, NULL, &fault), SBS_ERROR_NULL);
  CHECK_STRING(fault.argument, "skin");
  desc.joint_count = JOINTS + 1;
  CHECK_EQUAL(sbs_twist_skin_new(twist, &desc, NULL, &skin, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "joint_count");
  desc = describe_skin();
  float weights[SKIN_V][2];
  memcpy(weights, skin_weights, sizeof weights);
  weights[3][1] = -1;
  desc.joint_weights = weights;
  sbs_skin_options strict = sbs_default_skin_options();
  strict.strict = 1;
  CHECK_EQUAL(sbs_twist_skin_new(twist, &desc, &strict, &skin, NULL, &fault), SBS_ERROR_WEIGHT);
  CHECK_STRING(fault.argument, "joint_weights");
  CHECK_EQUAL(fault.index[0], 3);
  CHECK_EQUAL(fault.index[1], 1);
  sbs_weight_report report;
  CHECK_EQUAL(sbs_twist_skin_new(twist, &desc, NULL, &skin, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.negative, 1);
  for (size_t allocation = 0; allocation < 3; allocation++) { /* of its own; those of a skin come after them */
    allocation_counter counter = {.fail_at = allocation};
    sbs_skin_options short_of = sbs_default_skin_options();
    short_of.allocator = counting_allocator(&counter);
    sbs_skin *none = NULL;
    CHECK_EQUAL(sbs_twist_skin_new(twist, &desc, &short_of, &none, NULL, NULL), SBS_ERROR_OUT_OF_MEMORY);
    CHECK(none == NULL);
    CHECK_EQUAL(counter.released, counter.allocated);
  }

  matrix joints[JOINTS];
  double posed[SKIN_V][3], angles[2] = {0, NAN};
  pose_limb(0, 0, 0, joints);
  const sbs_pose pose = pose_of(joints);
  desc = describe_skin();
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &plain, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_twist_deform(NULL, skin, 1, &pose, NULL, NULL, posed, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_deform(twist, NULL, 1, &pose, NULL, NULL, posed, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, NULL, NULL, NULL, posed, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_deform(twist, plain, 1, &pose, NULL, NULL, posed, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "skin"); /* it has no frames */
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 1, &pose, angles, NULL, posed, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "angles");
  const double later[2][2] = {{0, 0}, {INFINITY, 0}};
  matrix two[2][JOINTS];
  memcpy(two[0], joints, sizeof joints);
  memcpy(two[1], joints, sizeof joints);
  two[1][2][0][3] = NAN;
  double both[2][SKIN_V][3];
  const sbs_pose poses = pose_of(two[0]);
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 2, &poses, NULL, NULL, both, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "skinning_matrices");
  CHECK_EQUAL(fault.index[0], JOINTS + 2);
  two[1][2][0][3] = 0;
  CHECK_EQUAL(sbs_twist_deform(twist, skin, 2, &poses, later[0], NULL, both, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "angles");
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_EQUAL(sbs_twist_deform(twist, skin, SIZE_MAX / 8, &pose, NULL, NULL, posed, NULL, NULL, &fault),
              SBS_ERROR_TOO_LARGE);
  CHECK_STRING(fault.argument, "frame_count");
  sbs_skin_free(plain);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
}

int main(void) {
  RUN(test_a_skin_deforms_from_plain_matrices);
  RUN(test_a_frame_in_memory_of_the_caller);
  RUN(test_bad_skins_are_refused);
  return harness_result();
}
