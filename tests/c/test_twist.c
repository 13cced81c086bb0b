/* SPDX-License-Identifier: MIT */
/*
 * Twist spread along bones: the edges of angles; skins with twists, deformed by the matrices of the skeleton alone; bad
 * and large input; and where memory is short. tests/python holds twists against a reference.
 */
#include <sbs/twist.h>

#include "counting_allocator.h"
#include "gradient/twist.h"
#include "rig.h"
#include "twist/twist.h"

/* Along x: a root at 0, a limb from 0 to 4, and a hand at 4. */
enum {
  JOINTS = 3
};
static const int32_t limb[1] = {1}, root[1] = {0}, hand[1] = {2};
static const double heads[1][3] = {{0, 0, 0}}, tails[1][3] = {{4, 0, 0}};

static sbs_twist_desc describe(void) {
  sbs_twist_desc desc = sbs_default_twist_desc();
  desc.joint_count = JOINTS;
  desc.bone_count = 1;
  desc.joints = limb;
  desc.parents = root;
  desc.children = hand;
  desc.heads = heads[0];
  desc.tails = tails[0];
  return desc;
}

static sbs_twist *new_twist(const sbs_twist_desc *desc) {
  sbs_twist *twist = NULL;
  return CHECK_EQUAL(sbs_twist_new(desc, NULL, &twist, NULL), SBS_OK) ? twist : NULL;
}

/* The root at rest, the limb turned by `own` about x after a swing about z, the hand by `child` more about x. */
static void pose_limb(double swing, double own, double child, transform joints[JOINTS]) {
  const double degrees = 180.0 / acos(-1.0);
  joints[0] = identity();
  joints[1] = multiply(rotation(0, 0, 1, swing * degrees), rotation(1, 0, 0, own * degrees));
  joints[2] = multiply(joints[1], about(rotation(1, 0, 0, child * degrees), 4, 0, 0));
}

/* Half a turn across the axis has no twist of its own. */
static void test_where_every_twist_is_as_good(void) {
  const double q[4] = {0, 0, 0.6, 0.8}, x_axis[3] = {1, 0, 0};
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 0.0), 0.0, 0.0);
  CHECK_NEAR(sbs_twist_angle(q, x_axis, 2.5), 2.5, 0.0);
}

