/* SPDX-License-Identifier: MIT */
#ifndef SBS_DRAG_VIEW_H
#define SBS_DRAG_VIEW_H

#include "base/arena.h"
#include "pose/joint.h"
#include "sbs/drag.h"

/*
 * The joints of a pose, followed by the frames of a twist. A mirrored drag needs two views: of the pose, and of its
 * mirror image.
 */
typedef struct sbs_view {
  sbs_joint *joints;
  unsigned char *kinds;
  sbs_stretch *stretches;
  size_t count;
} sbs_view;

/*
 * Takes the joints of a pose, or of its mirror image, apart.
 *
 *   options   of a drag, checked
 *   mirrored  whether those of the mirror image
 *   arena     has the memory of the result
 */
sbs_status sbs_view_init(const sbs_drag_options *options, const sbs_pose *pose, size_t joint_count, int mirrored,
                         sbs_arena *arena, sbs_view *view, sbs_fault *fault);

#endif
