/* SPDX-License-Identifier: MIT */
/* Skins with twists spread along bones, deformed by the matrices of the skeleton alone. */
#include "counting_allocator.h"
#include "limb.h"
#include "twist/twist.h"

enum {
  SKIN_V = 5,
  SKIN_FRAMES = 3
};
static const double skin_rest[SKIN_V][3] = {{-1, 0.5, 0}, {0.5, 0, 1}, {2, 1, 0}, {3.5, 0, -1}, {5, 0.25, 0.5}};
static const int32_t skin_joints[SKIN_V][2] = {{0, 1}, {0, 1}, {1, 0}, {1, 2}, {2, 0}};
static const float skin_weights[SKIN_V][2] = {{1, 0}, {0.25f, 0.75f}, {1, 0}, {0.5f, 0.5f}, {1, 0}};
static const int32_t skin_parents[JOINTS] = {-1, 0, 1};
static const double skin_places[JOINTS][3] = {{0, 0, 0}, {0, 0, 0}, {4, 0, 0}};

static sbs_skin_desc describe_skin(const sbs_twist *twist) {
  sbs_skin_desc desc = sbs_default_skin_desc();
  desc.vertex_count = SKIN_V, desc.joint_count = JOINTS, desc.influences_per_vertex = 2;
  desc.scalar = SBS_FLOAT64;
  desc.rest_positions = skin_rest, desc.rest_normals = skin_rest;
  desc.joint_indices = skin_joints[0], desc.joint_weights = skin_weights;
  desc.parents = skin_parents, desc.joint_positions = skin_places[0];
  desc.twist = twist;
  return desc;
}

static sbs_skin *new_skin(const sbs_twist *twist, const sbs_allocator *allocator) {
  const sbs_skin_desc desc = describe_skin(twist);
  sbs_skin_options options = sbs_default_skin_options();
  sbs_skin *skin = NULL;
  if (allocator) options.allocator = *allocator;
  return CHECK_EQUAL(sbs_skin_new(&desc, &options, &skin, NULL, NULL), SBS_OK) ? skin : NULL;
}

/* The same by the parts that it consists of, bit for bit; for several frames, with given twists and without. */
static void test_a_skin_deforms_from_plain_matrices(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  const size_t count = sbs_twist_joint_count(twist);
  sbs_skin *skin = new_skin(twist, NULL), *by_parts = NULL;

  int32_t found[SKIN_V][4], new_parents[JOINTS + SBS_TWIST_FRAMES];
  double shared[SKIN_V][4], places[JOINTS + SBS_TWIST_FRAMES][3];
  CHECK_EQUAL(sbs_twist_influences(twist, SKIN_V, SBS_FLOAT64, skin_rest, 0, 2, skin_joints[0], SBS_FLOAT32,
                                   skin_weights, NULL, found[0], shared[0], NULL),
              SBS_OK);
  CHECK_EQUAL(sbs_twist_joints(twist, skin_parents, skin_places[0], new_parents, places[0], NULL), SBS_OK);
  sbs_skin_desc desc = describe_skin(NULL);
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
    sbs_pose poses = pose_of(frames[0]);
    poses.twist_angles = angles;
    CHECK_EQUAL(sbs_skin_deform_many(skin, SKIN_FRAMES, &poses, NULL, posed, normals, NULL, NULL), SBS_OK);
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
  CHECK_EQUAL(sbs_skin_deform_many(skin, 0, &(sbs_pose){.rows = 3}, NULL, NULL, NULL, NULL, NULL), SBS_OK);
  sbs_skin_free(by_parts);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
}

