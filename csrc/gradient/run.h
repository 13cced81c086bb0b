/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_RUN_H
#define SBS_GRADIENT_RUN_H

#include "base/arena.h"
#include "base/fault.h"
#include "deform/options.h"
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
  void *by_centroids; /* (V, 3) what is added to where vertices are, as they move centroids; or NULL */
  int adds;           /* whether the result is added to what is there */
  double *constants;  /* (SBS_GRADIENT_BASE per set, SBS_GRADIENT_ROW per joint of a set) or floats in their place */
  unsigned char *in_double;  /* (set_count) whether they are doubles */
  const signed char **signs; /* (set_count) NULL where all signs are 1 */
  signed char *sign_room;    /* (max_influences for each joint of each set) */
  double (*centers)[6];      /* (set_count) f and z, of joint sets */
  size_t *totals_at;         /* (part_count) where the sums of each part are among */
  double *totals;
  const double **sums;           /* (set_count) of sets with a center of their own, over all parts; or NULL */
  double (*by_points)[3];        /* (set_count) by f of such a center */
  sbs_joint_gradient *slots;     /* (set_joints) by each joint of each set */
  sbs_joint_gradient *by_joints; /* (joint_count) */
  char *work;                    /* (threads, work_size) */
  size_t work_size;
  sbs_arena arena; /* what these arrays are taken from */
} sbs_gradient_run;

/* What has no gradient, and what does not go together. */
sbs_status sbs_gradient_check(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                              const sbs_methods *methods, const sbs_gradient_upstream *upstream,
                              const sbs_gradient_result *result, sbs_fault *fault);

/* Takes the memory of a run, but for the sums, from its arena. That is to be released even where this fails. */
sbs_status sbs_gradient_allocate_run(sbs_gradient_run *run, int threads, const sbs_allocator *allocator);

/* Takes joints [begin, end) of a pose apart. */
sbs_status sbs_gradient_pose_joints(const sbs_gradient_run *run, const sbs_pose *pose, size_t begin, size_t end);

/* What the kernel is told of a part, but for totals and work. */
sbs_gradient_args sbs_gradient_part_args(const sbs_gradient_run *run, size_t number);
void sbs_gradient_differentiate(const sbs_gradient_run *run, size_t number, const sbs_gradient_args *args);

/* What positions of a set are relative to in the kernels: its centroid as a number of the skin's type; or nothing. */
void sbs_gradient_origin(const sbs_gradient_run *run, size_t set, double origin[3]);

/* How the vertices of a part are moved, which are of a set of one joint at least. */
sbs_gradient_formula sbs_choose_gradient_formula(const sbs_gradient_run *run, size_t set, int own);

/* Whether what vertices add to their joints is asked for: it is also how a joint set's centroid moves. */
int sbs_gradient_wants_sums(const sbs_gradient_run *run, sbs_gradient_formula formula);

/* Numbers that are summed up for each joint of a part. */
size_t sbs_gradient_sums_per_joint(const sbs_gradient_run *run, size_t set, int own);

/* Whether a joint of the set is not rigid, which means nothing to the linear methods. */
int sbs_gradient_is_stretched(const sbs_gradient_run *run, size_t set);

/* Whether the method moves points by A as it was given. */
static inline int sbs_gradient_moves_as_given(const sbs_gradient_run *run) {
  return run->options->method == SBS_METHOD_LINEAR || run->options->method == SBS_METHOD_RIGID;
}

/* What is done for joint sets and joints, compiled for each instruction set. */
typedef struct sbs_gradient_batches {
  /* Finds the rotation centers of some sets, which stand in the order of skin->solve_order. */
  void (*find_centers)(const sbs_gradient_run *run, const int32_t *order, size_t count);

  /* Writes the constants of sets [begin, end), whose centers are found. */
  void (*pose_sets)(const sbs_gradient_run *run, size_t begin, size_t end);

  /*
   * The way back, in this order. Vertices have been summed up for each joint of each set; these sums become gradients
   * by the rotation, translation and stretch of each joint of each set,
   */
  void (*finish_sets)(const sbs_gradient_run *run, size_t begin, size_t end);
  /* to which the centers add their part, as they depend on the joints, too; */
  void (*finish_centers)(const sbs_gradient_run *run, const int32_t *order, size_t count);
  /* those of one joint are added up over its sets, in `by` (joint_count), and become the gradient by its matrix. */
  void (*finish_joints)(const sbs_gradient_run *run, sbs_joint_gradient *by);
} sbs_gradient_batches;

const sbs_gradient_batches *sbs_choose_gradient_batches(sbs_isa isa);

#define SBS_DECLARE_GRADIENT_BATCHES(constant, name) \
  void sbs_gradient_find_centers_##name(const sbs_gradient_run *run, const int32_t *order, size_t count); \
  void sbs_gradient_finish_centers_##name(const sbs_gradient_run *run, const int32_t *order, size_t count); \
  void sbs_gradient_pose_sets_##name(const sbs_gradient_run *run, size_t begin, size_t end); \
  void sbs_gradient_finish_sets_##name(const sbs_gradient_run *run, size_t begin, size_t end); \
  void sbs_gradient_finish_joints_##name(const sbs_gradient_run *run, sbs_joint_gradient *by);
SBS_EACH_ISA(SBS_DECLARE_GRADIENT_BATCHES)
#undef SBS_DECLARE_GRADIENT_BATCHES

#endif