static void test_bad_bones_are_refused(void) {
  const sbs_twist_desc good = describe();
  const int32_t far[1] = {3}, low[1] = {-2}, twice[2] = {1, 1}, two[2] = {0, 0};
  const double infinite[3] = {0, INFINITY, 0}, two_heads[6] = {0}, two_tails[6] = {1, 0, 0, 1, 0, 0};
  const double large[3] = {0, 1.1 * SBS_LARGEST, 0};
  sbs_twist_desc desc;
  sbs_twist *twist = NULL;
  sbs_fault fault = {0};
  CHECK_EQUAL(sbs_twist_new(NULL, NULL, &twist, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_new(&good, NULL, NULL, NULL), SBS_ERROR_NULL);
#define REFUSED(change, status, argument) \
  desc = good, desc.change; \
  CHECK_REFUSED(sbs_twist_new(&desc, NULL, &twist, &fault), status, argument)
  REFUSED(joint_count = 0, SBS_ERROR_EMPTY, "joint_count");
  REFUSED(joint_count = (size_t)INT32_MAX + 1, SBS_ERROR_TOO_LARGE, "joint_count");
  REFUSED(frames_per_bone = (size_t)INT32_MAX, SBS_ERROR_TOO_LARGE, "bone_count");
  REFUSED(frames_per_bone = 1, SBS_ERROR_OPTION, "frames_per_bone");
  REFUSED(joints = NULL, SBS_ERROR_NULL, "joints");
  REFUSED(parents = NULL, SBS_ERROR_NULL, "parents");
  REFUSED(heads = NULL, SBS_ERROR_NULL, "heads");
  REFUSED(tails = NULL, SBS_ERROR_NULL, "tails");
  REFUSED(heads = infinite, SBS_ERROR_NOT_FINITE, "heads");
  REFUSED(tails = infinite, SBS_ERROR_NOT_FINITE, "tails");
  REFUSED(heads = large, SBS_ERROR_TOO_LARGE, "heads");
  REFUSED(tails = large, SBS_ERROR_TOO_LARGE, "tails");
  REFUSED(tails = good.heads, SBS_ERROR_OPTION, "tails");
  REFUSED(joints = far, SBS_ERROR_JOINT_INDEX, "joints");
  REFUSED(joints = low, SBS_ERROR_JOINT_INDEX, "joints");
  REFUSED(parents = far, SBS_ERROR_PARENT, "parents");
  REFUSED(parents = limb, SBS_ERROR_PARENT, "parents");
  REFUSED(children = far, SBS_ERROR_JOINT_INDEX, "children");
  REFUSED(children = limb, SBS_ERROR_JOINT_INDEX, "children");
#undef REFUSED
  desc = good, desc.bone_count = 2, desc.joints = twice, desc.parents = two, desc.children = NULL;
  desc.heads = two_heads, desc.tails = two_tails;
  CHECK_REFUSED(sbs_twist_new(&desc, NULL, &twist, &fault), SBS_ERROR_JOINT_INDEX, "joints");
  CHECK(twist == NULL);
  sbs_twist_free(NULL);
  CHECK_EQUAL(sbs_twist_joint_count(NULL), 0);
}

static void test_influences(void) {
  sbs_twist_desc desc = describe();
  desc.smooth = 1;
  sbs_twist *twist = new_twist(&desc);
  double rest[1][3] = {{1, 0, 0}}, share[1] = {1.5}, shared[2];
  int32_t joint[1] = {3}, found[2];
  const float weight[1] = {1};
  sbs_fault fault = {0};
#define INFLUENCES(columns, scalar, weight_scalar, shares) \
  sbs_twist_influences(twist, 1, scalar, rest, 0, columns, joint, weight_scalar, weight, shares, found, shared, &fault)
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, NULL), SBS_ERROR_JOINT_INDEX); /* though there are 7 joints */
  CHECK_STRING(fault.argument, "joint_indices");
  joint[0] = 1;
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, NULL), SBS_OK); /* 3 / 16 - 2 / 64 of the bone, times three */
  CHECK_EQUAL(found[0], JOINTS);
  CHECK_NEAR(shared[1], 3 * (3.0 / 16 - 2.0 / 64), 1e-15);
  CHECK_EQUAL(INFLUENCES(0, SBS_FLOAT64, SBS_FLOAT32, NULL), SBS_ERROR_EMPTY);
  CHECK_EQUAL(INFLUENCES(1, (sbs_scalar)7, SBS_FLOAT32, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, (sbs_scalar)7, NULL), SBS_ERROR_OPTION);
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, share), SBS_ERROR_OPTION);
  CHECK_STRING(fault.argument, "shares");
  share[0] = 1.0;
  CHECK_EQUAL(INFLUENCES(1, SBS_FLOAT64, SBS_FLOAT32, share), SBS_OK);
  CHECK(found[1] == JOINTS + SBS_TWIST_FRAMES - 1 && shared[1] == 1.0);
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
  transform joints[JOINTS];
  double angles[2] = {0, NAN}, found[JOINTS + SBS_TWIST_FRAMES][3][4];
  sbs_fault fault = {0};
  pose_limb(0, 0, 0, joints);
  const sbs_pose pose = pose_of(joints);
  CHECK_EQUAL(sbs_twist_angles(NULL, &pose, NULL, angles, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_angles(twist, NULL, NULL, angles, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_angles(twist, &pose, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_twist_pose(twist, &pose, NULL, NULL, NULL), SBS_ERROR_NULL);
  CHECK_REFUSED(sbs_twist_angles(twist, &pose, angles, angles, &fault), SBS_ERROR_NOT_FINITE, "previous");
  CHECK_REFUSED(sbs_twist_pose(twist, &pose, angles, found[0][0], &fault), SBS_ERROR_NOT_FINITE, "angles");
  joints[2].m[1][1] = NAN;
  CHECK_REFUSED(sbs_twist_pose(twist, &pose, NULL, found[0][0], &fault), SBS_ERROR_NOT_FINITE, "skinning_matrices");
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
      transform joints[JOINTS];
      double angles[2] = {0.0}, found[NUMBERS], by[NUMBERS], by_joints[12 * JOINTS], by_angles[2] = {0.0};
      sbs_fault fault = {0};
      pose_limb(0.3, 0.5, 0.7, joints);
      const sbs_status expected = fabs(numbers[n]) > SBS_LARGEST ? SBS_ERROR_TOO_LARGE : SBS_OK;
      for (int i = 0; i < 12; i++) joints[1].m[i / 4][i % 4] *= numbers[n];
      joints[1].m[0][0] = numbers[n];
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
      CHECK_REFUSED(sbs_twist_pose(twist, &pose, angles, found, &fault), SBS_ERROR_TOO_LARGE, "angles");
    }
    sbs_twist_free(twist);
  }
}

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
  CHECK_EQUAL(sbs_twist_joints(twist, NULL, skin_places[0], NULL, places[0], NULL), SBS_OK); /* places alone */
  CHECK_EQUAL(sbs_twist_joints(twist, skin_parents, skin_places[0], new_parents, places[0], NULL), SBS_OK);
  sbs_skin_desc desc = describe_skin(NULL);
  desc.joint_count = count, desc.influences_per_vertex = 4;
  desc.joint_indices = found[0], desc.joint_weights = shared, desc.weight_scalar = SBS_FLOAT64;
  desc.parents = new_parents, desc.joint_positions = places[0];
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &by_parts, NULL, NULL), SBS_OK);

  transform frames[SKIN_FRAMES][JOINTS];
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

