/* SPDX-License-Identifier: MIT */
#ifndef SBS_TWIST_POSE_H
#define SBS_TWIST_POSE_H

#include "base/fault.h"
#include "twist/twist.h"

/* What a unit quaternion has of the twist is less than this only where rounding alone would tell its direction. */
#define SBS_NO_TWIST 1e-12

/* Bones whose rotations are found at once. */
#define SBS_TWIST_BONES 8

/* a and b of some bones, at most SBS_TWIST_BONES, in a pose that was checked. */
sbs_status sbs_twist_angles_of(const sbs_twist *twist, const sbs_pose *pose, size_t first, size_t count,
                               const double *previous, double *angles);

sbs_status sbs_twist_check_pose(const sbs_twist *twist, const sbs_pose *pose, const double *angles, const char *name,
                                sbs_fault *fault);

#endif
