/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_FRAME_H
#define SBS_DEFORM_FRAME_H

#include "deform/scratch.h"
#include "kernels/constants.h"
#include "kernels/kernels.h"
#include "sbs/sbs.h"

/* Posed positions that are to be undone, and what is told about it. */
typedef struct sbs_posed {
  const void *positions; /* of the mesh, checked; NULL: nothing is to be undone */
  size_t stride;
  unsigned char *singular; /* (vertex_count) or NULL */
  size_t singular_count;   /* added to */
} sbs_posed;

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

  /*
   * Where two methods are blended by options->amount: the same frame by the other one, which has no base and shares the
   * joints of this, and what the amounts ask for. Else NULL.
   */
  struct sbs_frame *base;
  const sbs_amounts_use *use;
  int is_base;
  sbs_posed posed;

  sbs_scratch scratch;
  sbs_constants_layout layout;
  size_t solves;          /* added to */
  size_t left_centers;    /* added to: those that are left to the SVD */
  size_t nonrigid_joints; /* added to */
  int status;             /* a sbs_status; the first failure */
} sbs_frame;

/* What each thread of a team does for a frame. All of the team return with the frame's status known. */
void sbs_run_frame(sbs_frame *frame, int thread, int team);

/* What a kernel needs for some blocks of an item, `first` counted from the item's own first, to write to the output. */
sbs_kernel_args sbs_describe_blocks(const sbs_frame *frame, const sbs_item *item, size_t first, size_t vertex_count);

/* What deforms blocks of an item. */
sbs_kernel *sbs_kernel_for(const sbs_frame *frame, const sbs_item *item, size_t influences);

#endif
