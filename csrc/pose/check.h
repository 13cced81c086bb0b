/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_CHECK_H
#define SBS_POSE_CHECK_H

#include "sbs/sbs.h"

/* Checks all matrices of `frame_count` poses of joint_count joints: finite, affine, known types. */
sbs_status sbs_check_poses(const sbs_pose *poses, size_t frame_count, size_t joint_count, sbs_fault *fault);

/* The same, and that no number is beyond SBS_LARGEST. */
sbs_status sbs_check_bounded_poses(const sbs_pose *poses, size_t frame_count, size_t joint_count, sbs_fault *fault);

#endif
