/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_TWIST_H
#define SBS_POSE_TWIST_H

#include "base/fault.h"
#include "pose/rotations.h"
#include "skin/skin.h"

/* Bones whose rotations are found at once, of three joints each. */
#define SBS_TWIST_BONES (SBS_MOST_ROTATIONS / 3)

/* Finds a and b of bones [first, first + count), at most SBS_TWIST_BONES, in a pose that was checked. */
sbs_status sbs_twist_find_angles(const sbs_twist *twist, const sbs_pose *pose, size_t first, size_t count,
                                 const double *previous, double *angles);

sbs_status sbs_twist_check_pose(const sbs_twist *twist, const sbs_pose *pose, const double *angles, const char *name,
                                sbs_fault *fault);

/*
 * Checks poses of a skin's skeleton, and the angles of its twist, where they are given.
 *
 * Errors: as sbs_check_poses; OPTION, NOT_FINITE, TOO_LARGE with the fault in "twist_angles".
 */
sbs_status sbs_check_skin_poses(const sbs_skin *skin, const sbs_pose *poses, size_t frame_count, sbs_fault *fault);

/* Checks the angles of poses, if they are given: the twist, which may be NULL, has to be there then. */
sbs_status sbs_check_twist_angles(const sbs_twist *twist, const sbs_pose *poses, size_t frame_count, sbs_fault *fault);

/* One of several poses of a skeleton, with a twist or NULL. */
sbs_pose sbs_pose_number(const sbs_pose *poses, size_t joint_count, const sbs_twist *twist, size_t frame);

/*
 * Finds the matrices (J', 3, 4) of all joints in a checked pose: first the joints of the skeleton, then the frames.
 *
 *   angles  (B, 2), or NULL: from the matrices, in the shorter direction
 *
 * Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_twist_pose_joints(const sbs_twist *twist, const sbs_pose *pose, const double *angles, double *matrices);

#endif
