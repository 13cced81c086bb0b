/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_FRAME_H
#define SBS_DEFORM_FRAME_H

#include <stdatomic.h>

#include "kernels/exact.h"
#include "kernels/kernels.h"
#include "kernels/rest.h"
#include "pose/posed.h"

/* The input and output of an inverse deformation, but for the rest positions. */
typedef struct sbs_undone {
  const void *positions; /* (vertex_count) posed and checked; NULL: this is no inverse */
  size_t stride;
  unsigned char *singular; /* (vertex_count) whether a vertex has no inverse; or NULL */
} sbs_undone;

/* A frame for shaders (sbs_pose_palette). */
typedef struct sbs_palette {
  float *joints;        /* (joint_count, SBS_PALETTE_ROW), or NULL: this is no palette */
  float *centers;       /* (set_count, 4) or NULL */
  int as_given;         /* whether matrices stay as given, as linear blending wants them */
  size_t scaled_joints; /* receives how many there are */
} sbs_palette;

/* The tables of rows of a frame (kernels/tables.h). */
typedef struct sbs_frame_tables {
  void *joints, *stretches, *normals, *dual, *centers, *arms, *arcs, *sets;
} sbs_frame_tables;

/* A frame while it is deformed. The threads that work on it share it. */
typedef struct sbs_frame {
  const sbs_skin *skin;
  const sbs_deform_options *options;
  void *positions; /* or NULL: only centers or a palette are wanted */
  size_t positions_stride;
  void *normals; /* or NULL */
  size_t normals_stride;
  double *centers; /* (set_count, 3) receives rotation centers in the space of the rest positions, or NULL */
  sbs_undone undone;
  sbs_palette palette;
  const void *amounts;         /* (block_count, SBS_BLOCK) of the skin's type, or NULL */
  const double *shape_weights; /* of this frame */
  sbs_rest rest;

  sbs_posed posed;
  sbs_formula formula;
  sbs_rows rows;
  sbs_frame_tables tables;
  int is_exact;       /* whether all vertices are computed in double */
  uint16_t *exact;    /* (block_count) a bit for each such vertex; kernels set more (sbs_kernel_args) */
  double *exact_work; /* (sbs_exact_work_size) for one thread, if a set is too large for the stack */
  atomic_size_t singular_count;
} sbs_frame;

#endif
