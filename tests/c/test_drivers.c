/* SPDX-License-Identifier: MIT */
/* Drivers of correctives: coordinates by hand, weights at poses and between them, bad input. */
#include <sbs/correctives.h>

#include "counting_allocator.h"
#include "rig.h"

#define DEGREES (3.14159265358979323846 / 180.0)

/*
 * A chain of four joints along x, at rest in the origin: each turns against the one before. Matrices are rotations
 * alone, which are all that drives.
 */
enum {
  JOINTS = 4
};
static const int32_t chain[JOINTS] = {0, 1, 2, 3}, parents[JOINTS] = {-1, 0, 1, 2};
static const double along_x[JOINTS][3] = {{1, 0, 0}, {2, 0, 0}, {0.5, 0, 0}, {1, 0, 0}};

static sbs_drivers_desc describe(size_t driver_count, const size_t *offsets, size_t pose_count, const int32_t *drivers,
                                 const double *coordinates) {
  sbs_drivers_desc desc = sbs_default_drivers_desc();
  desc.joint_count = JOINTS;
  desc.driver_count = driver_count;
  desc.driver_offsets = offsets;
  desc.joints = chain;
  desc.parents = parents;
  desc.axes = along_x[0];
  desc.pose_count = pose_count;
  desc.pose_drivers = drivers;
  desc.coordinates = coordinates;
  return desc;
}

static sbs_drivers *make(const sbs_drivers_desc *desc) {
  sbs_drivers *drivers = NULL;
  CHECK_EQUAL(sbs_drivers_new(desc, NULL, &drivers, NULL), SBS_OK);
  return drivers;
}

/* --------------------------------------------------------------------------------------------------- coordinates -- */

static const size_t each[JOINTS + 1] = {0, 1, 2, 3, 4};
static const int32_t first_driver[16] = {0};
static const double bent[3] = {0, 0, 1};

static void check_coordinates(sbs_driver_part part, const transform frame[JOINTS], size_t joint, double x, double y,
                              double z) {
  const sbs_driver_part parts[JOINTS] = {part, part, part, part};
  sbs_drivers_desc desc = describe(JOINTS, each, 1, first_driver, bent);
  desc.parts = parts;
  sbs_drivers *drivers = make(&desc);
  const sbs_pose pose = pose_of(frame);
  double found[JOINTS][3];
  CHECK_EQUAL(sbs_drivers_coordinates(drivers, &pose, found[0], NULL), SBS_OK);
  CHECK_NEAR(found[joint][0], x, 1e-14);
  CHECK_NEAR(found[joint][1], y, 1e-14);
  CHECK_NEAR(found[joint][2], z, 1e-14);
  sbs_drivers_free(drivers);
}

static void test_coordinates(void) {
  const double b = 70 * DEGREES, t = 40 * DEGREES;
  const transform bend = rotation(0, 0, 1, 70), twist = rotation(1, 0, 0, 40);
  /* joint 2 is twisted, then bent; the joints above carry all of it */
  transform frame[JOINTS] = {rotation(3, 1, 2, 50)};
  frame[1] = multiply(frame[0], rotation(0, 1, 0, -20));
  frame[2] = multiply(frame[1], multiply(bend, twist));
  frame[3] = multiply(frame[2], scaling(1.5, 1.5, 1.5)); /* not rigid, not turned */
  check_coordinates(SBS_DRIVER_SWING, frame, 2, 0, 0, b);
  check_coordinates(SBS_DRIVER_TWIST, frame, 2, t, 0, 0);
  check_coordinates(SBS_DRIVER_BOTH, frame, 2, t, 0, b);
  check_coordinates(SBS_DRIVER_BOTH, frame, 1, 0, -20 * DEGREES, 0);
  check_coordinates(SBS_DRIVER_BOTH, frame, 3, 0, 0, 0);
}

/* ------------------------------------------------------------------------------------------------------- weights -- */

/* The weights of the poses of joint 1 where it is bent about an axis. */
static void weigh(const sbs_drivers *drivers, double x, double y, double z, double degrees, double *weights) {
  transform frame[JOINTS] = {identity(), identity(), identity(), identity()};
  frame[1] = frame[2] = frame[3] = rotation(x, y, z, degrees);
  const sbs_pose pose = pose_of(frame);
  CHECK_EQUAL(sbs_drivers_weights(drivers, 1, &pose, weights, NULL), SBS_OK);
}

static const size_t second_alone[2] = {0, 1};

/* One joint of the chain, with a number of poses. */
static sbs_drivers *make_hinge(size_t pose_count, const double *coordinates) {
  sbs_drivers_desc desc = describe(1, second_alone, pose_count, first_driver, coordinates);
  desc.joints = chain + 1;
  desc.parents = parents + 1;
  return make(&desc);
}

/* The weight of a pose that is alone, at a share of its way: a line whose ends are parabolas over a sixteenth each. */
static double fade_in(double share) {
  if (share > 0.5) return 1.0 - fade_in(1.0 - share);
  if (share < 0.0625) return share > 0.0 ? share * share / 0.1171875 : 0.0;
  return (share - 0.03125) / 0.9375;
}

