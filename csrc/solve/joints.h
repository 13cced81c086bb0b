/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_JOINTS_H
#define SBS_SOLVE_JOINTS_H

#include "base/arena.h"
#include "sbs/fit.h"
#include "solve/vertex.h"

/* The joints of F frames, and the frames of a twist after them, taken apart. */
typedef struct sbs_frame_joints {
  size_t count;      /* J', with the frames of a twist */
  sbs_joint *joints; /* (F, J'), as are the following two */
  unsigned char *kinds;
  sbs_stretch *stretches;
} sbs_frame_joints;

/* Takes memory for the joints of so many frames from an arena. */
sbs_frame_joints sbs_frame_joints_in(sbs_arena *arena, size_t joint_count, const sbs_twist *twist, size_t frame_count);

/*
 * Takes the joints of a pose apart.
 *
 *   pose      of the joints of the skeleton
 *   matrices  (J', 12) for the matrices of a twist
 *
 * Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_take_apart(const sbs_frame_joints *made, size_t frame, const sbs_pose *pose, const sbs_twist *twist,
                          double *matrices);

/* Takes the joints of all frames apart, by several threads. Errors: OUT_OF_MEMORY, NO_CONVERGENCE, INTERNAL. */
sbs_status sbs_frame_joints_new(const sbs_fit_desc *desc, int threads, sbs_arena *arena, sbs_frame_joints *made);

/* The joints of one frame, none of them chosen. */
static inline sbs_fit_joints sbs_joints_of_frame(const sbs_frame_joints *all, size_t frame) {
  const size_t first = frame * all->count;
  return (sbs_fit_joints){all->joints + first, all->kinds + first, all->stretches + first, NULL, 0};
}

/* Reads the usable weights of a vertex, with a sum of 1, and their joints; `width` are given. Returns how many. */
size_t sbs_read_influences(size_t width, const int32_t *indices, const double *weights, int32_t *joints, double *w);

#endif
