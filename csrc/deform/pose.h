/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_POSE_H
#define SBS_DEFORM_POSE_H

#include "deform/frame.h"

/*
 * Poses a frame, and its base, by so many threads: from matrices to joints, rotation centers, and the constants of the
 * kernels. Errors: NO_CONVERGENCE, INTERNAL, CANCELLED.
 */
sbs_status sbs_pose_frame(sbs_frame *frame, int threads);

#endif