/* The skin keeps a copy of the twist; its joints are the given ones. */
static void test_a_skin_outlives_its_twist(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, NULL);
  transform joints[JOINTS];
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

/* With memory of the caller none is allocated, and memory that is too small is refused. */
static void test_a_frame_in_memory_of_the_caller(void) {
  const sbs_twist_desc bones = describe();
  allocation_counter counter = {.fail_at = SIZE_MAX};
  const sbs_allocator allocator = counting_allocator(&counter);
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, &allocator);
  const size_t made = counter.allocated, size = sbs_skin_scratch_size(skin);
  char *memory = malloc(size + 63), *aligned = memory + (64 - (uintptr_t)memory % 64) % 64;
  transform joints[JOINTS];
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
  CHECK_REFUSED(sbs_skin_deform(skin, &pose, &options, posed, NULL, NULL, &fault), SBS_ERROR_SCRATCH, "scratch_size");
  CHECK_NEAR(fault.limit, (double)size, 0.0);
  free(memory);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
  CHECK_EQUAL(counter.released, counter.allocated);
}

/* Faults speak of the arguments as they were given. */
static void test_bad_skins_are_refused(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin_desc desc = describe_skin(twist);
  sbs_skin *skin = NULL;
  sbs_fault fault = {0};
  desc.joint_count = JOINTS + 1;
  CHECK_REFUSED(sbs_skin_new(&desc, NULL, &skin, NULL, &fault), SBS_ERROR_OPTION, "twist");
  desc = describe_skin(twist);
  float weights[SKIN_V][2];
  memcpy(weights, skin_weights, sizeof weights);
  weights[3][1] = -1;
  desc.joint_weights = weights;
  sbs_skin_options strict = sbs_default_skin_options();
  strict.strict = 1;
  for (int only_checked = 0; only_checked < 2; only_checked++) {
    fault = (sbs_fault){0};
    CHECK_REFUSED(only_checked ? sbs_skin_check(&desc, &strict, NULL, &fault)
                               : sbs_skin_new(&desc, &strict, &skin, NULL, &fault),
                  SBS_ERROR_WEIGHT, "joint_weights");
    CHECK_EQUAL(fault.index[0], 3);
    CHECK_EQUAL(fault.index[1], 1);
  }
  sbs_weight_report report;
  CHECK_EQUAL(sbs_skin_new(&desc, NULL, &skin, &report, NULL), SBS_OK);
  CHECK_EQUAL(report.negative, 1);
  sbs_twist_free(twist);
  sbs_skin_free(skin);
}