static void test_one_pose(void) {
  const double pose[3] = {0, 0, 90 * DEGREES};
  sbs_drivers *drivers = make_hinge(1, pose);
  double w;
  for (double angle = 0.0; angle <= 170.0; angle += 10.0) {
    weigh(drivers, 0, 0, 1, angle, &w);
    CHECK_NEAR(w, fade_in(angle / 90), 1e-14);
    weigh(drivers, 0, 0, -1, angle, &w); /* the other way */
    CHECK_NEAR(w, 0.0, 1e-30);
    weigh(drivers, 0, 1, 0, angle, &w); /* sideways: rounding alone */
    CHECK_NEAR(w, 0.0, 1e-30);
    weigh(drivers, 1, 0, 0, angle, &w); /* a twist is no swing */
    CHECK_NEAR(w, 0.0, 1e-30);
  }
  weigh(drivers, 0, 0, 1, 90, &w);
  CHECK_NEAR(w, 1.0, 1e-14);
  weigh(drivers, 0, 1, 1, 90, &w); /* at 45 degrees from it */
  CHECK_NEAR(w, fade_in(sqrt(0.5)) / 2, 1e-14);
  CHECK_EQUAL(sbs_drivers_pose_count(drivers), 1);
  sbs_drivers_free(drivers);
}

/* At any poses: 1 at their own and 0 at the others and at rest. */
static void test_weights_at_poses(void) {
  uint64_t seed = 3;
  enum {
    POSES = 12
  };
  double poses[POSES][3];
  for (int k = 0; k < POSES; k++) {
    const double direction = 30 * k * DEGREES, angle = (40 + 40 * (k % 3) + random_float32(&seed, 0, 20)) * DEGREES;
    poses[k][0] = 0;
    poses[k][1] = angle * sin(direction);
    poses[k][2] = angle * cos(direction);
  }
  sbs_drivers *drivers = make_hinge(POSES, poses[0]);
  double weights[POSES];
  for (int k = 0; k < POSES; k++) {
    const double angle = sqrt(poses[k][1] * poses[k][1] + poses[k][2] * poses[k][2]);
    weigh(drivers, 0, poses[k][1], poses[k][2], angle / DEGREES, weights);
    for (int i = 0; i < POSES; i++) CHECK_NEAR(weights[i], i == k, 1e-12);
  }
  weigh(drivers, 0, 0, 1, 0, weights);
  for (int i = 0; i < POSES; i++) CHECK_NEAR(weights[i], 0.0, 0.0);
  sbs_drivers_free(drivers);
}

/* Three swings that are 15 degrees apart: between and around them no weight is negative, and the sum is bounded. */
static void test_near_poses(void) {
  double poses[3][3], weights[3];
  for (int k = 0; k < 3; k++) {
    poses[k][0] = 0;
    poses[k][1] = 1.2 * sin(15 * k * DEGREES);
    poses[k][2] = 1.2 * cos(15 * k * DEGREES);
  }
  sbs_drivers *drivers = make_hinge(3, poses[0]);
  double most = 0.0;
  for (int direction = -90; direction < 120; direction++) {
    for (int angle = 5; angle < 180; angle += 5) {
      weigh(drivers, 0, sin(direction * DEGREES), cos(direction * DEGREES), angle, weights);
      for (int k = 0; k < 3; k++) CHECK(weights[k] >= 0.0);
      most = fmax(most, weights[0] + weights[1] + weights[2]);
    }
  }
  CHECK(most > 0.99 && most <= 1.1);
  weigh(drivers, 0, sin(7.5 * DEGREES), cos(7.5 * DEGREES), 1.2 / DEGREES, weights); /* half way */
  CHECK(weights[0] > 0.4 && weights[1] > 0.4 && weights[2] < 0.01);
  sbs_drivers_free(drivers);
}

static int give_up_third(double fraction, void *user) {
  ++*(int *)user;
  return fraction > 0.5;
}

