/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_BATCHES_H
#define SBS_POSE_BATCHES_H

#include "base/isa.h"
#include "pose/joint.h"
#include "skin/skin.h"

/*
 * The parts of the pose preparation that are done for many joints, or many joint sets, at once, compiled for each
 * instruction set: pose/prepare_joints.c and pose/solve_centers.c. A result does not depend on which others it was
 * computed with.
 */

typedef struct sbs_joints_args {
  const void *matrices; /* (joint_count, rows, 4) of one frame, checked */
  sbs_scalar scalar;
  size_t rows;
  double normal_tolerance; /* how far A may be from R in any number for normals to be moved by it */
  sbs_joint *joints;       /* (joint_count); of joints that are not rigid the quaternion is left undefined */
  unsigned char *kinds;    /* (joint_count) SBS_JOINT_ bits */
} sbs_joints_args;

/* Prepares joints [begin, end). */
typedef void sbs_joints_batch(const sbs_joints_args *args, size_t begin, size_t end);

typedef struct sbs_centers_args {
  const sbs_skin *skin;
  const int32_t *order; /* skin->solve_order or some of its sets, in the same order */
  const sbs_joint *joints;
  const unsigned char *kinds;   /* (joint_count) SBS_JOINT_ bits */
  const sbs_stretch *stretches; /* of joints that are not rigid; NULL if all are rigid */
  double damping;
  double epsilon;        /* of the matrices' type */
  int solves_all;        /* of sbs_pose_request */
  int all_by_svd;        /* whether the SVD is to solve all centers that have to be solved */
  sbs_vec4 *references;  /* (set_count) receives the reference point f (pose/center.h), relative to the skin's origin */
  sbs_vec4 *centers;     /* (set_count) receives z, the center relative to f */
  unsigned char *by_svd; /* (set_count) receives whether the SVD is to solve it */
} sbs_centers_args;

typedef struct sbs_centers_count {
  size_t solved; /* centers that are not just the position of a joint */
  size_t by_svd; /* how many of them the SVD is to solve */
} sbs_centers_count;

/*
 * Finds the centers of sets order[begin] to [end - 1]; all but the ones that the SVD is to solve (pose/center.h),
 * where normal equations in double can't tell the damping from rounding.
 */
typedef sbs_centers_count sbs_centers_batch(const sbs_centers_args *args, size_t begin, size_t end);

#define SBS_DECLARE_BATCHES(constant, name) \
  sbs_joints_batch sbs_prepare_joints_##name; \
  sbs_centers_batch sbs_find_centers_##name;
SBS_EACH_ISA(SBS_DECLARE_BATCHES)
#undef SBS_DECLARE_BATCHES

sbs_joints_batch *sbs_choose_joints_batch(sbs_isa isa);
sbs_centers_batch *sbs_choose_centers_batch(sbs_isa isa);

#endif
