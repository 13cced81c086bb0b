/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_FRAME_H
#define SBS_DEFORM_FRAME_H

#include <stdatomic.h>

#include "deform/scratch.h"
#include "kernels/constants.h"
#include "kernels/kernels.h"
#include "sbs/sbs.h"

/* Posed positions that are to be undone, and what is told about it. */
typedef struct sbs_posed {
  const void *positions; /* of the mesh, checked; NULL: nothing is to be undone */
  size_t stride;
  unsigned char *singular; /* (vertex_count) or NULL */
  size_t singular_count;   /* receives how many have no inverse */
} sbs_posed;

/* One frame on its way from matrices to positions. Shared by the threads that work on it. */
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
  atomic_size_t solves;
  atomic_size_t svd_centers;    /* those that the SVD is to solve */
  atomic_size_t singular_count; /* vertices without an inverse */
  size_t nonrigid_joints;
} sbs_frame;

/* Poses and deforms a frame by so many threads. Errors: NO_CONVERGENCE, INTERNAL. */
sbs_status sbs_run_frame(sbs_frame *frame, int threads);

/* What deforms a group, whose constants are written: in the form that these have, or in another, if there is that. */
sbs_kernel *sbs_kernel_of(const sbs_frame *frame, size_t group);
sbs_kernel *sbs_kernel_of_form(const sbs_frame *frame, size_t group, sbs_form form);

/* What a kernel needs for items of the skin, or parts of them (sbs_part_of_item), to write to the output. */
sbs_kernel_args sbs_describe_items(const sbs_frame *frame, const sbs_item *items, size_t count);

/* Blocks of an item as one, `first` counted from its own first. */
sbs_item sbs_part_of_item(const sbs_skin *skin, const sbs_item *item, size_t first, size_t vertex_count);

#endif
