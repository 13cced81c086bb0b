/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_POSED_H
#define SBS_POSE_POSED_H

#include <stdatomic.h>

#include "base/arena.h"
#include "pose/joint.h"
#include "skin/skin.h"

/* The parts of a pose that a call needs. */
typedef struct sbs_pose_request {
  int rotations;       /* whether joints turn points by their rotations: not in rigid and linear blending */
  int normals;         /* whether normals are: there joints may need a matrix of their own */
  const int32_t *sets; /* (set_count) the sets whose centers it needs, in the order of the skin's solve_order */
  size_t set_count;
  int solves_all;        /* whether centers of a joint and its parent are solved, too, wherever the joint is */
  double damping, rcond; /* of sbs_deform_options */
} sbs_pose_request;

/* A pose of a skin, prepared in double. */
typedef struct sbs_posed {
  const sbs_skin *skin;
  sbs_pose_request request;
  sbs_pose pose; /* of one frame, checked; once the twist is posed, of all joints of the skin */

  double *matrices;       /* (joint_count, 3, 4) of a skin with twist */
  sbs_joint *joints;      /* (joint_count) */
  unsigned char *kinds;   /* (joint_count) SBS_JOINT_ bits */
  sbs_stretch *stretches; /* (joint_count) defined if is_taken_apart */
  sbs_vec4 *places;       /* (joint_count) where the joint takes the skin's origin, relative to the anchor */
  double *signs;          /* (joint_count) 1 or -1: the sign with which the quaternion is blended */
  sbs_vec4 *references;   /* (set_count) of sets that are requested, f (pose/center.h) relative to the skin's origin */
  sbs_vec4 *centers;      /* (set_count) z */
  unsigned char *by_svd;  /* (set_count) whether the SVD is to solve the center */
  double *center_work;    /* (sbs_center_work_size) */

  int is_taken_apart;
  double normal_scale;  /* 1 / the largest number of matrices that move normals, of joints that are taken apart */
  int has_skewed;       /* whether a joint needs a matrix of its own for normals in linear blending */
  int is_extreme;       /* whether numbers are so large that products in the skin's type may not be represented */
  int has_unlike_signs; /* whether no choice of signs brings all pairs of quaternions into one hemisphere */
  size_t nonrigid_joints;
  /* Of joints that are all scaled by one number, this number, else 1: then C is [scale R | t]. */
  double scale;
  int is_scaled_alike; /* whether all joints are rigid but for that scale */
  sbs_vec4 anchor;     /* where the main joint takes the skin's origin, rounded to the skin's type */

  atomic_size_t solves;
  atomic_size_t svd_centers;
} sbs_posed;

/* Takes the memory of a pose from an arena. */
void sbs_place_posed(sbs_posed *posed, const sbs_skin *skin, sbs_arena *arena);

/*
 * Prepares a pose, by up to so many threads. skin, request and pose are given, and its memory.
 *
 * Errors: NO_CONVERGENCE, INTERNAL, CANCELLED.
 */
sbs_status sbs_pose_skin(sbs_posed *posed, int threads);

/* R of a joint. */
static inline const sbs_vec4 *sbs_posed_rotation(const sbs_posed *posed, size_t joint) {
  return posed->is_taken_apart ? posed->stretches[joint].rotation : posed->joints[joint].moving;
}

/* The quaternion of a joint with the sign that it is blended with. */
SBS_VEC4_INLINE sbs_vec4 sbs_posed_quaternion(const sbs_posed *posed, size_t joint) {
  return posed->signs[joint] * posed->joints[joint].quaternion;
}

/* The rotation center of a set, relative to the skin's origin. A set of one joint or none has its centroid. */
void sbs_posed_center(const sbs_posed *posed, size_t set, double center[3]);

/* Whether two quaternions of a set are in different hemispheres, with the signs that they have. */
int sbs_set_has_unlike_signs(const sbs_posed *posed, size_t set);

#endif
