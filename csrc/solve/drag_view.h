/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_DRAG_VIEW_H
#define SBS_SOLVE_DRAG_VIEW_H

#include "sbs/drag.h"
#include "solve/joints.h"

/*
 * Takes the joints of a pose, or of its mirror image, apart: a mirrored drag looks at both.
 *
 *   options   of a drag, checked
 *   mirrored  whether it is the mirror image
 *   arena     has the memory of the result
 */
sbs_status sbs_take_view(const sbs_drag_options *options, const sbs_pose *pose, size_t joint_count, int mirrored,
                         sbs_arena *arena, sbs_frame_joints *view, sbs_fault *fault);

#endif