/* The skin keeps what it needs of the twist; its influences and joints are those that were given. */
static void test_a_skin_outlives_its_twist(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, NULL);
  matrix joints[JOINTS];
  double posed[SKIN_V][3], again[SKIN_V][3];
  pose_limb(0.3, 2.0, -1.0, joints);
  const sbs_pose pose = pose_of(joints);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, NULL, posed, NULL, NULL, NULL), SBS_OK);
  sbs_twist_free(twist);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, NULL, again, NULL, NULL, NULL), SBS_OK);
  CHECK(memcmp(posed, again, sizeof posed) == 0);
  sbs_skin_info info;
  CHECK_EQUAL(sbs_skin_get_info(skin, &info), SBS_OK);
  CHECK_EQUAL(info.joint_count, JOINTS);
  CHECK_EQUAL(info.twist_bone_count, 1);
  sbs_skin_free(skin);
}

/* After an edit the skin is that which is bound anew, bit for bit. */
static void test_an_update_equals_a_new_skin(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones), *other = NULL;
  sbs_skin *skin = new_skin(twist, NULL), *updated = NULL, *anew = NULL;
  float weights[SKIN_V][2];
  memcpy(weights, skin_weights, sizeof weights);
  weights[0][0] = 0.25f, weights[0][1] = 0.75f, weights[3][0] = 1, weights[3][1] = 0;
  const int32_t changed[] = {3, 0};
  sbs_skin_desc desc = describe_skin(twist);
  desc.joint_weights = weights;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &updated, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &anew, NULL, NULL), SBS_OK);
  matrix joints[JOINTS];
  double posed[SKIN_V][3], expected[SKIN_V][3];
  pose_limb(0.3, 2.0, -1.0, joints);
  const sbs_pose pose = pose_of(joints);
  CHECK_EQUAL(sbs_skin_deform(updated, &pose, NULL, posed, NULL, NULL, NULL), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform(anew, &pose, NULL, expected, NULL, NULL, NULL), SBS_OK);
  CHECK(memcmp(posed, expected, sizeof posed) == 0);

  sbs_skin *refused = NULL;
  sbs_fault fault = {0};
  desc.twist = NULL;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &refused, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "twist");
  sbs_twist_desc longer = bones;
  const double farther[1][3] = {{5, 0, 0}};
  longer.tails = farther[0];
  other = new_twist(&longer);
  desc.twist = other;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &refused, NULL, &fault), SBS_ERROR_OPTION);
  const int32_t circle[JOINTS] = {1, 0, 1}, outside[JOINTS] = {-1, 0, 70};
  desc.twist = twist, desc.parents = circle;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &refused, NULL, &fault), SBS_ERROR_PARENT);
  desc.parents = outside;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &refused, NULL, &fault), SBS_ERROR_PARENT);
  sbs_skin_free(skin);
  sbs_skin_free(updated);
  sbs_skin_free(anew);
  sbs_twist_free(twist);
  sbs_twist_free(other);
}

/* With memory of the caller none is allocated, and what it lacks is told. */
static void test_a_frame_in_memory_of_the_caller(void) {
  const sbs_twist_desc bones = describe();
  allocation_counter counter = {.fail_at = SIZE_MAX};
  const sbs_allocator allocator = counting_allocator(&counter);
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, &allocator);
  const size_t made = counter.allocated, size = sbs_skin_scratch_size(skin);
  char *memory = malloc(size + 63), *aligned = memory + (64 - (uintptr_t)memory % 64) % 64;
  matrix joints[JOINTS];
  double posed[SKIN_V][3], expected[SKIN_V][3];
  pose_limb(0.3, 2.0, -1.0, joints);
  const sbs_pose pose = pose_of(joints);
  sbs_deform_options options = sbs_default_deform_options();
  options.scratch = aligned, options.scratch_size = size;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, posed, NULL, NULL, &fault), SBS_OK);
  CHECK_EQUAL(counter.allocated, made);
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, NULL, expected, NULL, NULL, &fault), SBS_OK);
  CHECK(memcmp(posed, expected, sizeof posed) == 0);
  CHECK_EQUAL(counter.allocated, made + 1);
  options.scratch_size = size - 1;
  CHECK_EQUAL(sbs_skin_deform(skin, &pose, &options, posed, NULL, NULL, &fault), SBS_ERROR_SCRATCH);
  CHECK_STRING(fault.argument, "scratch_size");
  CHECK_NEAR(fault.limit, (double)size, 0.0);
  free(memory);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
  CHECK_EQUAL(counter.released, counter.allocated);
}

