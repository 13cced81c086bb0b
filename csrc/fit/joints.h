/* SPDX-License-Identifier: MIT */
#ifndef SBS_FIT_JOINTS_H
#define SBS_FIT_JOINTS_H

#include "base/arena.h"
#include "fit/vertex.h"
#include "sbs/fit.h"

/* The joints of all frames, taken apart. */
typedef struct sbs_frame_joints {
  size_t count;      /* J', with those of a twist */
  sbs_joint *joints; /* (F, J'), as are the following two */
  unsigned char *kinds;
  sbs_stretch *stretches;
} sbs_frame_joints;

/* Makes them, by several threads, in memory of an arena. Errors: OUT_OF_MEMORY, NO_CONVERGENCE, INTERNAL. */
sbs_status sbs_frame_joints_new(const sbs_fit_desc *desc, int threads, sbs_arena *arena, sbs_frame_joints *made);

/* Those of one frame, without a choice of them. */
static inline sbs_fit_joints sbs_joints_of_frame(const sbs_frame_joints *all, size_t frame) {
  const size_t first = frame * all->count;
  return (sbs_fit_joints){all->joints + first, all->kinds + first, all->stretches + first, NULL, 0};
}

#endif
