/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_RUN_H
#define SBS_GRADIENT_RUN_H

#include "base/arena.h"
#include "gradient/columns.h"
#include "kernels/rest.h"
#include "pose/posed.h"

/*
 * A joint is a row of numbers, as in kernels/tables.h, and a vertex takes a weighted sum of rows. The gradient is the
 * transpose of this: from a vertex to its sum, from the sum to the rows of its joints, from the rows to the matrices.
 *
 *   MATRIX and PLACE are in all rows, QUATERNION is in those of rotations; the others are where the method needs them.
 */
enum {
  SBS_BY_MATRIX = 0,      /* (9) A, the matrix that moves points, by columns */
  SBS_BY_PLACE = 9,       /* (3) where it takes the skin's origin, relative to the anchor */
  SBS_BY_QUATERNION = 12, /* (4) */
  SBS_BY_OTHERS = 16,
  SBS_BY_MOST = 52
};

/* Offsets in a row, 0 for numbers that the method does not need. */
typedef struct sbs_gradient_rows {
  size_t rotation; /* (9) R, if joints stretch; else it is A */
  size_t stretch;  /* (9) S */
  size_t normal;   /* (9) R S^-1, unless A moves normals, too */
  size_t inverse;  /* (9) S^-1 */
  size_t unused;   /* up to three numbers, so that the products begin at a multiple of four */
  size_t products; /* (16) of dual quaternions: the columns of (A, p) / 2, each times the quaternion; else the width */
  size_t width;    /* numbers of a row, a multiple of four */
} sbs_gradient_rows;

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

/* The part of a joint's gradient that comes through the center of one of its sets. */
typedef struct sbs_center_gradient {
  double given[9], translation[3], torque[3];
} sbs_center_gradient;

/* A frame while it is differentiated. The threads that work on it share it. */
typedef struct sbs_gradient_run {
  const sbs_gradient *gradient;
  const sbs_skin *skin;
  const sbs_skin_desc *desc;
  const sbs_deform_options *options;
  sbs_posed posed;
  sbs_rest rest;
  sbs_gradient_rows rows;
  sbs_gradient_upstream upstream;
  /* By all joints of the skin with the frames of its twist, all weights, and the mesh after shapes. */
  sbs_gradient_result result;
  size_t chunk_blocks, chunk_count; /* the unit of work, whatever the number of threads */
  double *by_rows;                  /* (chunk_count, joint_count, width) sums over the vertices of a chunk; or NULL */
  double (*by_centers)[6];   /* (vertex_count) by z and by f (pose/center.h) of the vertex's joint set; or NULL */
  double (*by_centroids)[3]; /* (set_count) the part of each vertex of a set, as it moves the centroid */
  sbs_center_gradient *by_set_joints; /* as skin->set_joints */
  double *work;                       /* (threads, sbs_gradient_work_size) */
} sbs_gradient_run;

/* Doubles of workspace for a thread. */
size_t sbs_gradient_work_size(const sbs_skin *skin);

/* Steps that are compiled for each instruction set. */
typedef struct sbs_gradient_steps {
  /* From the vertices of chunks [begin, end) to the rows of joints; writes the gradients by the vertices. */
  void (*differentiate)(const sbs_gradient_run *run, double *work, size_t begin, size_t end);
  /* How a vertex moves with its weights: (3, columns) */
  void (*find_jacobian)(const sbs_gradient_run *run, double *work, size_t vertex, double *jacobian);
  /* From the centers of sets [begin, end) of the pose's request to their joints and centroids. */
  void (*finish_centers)(const sbs_gradient_run *run, size_t begin, size_t end);
} sbs_gradient_steps;

const sbs_gradient_steps *sbs_choose_gradient_steps(sbs_isa isa);

#define SBS_DECLARE_GRADIENT_STEPS(constant, name) \
  void sbs_gradient_differentiate_##name(const sbs_gradient_run *run, double *work, size_t begin, size_t end); \
  void sbs_gradient_find_jacobian_##name(const sbs_gradient_run *run, double *work, size_t vertex, double *jacobian); \
  void sbs_gradient_finish_centers_##name(const sbs_gradient_run *run, size_t begin, size_t end);
SBS_EACH_ISA(SBS_DECLARE_GRADIENT_STEPS)
#undef SBS_DECLARE_GRADIENT_STEPS

/* Computes result.skinning_matrices from the gradients by rows and centers. by (joint_count) is workspace. */
void sbs_gradient_finish_joints(const sbs_gradient_run *run, sbs_joint_gradient *by);

#endif
