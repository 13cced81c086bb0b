/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_JOINT_H
#define SBS_POSE_JOINT_H

#include "base/algebra.h"
#include "sbs/sbs.h"

/* A joint in a pose: its skinning matrix C = [A | t], taken apart as the methods need it. */
typedef struct sbs_joint {
  sbs_vec4 moving[3];   /* moves points by the rotation methods: R if rigid, else A */
  sbs_vec4 translation; /* t; stands behind `moving`, so that they are read as one 3x4 matrix */
  sbs_vec4 turned_back; /* R^T t; if rigid. Centers are solved from the fields up to here */
  sbs_vec4 quaternion;  /* of R, of unit length and either sign */
  sbs_vec4 given[3];    /* moves points by the linear methods: A */
} sbs_joint;

/* A = R S of a joint. Made for all joints of a pose, but only if one of them needs it. */
typedef struct sbs_stretch {
  sbs_vec4 rotation[3]; /* R, det +1 */
  sbs_vec4 stretch[3];  /* S, symmetric; the identity if rigid */
  sbs_vec4 inverse[3];  /* S^-1, or the adjugate of a singular S */
  sbs_vec4 normal[3];   /* moves normals by linear blending: R S^-1 */
} sbs_stretch;

/* Kinds of joints, as bits. */
enum {
  SBS_JOINT_NONRIGID = 1, /* R does not replace A in the rotation methods */
  SBS_JOINT_SKEWED = 2    /* A is further from R than normals may be off: they need a matrix of their own */
};

/* |A^T A - I| up to which a joint with det A > 0 is rigid. */
#define SBS_RIGID_TOLERANCE 1e-5

/* R of a joint, which turns about a center. */
static inline const sbs_vec4 *sbs_turning(const sbs_joint *joint, unsigned kind, const sbs_stretch *stretch) {
  return kind & SBS_JOINT_NONRIGID ? stretch->rotation : joint->moving;
}

/*
 * Takes a joint apart, from its `given` matrix: fills stretch, and for joints that are not rigid the quaternion, which
 * takes more steps than for rigid ones. Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_decompose_joint(sbs_joint *joint, unsigned kind, sbs_stretch *stretch);

/* The quaternion of a rotation, of unit length and either sign. */
sbs_vec4 sbs_rotation_quaternion(const double rotation[9]);

#endif
