/* SPDX-License-Identifier: MIT */
/* Weights of poses, from the rotations of the joints that drive. */
#include <math.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "correctives/drivers.h"
#include "pose/check.h"
#include "pose/rotations.h"
#include "pose/twist.h"
#include "sbs/twist.h"

/* ---------------------------------------------------------------------------------------------------- functions -- */

/* The share of a ramp that each of its ends is rounded over. */
#define ROUNDED 0.0625

/* h. */
static double ramp(double t) {
  const double inside = fmin(fmax(t, 0.0), 1.0);
  const double begin = fmax(ROUNDED - inside, 0.0), end = fmax(inside - 1.0 + ROUNDED, 0.0);
  return (inside - 0.5 * ROUNDED + (begin * begin - end * end) / (2.0 * ROUNDED)) / (1.0 - ROUNDED);
}

/* The most that weights are together beyond 1. */
#define MOST_BEYOND 0.1

/* l. */
static double level_off(double t) {
  const double beyond = fmin(fmax(t - 1.0, 0.0), 2.0 * MOST_BEYOND);
  return fmin(t, 1.0 + 2.0 * MOST_BEYOND) - beyond * beyond / (4.0 * MOST_BEYOND);
}

/* Shorter coordinates are those of the rest pose: their squares would have lost digits. */
#define LEAST_SQUARE 1e-200

double sbs_driver_sum(const double *products, size_t count, const double *along, double square, double *nearness) {
  double sum = 0.0;
  for (size_t k = 0; k < count; k++) {
    const double own = products[k * count + k], positive = fmax(along[k], 0.0);
    nearness[k] = square > LEAST_SQUARE ? positive * positive / (square * own) : 0.0;
    sum += ramp(along[k] / own) * nearness[k];
  }
  return sum;
}

/* The square of u / (1 - u), which is large where u is 1. */
static double odds_squared(double u) {
  const double odds = u / fmax(1.0 - u, 1e-30);
  return odds * odds;
}

/* Finds q_k of all poses of a driver, from c_k. */
static void share_out(const double *products, size_t count, const double *along, const double *nearness, double *q) {
  for (size_t k = 0; k < count; k++) {
    const double own = products[k * count + k];
    double sum = 0.0;
    for (size_t j = 0; j < count; j++) {
      if (j == k) continue;
      const double product = products[k * count + j], positive = fmax(product, 0.0), other = products[j * count + j];
      const double alike = positive * positive / (own * other);
      const double towards = ramp((along[j] - along[k] - product + own) / (own + other - 2.0 * product));
      sum += odds_squared(towards * (nearness[j] + alike * (1.0 - nearness[j])));
    }
    q[k] = nearness[k] / (1.0 + sqrt(sum));
  }
}

/* -------------------------------------------------------------------------------------------------- coordinates -- */

/* The rotation vector of a unit quaternion of either sign. */
static sbs_vec3 rotation_vector(sbs_vec4 q) {
  const double sign = q[0] < 0.0 ? -1.0 : 1.0, sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double scale = sine > 1e-100 ? 2.0 * atan2(sine, sign * q[0]) / sine * sign : 2.0 * sign;
  return (sbs_vec3){scale * q[1], scale * q[2], scale * q[3]};
}

/* The coordinates of a joint that is turned by q relative to its parent. */
static void find_coordinates(const sbs_driving_joint *joint, sbs_vec4 q, double found[3]) {
  const double *n = joint->axis, given[4] = {q[0], q[1], q[2], q[3]};
  const double angle = sbs_twist_angle(given, n, 0.0), sine = sin(0.5 * angle);
  const sbs_vec4 untwist = {cos(0.5 * angle), -sine * n[0], -sine * n[1], -sine * n[2]};
  const sbs_vec3 swing = rotation_vector(sbs_quaternion_multiply(q, untwist));
  const double swing_share = joint->part != SBS_DRIVER_TWIST, twist = joint->part == SBS_DRIVER_SWING ? 0.0 : angle;
  found[0] = swing_share * swing.x + twist * n[0];
  found[1] = swing_share * swing.y + twist * n[1];
  found[2] = swing_share * swing.z + twist * n[2];
}

/* Joints that drive whose coordinates are found at once, each against another one. */
#define JOINTS_AT_ONCE (SBS_MOST_ROTATIONS / 2)