/* As many poses as a driver may have, and one more. Frames before a call is given up have their weights. */
static void test_many_poses(void) {
  static double poses[SBS_DRIVER_MOST_POSES + 1][3], weights[3][SBS_DRIVER_MOST_POSES];
  static int32_t drivers_of[SBS_DRIVER_MOST_POSES + 1];
  for (int k = 0; k <= SBS_DRIVER_MOST_POSES; k++) poses[k][1] = 0.5 + k % 50 / 50.0, poses[k][2] = k / 50 / 50.0;
  sbs_drivers_desc desc = describe(1, second_alone, SBS_DRIVER_MOST_POSES + 1, drivers_of, poses[0]);
  sbs_drivers *drivers = NULL;
  sbs_fault fault = {0};
  CHECK_REFUSED(sbs_drivers_new(&desc, NULL, &drivers, &fault), SBS_ERROR_TOO_LARGE, "pose_drivers");
  CHECK_EQUAL(fault.index[0], SBS_DRIVER_MOST_POSES);
  desc.pose_count--;
  drivers = make(&desc);
  transform frames[3][JOINTS];
  for (int i = 0; i < 3 * JOINTS; i++) frames[i / JOINTS][i % JOINTS] = rotation(0, 1, 0, 40 + i);
  const sbs_pose pose = pose_of(frames[0]);
  int told = 0;
  weights[1][0] = weights[2][0] = -7.0;
  sbs_set_progress(give_up_third, &told);
  CHECK_EQUAL(sbs_drivers_weights(drivers, 3, &pose, weights[0], NULL), SBS_ERROR_CANCELLED);
  sbs_set_progress(NULL, NULL);
  CHECK_EQUAL(told, 3);
  for (int frame = 0; frame < 2; frame++) {
    double sum = 0.0;
    for (int k = 0; k < SBS_DRIVER_MOST_POSES; k++) sum += weights[frame][k];
    CHECK(sum > 0.5 && sum <= 1.1 + 1e-12);
  }
  CHECK(weights[2][0] == -7.0);
  sbs_drivers_free(drivers);
}

/* ----------------------------------------------------------------------------------------------------- bad input -- */

static void test_bad_input(void) {
  const double coordinates[6] = {0, 0, 1, 0, 1, 0}, no_axes[JOINTS][3] = {{1, 0, 0}, {0, 0, 0}};
  const int32_t own[JOINTS] = {-1, 0, 2, 1}, beyond[2] = {0, 4};
  const size_t back[JOINTS + 1] = {0, 1, 1, 2, 3};
  const sbs_driver_part parts_of_none[JOINTS] = {SBS_DRIVER_SWING, SBS_DRIVER_TWIST, (sbs_driver_part)7};
  const double rest[6] = {0, 0, 1, 0, 1e-4, 0}, same[6] = {0, 0.5, 1, 0, 0.5, 1.0001}, nan[6] = {0, 0, 1, NAN, 0, 0};
  const sbs_drivers_desc good = describe(JOINTS, each, 2, first_driver, coordinates);
  sbs_drivers_desc desc;
  sbs_drivers *drivers = NULL;
  sbs_fault fault = {0};
#define REFUSED(change, status, argument, row) \
  desc = good, desc.change, fault.index[0] = 0; \
  CHECK_REFUSED(sbs_drivers_new(&desc, NULL, &drivers, &fault), status, argument); \
  CHECK_EQUAL(fault.index[0], row)
  REFUSED(joint_count = 0, SBS_ERROR_EMPTY, "joint_count", 0);
  REFUSED(pose_count = 0, SBS_ERROR_EMPTY, "pose_count", 0);
  REFUSED(axes = NULL, SBS_ERROR_NULL, "axes", 0);
  REFUSED(joint_count = 3, SBS_ERROR_JOINT_INDEX, "joints", 3);
  REFUSED(parents = own, SBS_ERROR_PARENT, "parents", 2);
  REFUSED(axes = no_axes[0], SBS_ERROR_OPTION, "axes", 1);
  REFUSED(driver_offsets = back, SBS_ERROR_OPTION, "driver_offsets", 2);
  REFUSED(parts = parts_of_none, SBS_ERROR_OPTION, "parts", 2);
  REFUSED(pose_drivers = beyond, SBS_ERROR_OPTION, "pose_drivers", 1);
  REFUSED(coordinates = rest, SBS_ERROR_OPTION, "coordinates", 1);
  REFUSED(coordinates = same, SBS_ERROR_OPTION, "coordinates", 1);
  REFUSED(coordinates = nan, SBS_ERROR_NOT_FINITE, "coordinates", 1);
#undef REFUSED
  const size_t together[2] = {0, JOINTS};
  const int32_t twice[JOINTS] = {0, 1, 3, 1};
  desc = describe(1, together, 1, first_driver, coordinates);
  desc.joints = twice;
  CHECK_REFUSED(sbs_drivers_new(&desc, NULL, &drivers, &fault), SBS_ERROR_OPTION, "joints");
  CHECK_EQUAL(fault.index[0], 3);
  CHECK(!drivers);

  drivers = make(&good);
  transform frame[JOINTS] = {identity(), identity(), identity(), identity()};
  frame[2].m[1][2] = NAN;
  const sbs_pose pose = pose_of(frame);
  double weights[2];
  CHECK_REFUSED(sbs_drivers_weights(drivers, 1, &pose, weights, &fault), SBS_ERROR_NOT_FINITE, "skinning_matrices");
  CHECK_EQUAL(sbs_drivers_weights(NULL, 1, &pose, weights, &fault), SBS_ERROR_NULL);
  CHECK_EQUAL(sbs_drivers_pose_count(NULL), 0);
  sbs_drivers_free(drivers);
  sbs_drivers_free(NULL);
}

int main(void) {
  RUN(test_coordinates);
  RUN(test_one_pose);
  RUN(test_weights_at_poses);
  RUN(test_near_poses);
  RUN(test_many_poses);
  RUN(test_bad_input);
  return harness_result();
}
