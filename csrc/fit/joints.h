/* SPDX-License-Identifier: MIT */
#ifndef SBS_FIT_JOINTS_H
#define SBS_FIT_JOINTS_H

#include "base/arena.h"
#include "pose/joint.h"
#include "sbs/fit.h"

/* The joints of all frames, taken apart. */
typedef struct sbs_frame_joints {
  sbs_joint *joints; /* (F, J), as are the following two */
  unsigned char *kinds;
  sbs_stretch *stretches;
} sbs_frame_joints;

/* Makes them, by several threads, in memory of an arena. Errors: OUT_OF_MEMORY, NO_CONVERGENCE, INTERNAL. */
sbs_status sbs_frame_joints_new(const sbs_fit_desc *desc, int threads, sbs_arena *arena, sbs_frame_joints *made);

#endif
