/* SPDX-License-Identifier: MIT */
#ifndef SBS_CORRECTIVES_DRIVERS_H
#define SBS_CORRECTIVES_DRIVERS_H

#include "base/algebra.h"
#include "base/isa.h"
#include "sbs/drivers.h"

/* A joint that drives. */
typedef struct sbs_driving_joint {
  int32_t joint, parent;
  sbs_driver_part part;
  double axis[3]; /* of length 1 */
} sbs_driving_joint;

typedef struct sbs_driver {
  size_t first_joint, joint_count;
  size_t first_pose, pose_count; /* in the order of drivers */
  size_t coordinates;            /* where coordinates of its poses start: (pose_count, 3 joint_count) */
  size_t products;               /* where inner products of its poses start: (pose_count, pose_count) */
} sbs_driver;

struct sbs_drivers {
  sbs_allocator allocator;
  sbs_isa isa;
  size_t joint_count, driver_count, pose_count;
  size_t driving_joint_count;
  sbs_driver *drivers;
  sbs_driving_joint *joints;
  size_t *pose_numbers; /* (pose_count) the caller's numbers of the poses, in the order of drivers */
  double *coordinates;
  double *products;
  double *sums; /* (pose_count) s at each pose, in the order of drivers */
};

static inline double sbs_inner_product(const double *a, const double *b, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/*
 * Finds c_k of all poses of a driver (sbs/drivers.h), as `nearness`, and returns s. `along` has the inner products
 * <x, x_k>, and `square` is <x, x>.
 */
double sbs_driver_sum(const double *products, size_t count, const double *along, double square, double *nearness);

#endif
