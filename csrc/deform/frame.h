/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_FRAME_H
#define SBS_DEFORM_FRAME_H

#include "deform/scratch.h"
#include "pose/constants.h"
#include "sbs/sbs.h"

/* One frame on its way from matrices to positions. Shared by the team that works on it. */
typedef struct sbs_frame {
  const sbs_skin *skin;
  const sbs_deform_options *options;
  const void *matrices; /* of this frame, checked */
  sbs_scalar matrix_scalar;
  size_t matrix_rows;
  void *positions; /* or NULL: only the centers are wanted */
  size_t positions_stride;
  void *normals; /* or NULL */
  size_t normals_stride;

  sbs_scratch scratch;
  sbs_constants_layout layout;
  size_t solves;          /* added to */
  size_t left_centers;    /* added to: those that are left to the SVD */
  size_t nonrigid_joints; /* added to */
  int status;             /* a sbs_status; the first failure */
} sbs_frame;

/* What each thread of a team does for a frame. All of the team return with the frame's status known. */
void sbs_run_frame(sbs_frame *frame, int thread, int team);

#endif