/* Whichever allocation fails, all that was allocated is released. */
static void test_short_memory(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  const sbs_skin_desc desc = describe_skin(twist);
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  for (size_t fail_at = 0; status != SBS_OK && fail_at < 200; fail_at++) {
    allocation_counter counter = {.fail_at = fail_at};
    sbs_skin_options options = sbs_default_skin_options();
    options.allocator = counting_allocator(&counter);
    sbs_skin *skin = NULL;
    status = sbs_skin_new(&desc, &options, &skin, NULL, NULL);
    CHECK(status == SBS_OK || (status == SBS_ERROR_OUT_OF_MEMORY && !skin));
    sbs_skin_free(skin);
    CHECK_EQUAL(counter.released, counter.allocated);
  }
  CHECK_EQUAL(status, SBS_OK);
  sbs_twist_free(twist);
}

/* Faults speak of the arguments as they were given. */
static void test_bad_skins_are_refused(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin_desc desc = describe_skin(twist);
  sbs_skin *skin = NULL;
  sbs_fault fault = {0};
  desc.joint_count = JOINTS + 1;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "twist");
  desc = describe_skin(twist);
  float weights[SKIN_V][2];
  memcpy(weights, skin_weights, sizeof weights);
  weights[3][1] = -1;
  desc.joint_weights = weights;
  sbs_skin_options strict = sbs_default_skin_options();
  strict.strict = 1;
  for (int only_checked = 0; only_checked < 2; only_checked++) {
    fault = (sbs_fault){0};
    CHECK_EQUAL(only_checked ? sbs_skin_check(&desc, &strict, NULL, &fault)
                             : sbs_skin_new(&desc, &strict, &skin, NULL, &fault),
                SBS_ERROR_WEIGHT);
    CHECK_STRING(fault.argument, "joint_weights");
    CHECK_EQUAL(fault.index[0], 3);
    CHECK_EQUAL(fault.index[1], 1);
  }
  sbs_weight_report report;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.negative, 1);
  sbs_twist_free(twist);
  sbs_skin_free(skin);
}

static void test_bad_poses_are_refused(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, NULL), *plain = new_skin(NULL, NULL);
  const double not_finite[2][2] = {{0, 0}, {INFINITY, 0}};
  matrix two[2][JOINTS];
  pose_limb(0, 0, 0, two[0]);
  pose_limb(0, 0, 0, two[1]);
  double both[2][SKIN_V][3];
  sbs_fault fault = {0};
  sbs_pose poses = pose_of(two[0]);
  two[1][2][0][3] = NAN;
  CHECK_EQUAL(sbs_skin_deform_many(skin, 2, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "skinning_matrices");
  CHECK_EQUAL(fault.index[0], JOINTS + 2);
  two[1][2][0][3] = 2.0 * SBS_LARGEST;
  CHECK_EQUAL(sbs_skin_deform_many(skin, 2, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_TOO_LARGE);
  two[1][2][0][3] = 0;
  poses.twist_angles = not_finite[0];
  CHECK_EQUAL(sbs_skin_deform_many(skin, 2, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE);
  CHECK_STRING(fault.argument, "twist_angles");
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_EQUAL(sbs_skin_deform(skin, &poses, NULL, both, NULL, NULL, &fault), SBS_OK);
  CHECK_EQUAL(sbs_skin_deform(plain, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "twist_angles"); /* it has no bones */
  sbs_skin_free(plain);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
}

int main(void) {
  RUN(test_a_skin_deforms_from_plain_matrices);
  RUN(test_a_skin_outlives_its_twist);
  RUN(test_an_update_equals_a_new_skin);
  RUN(test_a_frame_in_memory_of_the_caller);
  RUN(test_short_memory);
  RUN(test_bad_skins_are_refused);
  RUN(test_bad_poses_are_refused);
  return harness_result();
}
