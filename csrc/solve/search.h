/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_SEARCH_H
#define SBS_SOLVE_SEARCH_H

#include "base/arena.h"
#include "base/threads.h"
#include "solve/joints.h"

/* A call: shared by the threads that work on it. */
typedef struct sbs_fit {
  const sbs_fit_desc *desc;
  const sbs_fit_options *options;
  sbs_frame_joints joints;
  int32_t *joint_indices;
  double *joint_weights, *errors;
  char *work;  /* (threads, work_size) */
  double pull; /* times the number of frames */
  size_t most; /* joints that any step goes on with */
  size_t work_size;
} sbs_fit;

/* How many joints any step goes on with, of so many, if so many are to be kept. */
size_t sbs_fit_most(size_t joints, size_t influences);

/* How large the memory of a thread is; 0 if that is too large. */
size_t sbs_fit_work_size(const sbs_fit *fit);

/* Fits weights to some of the vertices: a sbs_chunk_work, whose context is a sbs_fit. */
sbs_status sbs_fit_vertices(void *context, sbs_share vertices, int worker);

#endif