static void test_bad_poses_of_skins_are_refused(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, NULL), *plain = new_skin(NULL, NULL);
  const double not_finite[2][2] = {{0, 0}, {INFINITY, 0}};
  transform two[2][JOINTS];
  pose_limb(0, 0, 0, two[0]);
  pose_limb(0, 0, 0, two[1]);
  double both[2][SKIN_V][3];
  sbs_fault fault = {0};
  sbs_pose poses = pose_of(two[0]);
  two[1][2].m[0][3] = NAN;
  CHECK_REFUSED(sbs_skin_deform_many(skin, 2, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE,
                "skinning_matrices");
  CHECK_EQUAL(fault.index[0], JOINTS + 2);
  two[1][2].m[0][3] = 2.0 * SBS_LARGEST;
  CHECK_EQUAL(sbs_skin_deform_many(skin, 2, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_TOO_LARGE);
  two[1][2].m[0][3] = 0;
  poses.twist_angles = not_finite[0];
  CHECK_REFUSED(sbs_skin_deform_many(skin, 2, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_NOT_FINITE,
                "twist_angles");
  CHECK_EQUAL(fault.index[0], 1);
  CHECK_EQUAL(sbs_skin_deform(skin, &poses, NULL, both, NULL, NULL, &fault), SBS_OK);
  CHECK_REFUSED(sbs_skin_deform(plain, &poses, NULL, both, NULL, NULL, &fault), SBS_ERROR_OPTION,
                "twist_angles"); /* it has no bones */
  sbs_skin_free(plain);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
}

/* An update needs the twist that the skin is bound with. */
static void test_updates_are_refused(void) {
  const sbs_twist_desc bones = describe();
  sbs_twist *twist = new_twist(&bones);
  sbs_skin *skin = new_skin(twist, NULL), *updated = NULL;
  const int32_t changed[] = {3, 0}, circle[JOINTS] = {1, 0, 1}, outside[JOINTS] = {-1, 0, 70};
  sbs_skin_desc desc = describe_skin(twist);
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &updated, NULL, NULL), SBS_OK);
  sbs_skin_free(updated);
  updated = NULL;
  sbs_fault fault = {0};
  desc.twist = NULL;
  CHECK_REFUSED(sbs_skin_update(skin, &desc, changed, 2, NULL, &updated, NULL, &fault), SBS_ERROR_OPTION, "twist");
  sbs_twist_desc longer = bones;
  const double farther[1][3] = {{5, 0, 0}};
  longer.tails = farther[0];
  sbs_twist *other = new_twist(&longer);
  desc.twist = other;
  CHECK_REFUSED(sbs_skin_update(skin, &desc, changed, 2, NULL, &updated, NULL, &fault), SBS_ERROR_OPTION, "twist");
  desc.twist = twist, desc.parents = circle;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &updated, NULL, &fault), SBS_ERROR_PARENT);
  desc.parents = outside;
  CHECK_EQUAL(sbs_skin_update(skin, &desc, changed, 2, NULL, &updated, NULL, &fault), SBS_ERROR_PARENT);
  CHECK(updated == NULL);
  sbs_skin_free(skin);
  sbs_twist_free(twist);
  sbs_twist_free(other);
}

typedef struct made {
  sbs_twist *twist;
  sbs_skin *skin;
} made;

static sbs_status make_both(const sbs_allocator *allocator, void *to) {
  const sbs_twist_desc bones = describe();
  made *both = to;
  const sbs_status status = sbs_twist_new(&bones, allocator, &both->twist, NULL);
  if (status) return status;
  const sbs_skin_desc desc = describe_skin(both->twist);
  sbs_skin_options options = sbs_default_skin_options();
  options.allocator = *allocator;
  const sbs_status bound = sbs_skin_new(&desc, &options, &both->skin, NULL, NULL);
  if (bound) sbs_twist_free(both->twist);
  return bound;
}

static void discard(void *to) {
  made *both = to;
  sbs_skin_free(both->skin);
  sbs_twist_free(both->twist);
}

static void test_short_memory(void) {
  made both = {NULL, NULL};
  CHECK(fail_each_allocation(make_both, discard, &both) > 30);
}

int main(void) {
  RUN(test_where_every_twist_is_as_good);
  RUN(test_a_skin_deforms_from_plain_matrices);
  RUN(test_a_skin_outlives_its_twist);
  RUN(test_a_frame_in_memory_of_the_caller);
  RUN(test_bad_bones_are_refused);
  RUN(test_influences);
  RUN(test_bad_poses_are_refused);
  RUN(test_bad_skins_are_refused);
  RUN(test_bad_poses_of_skins_are_refused);
  RUN(test_updates_are_refused);
  RUN(test_large_poses);
  RUN(test_short_memory);
  return harness_result();
}
