/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_FRAME_H
#define SBS_DEFORM_FRAME_H

#include <stdatomic.h>

#include "correctives/shapes.h"
#include "deform/amounts.h"
#include "kernels/kernels.h"

/* Posed positions that are to be undone, and what is told about it. */
typedef struct sbs_posed {
  const void *positions; /* of the mesh, checked; NULL: nothing is to be undone */
  size_t stride;
  unsigned char *singular; /* (vertex_count) or NULL */
  size_t singular_count;   /* receives how many have no inverse */
} sbs_posed;

/* What a shader needs of a frame, where that is asked for. */
typedef struct sbs_palette {
  float *joints;        /* (joint_count, SBS_PALETTE_ROW), or NULL: no palette is asked for */
  float *centers;       /* (set_count, 4) or NULL */
  int as_given;         /* whether matrices are for linear blending, which takes no rotations in their place */
  size_t scaled_joints; /* receives how many there are */
} sbs_palette;

/* The memory of one frame by one method (deform/plan.c lays it out). */
typedef struct sbs_scratch {
  double *matrices;       /* (joint_count, 3, 4) of a skin with twist */
  sbs_joint *joints;      /* (joint_count) */
  unsigned char *kinds;   /* (joint_count) SBS_JOINT_ bits */
  sbs_stretch *stretches; /* (joint_count) */
  sbs_vec4 *centers;      /* (set_count) */
  unsigned char *by_svd;  /* (set_count) whether the SVD is to solve the center */
  double *center_work;    /* (sbs_center_work_size) */
  sbs_vec4 (*slots)[3];   /* (sbs_slots_count) */
  void *constants;        /* (sbs_constants_capacity) of the skin's type */
  void *anchors;          /* (group_count, 4) of the skin's type; of the inverse */
  sbs_way *ways;          /* (group_count) */
} sbs_scratch;

/* One frame by one method, on its way from matrices to positions. Shared by the threads that work on it. */
typedef struct sbs_frame {
  const sbs_skin *skin;
  const sbs_deform_options *options;
  sbs_formula formula;
  sbs_pose pose;   /* of this frame, checked; from when the twist is posed on, of all joints of the skin */
  void *positions; /* or NULL: only centers or a palette are wanted */
  size_t positions_stride;
  void *normals; /* or NULL */
  size_t normals_stride;
  double *centers; /* (set_count, 3) receives rotation centers in the space of the rest positions, or NULL */
  sbs_posed posed;
  sbs_palette palette;

  /*
   * Where two methods are blended by options->amount: the same frame by the other one, which has no base and shares the
   * joints of this; the amounts as packed; and what they need, unless both methods are needed everywhere. Else NULL.
   */
  struct sbs_frame *base;
  const void *amounts;
  const sbs_amounts_use *use;
  const struct sbs_frame *method; /* of a base: the frame that it is the base of */

  const sbs_shapes *shapes;    /* or NULL */
  const double *shape_weights; /* of this frame */
  sbs_shape_sums shape_sums;   /* what they add */

  sbs_scratch scratch;
  sbs_constants_layout layout;
  atomic_size_t solves;
  atomic_size_t svd_centers;    /* those that the SVD is to solve */
  atomic_size_t singular_count; /* vertices without an inverse */
  size_t nonrigid_joints;
} sbs_frame;

#endif