/* The coordinates of all drivers in a pose that was checked. */
static sbs_status find_all_coordinates(const sbs_drivers *drivers, const sbs_pose *pose, double *coordinates) {
  for (size_t first = 0; first < drivers->driving_joint_count; first += JOINTS_AT_ONCE) {
    const size_t left = drivers->driving_joint_count - first, count = left < JOINTS_AT_ONCE ? left : JOINTS_AT_ONCE;
    const sbs_driving_joint *joints = drivers->joints + first;
    int32_t both[SBS_MOST_ROTATIONS] = {0};
    sbs_vec4 found[SBS_MOST_ROTATIONS];
    for (size_t i = 0; i < count; i++) {
      both[2 * i] = joints[i].joint;
      both[2 * i + 1] = joints[i].parent < 0 ? joints[i].joint : joints[i].parent;
    }
    const sbs_status status = sbs_find_rotations(drivers->isa, pose, both, 2 * count, found);
    if (status) return status;
    for (size_t i = 0; i < count; i++) {
      const sbs_vec4 none = {1.0, 0.0, 0.0, 0.0}, parent = joints[i].parent < 0 ? none : found[2 * i + 1];
      const sbs_vec4 relative = sbs_quaternion_multiply(sbs_quaternion_conjugate(parent), found[2 * i]);
      find_coordinates(joints + i, relative, coordinates + 3 * (first + i));
    }
  }
  return SBS_OK;
}

static sbs_status check_pose(const sbs_drivers *drivers, size_t frame_count, const sbs_pose *poses, sbs_fault *fault) {
  if (!drivers) return sbs_fault_in(fault, SBS_ERROR_NULL, "drivers");
  if (!poses) return sbs_fault_in(fault, SBS_ERROR_NULL, "poses");
  return sbs_check_bounded_poses(poses, frame_count, drivers->joint_count, fault);
}

sbs_status sbs_drivers_coordinates(const sbs_drivers *drivers, const sbs_pose *pose, double *coordinates,
                                   sbs_fault *fault) {
  sbs_status status = check_pose(drivers, 1, pose, fault);
  if (status) return status;
  if (!coordinates) return sbs_fault_in(fault, SBS_ERROR_NULL, "coordinates");
  status = find_all_coordinates(drivers, pose, coordinates);
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------ weights -- */

/* Smaller weights are rounding: a shape that has none costs nothing. */
#define LEAST_WEIGHT 1e-12

/* The weights of a driver's poses at x. `room` is for three numbers of each of its poses. */
static void find_driver_weights(const sbs_drivers *drivers, const sbs_driver *driver, const double *x, double *room,
                                double *weights) {
  const size_t count = driver->pose_count, size = 3 * driver->joint_count;
  const double *products = drivers->products + driver->products, *sums = drivers->sums + driver->first_pose;
  const double *poses = drivers->coordinates + driver->coordinates;
  double *along = room, *nearness = room + count, *q = room + 2 * count;
  const double square = sbs_inner_product(x, x, size);
  for (size_t k = 0; k < count; k++) along[k] = sbs_inner_product(x, poses + k * size, size);
  const double sum = sbs_driver_sum(products, count, along, square, nearness);
  share_out(products, count, along, nearness, q);
  double all = 0.0, at_poses = 0.0;
  for (size_t k = 0; k < count; k++) {
    all += q[k];
    at_poses += q[k] * sums[k];
  }
  const double together = all > 0.0 ? level_off(sum * (all / at_poses)) : 0.0;
  for (size_t k = 0; k < count; k++) {
    const double weight = all > 0.0 ? together * (q[k] / all) : 0.0;
    weights[drivers->pose_numbers[driver->first_pose + k]] = weight < LEAST_WEIGHT ? 0.0 : weight;
  }
}

sbs_status sbs_drivers_weights(const sbs_drivers *drivers, size_t frame_count, const sbs_pose *poses, double *weights,
                               sbs_fault *fault) {
  sbs_status status = check_pose(drivers, frame_count, poses, fault);
  if (status) return status;
  if (!weights && frame_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "weights");
  const size_t numbers = drivers->driving_joint_count + drivers->pose_count;
  double *x = sbs_allocate(&drivers->allocator, numbers, 3 * sizeof *x);
  if (!x) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  for (size_t frame = 0; frame < frame_count && !status; frame++, weights += drivers->pose_count) {
    status = sbs_tell((double)frame / (double)frame_count);
    const sbs_pose pose = sbs_pose_number(poses, drivers->joint_count, NULL, frame);
    if (!status) status = find_all_coordinates(drivers, &pose, x);
    for (size_t d = 0; d < drivers->driver_count && !status; d++) {
      const sbs_driver *driver = drivers->drivers + d;
      double *room = x + 3 * drivers->driving_joint_count;
      find_driver_weights(drivers, driver, x + 3 * driver->first_joint, room, weights);
    }
  }
  sbs_release(&drivers->allocator, x);
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}
