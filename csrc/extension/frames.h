/* SPDX-License-Identifier: MIT */
/* Skinning matrices of several frames that a call goes through one by one. */
#ifndef SBS_EXTENSION_FRAMES_H
#define SBS_EXTENSION_FRAMES_H

#include "arguments.h"

/* Whether matrices are (F, joint_count, 4, 4) or (F, joint_count, 3, 4); raises if not. */
int core_check_frames(const core_array *matrices, size_t joint_count);

/* The pose of one frame. */
sbs_pose core_pose_of_frame(const core_array *matrices, npy_intp frame);

/* Raises the fault of a call with that frame alone: matrices are numbered among all frames. */
void core_raise_in_frame(const core_state *state, const core_array *matrices, npy_intp frame, sbs_status status,
                         sbs_fault *fault);

#endif
