/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_RUN_H
#define SBS_GRADIENT_RUN_H

#include "gradient/kernels.h"
#include "pose/joint.h"

/*
 * The gradient by one joint, in double. Matrices are columns. A rotation R is differentiated by the rotation vectors
 * omega of R <- exp([omega]) R: the torque.
 */
typedef struct sbs_joint_gradient {
  double given[9];       /* by A where it moves points as it was given */
  double translation[3]; /* by t */
  double torque[3];
  double stretch[9]; /* by S */
  double inverse[9]; /* by S^-1 */
} sbs_joint_gradient;

/* One frame by one method, on its way back. Shared by the threads that work on it. */
typedef struct sbs_gradient_run {
  const sbs_gradient *gradient;
  const sbs_skin *skin;
  const sbs_skin_desc *desc;
  const sbs_deform_options *options;
  sbs_joint *joints; /* (joint_count) this and the following two, of the pose */
  unsigned char *kinds;
  sbs_stretch *stretches;
  sbs_gradient_upstream upstream; /* of this method */
  sbs_gradient_result result;
  int adds;          /* whether the result is added to what is there */
  size_t width;      /* numbers that are summed up for each joint of a set */
  double *constants; /* (SBS_GRADIENT_BASE per set, SBS_GRADIENT_ROW per joint of a set) or floats in their place */
  unsigned char *in_double; /* (set_count) whether they are doubles */
  signed char **signs;      /* (set_count) NULL where all signs are 1 */
  signed char *sign_room;   /* (max_influences for each joint of each set) */
  double (*centers)[6];     /* (set_count) f and z, of joint sets */
  size_t *totals_at;        /* (part_count) where the sums of each part are among */
  double *totals;
  sbs_joint_gradient *slots; /* (set_joints) by each joint of each set */
  char *work;                /* (threads, work_size) */
  size_t work_size;
} sbs_gradient_run;

/* What positions of a set are relative to in the kernels: its centroid as a number of the skin's type; or nothing. */
void sbs_gradient_origin(const sbs_gradient_run *run, size_t set, double origin[3]);

/* How the vertices of a part are moved, which are of a set of one joint at least. */
sbs_gradient_formula sbs_gradient_formula_of(const sbs_gradient_run *run, size_t set, int own);

/* Whether a joint of the set is not rigid, which means nothing to the linear methods. */
int sbs_gradient_is_stretched(const sbs_gradient_run *run, size_t set);

/* Whether the method moves points by A as it was given. */
static inline int sbs_gradient_moves_as_given(const sbs_gradient_run *run) {
  return run->options->method == SBS_METHOD_LINEAR || run->options->method == SBS_METHOD_RIGID;
}

/* Finds the center of a set and writes what its vertices are differentiated with. */
void sbs_gradient_pose_set(const sbs_gradient_run *run, size_t set);

/*
 * From the sums over the vertices of a set to the gradient by its joints. Returns whether `rest` received what the
 * rest position of each of its vertices is to get in addition: all of them move the set's centroid.
 */
int sbs_gradient_finish_set(const sbs_gradient_run *run, size_t set, double rest[3]);

/* From the gradient by what a joint is taken apart to, to that by its matrix (3, 4), row-major; adds to it. */
void sbs_gradient_finish_joint(const sbs_gradient_run *run, size_t joint, const sbs_joint_gradient *by,
                               double matrix[12]);

#endif
