/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_KERNELS_H
#define SBS_GRADIENT_KERNELS_H

#include "base/isa.h"
#include "gradient/arrangement.h"

/* How the vertices of a part are moved: docs/fitting.md has each. */
typedef enum sbs_gradient_formula {
  SBS_GRADIENT_LINEAR,
  SBS_GRADIENT_JOINT_SET,
  SBS_GRADIENT_OPTIMIZED,
  SBS_GRADIENT_WEIGHTED,
  SBS_GRADIENT_DUAL_QUATERNION,
  SBS_GRADIENT_FORMULA_COUNT
} sbs_gradient_formula;

/*
 * The constants of a joint set: a base, then a row for each joint. Positions are relative to its origin o. Vectors take
 * 4 numbers, matrices are 3 columns.
 */
enum {
  SBS_GRADIENT_CENTER = 0, /* z */
  SBS_GRADIENT_POINT = 4,  /* f - o */
  SBS_GRADIENT_FIRST = 8,  /* (12) R_0, the rotation of the first joint, which quaternions are relative to */
  SBS_GRADIENT_BASE = 20,

  SBS_GRADIENT_QUATERNION = 0, /* q_i q_0* */
  SBS_GRADIENT_MOVED = 4,      /* R_i z + C_i f, relative to the first joint's; of a joint set's center */
  SBS_GRADIENT_OFFSET = 4,     /* of other formulas in its place: C_i o, relative to the first joint's */
  SBS_GRADIENT_MATRIX = 8,     /* A_i */
  SBS_GRADIENT_TURNING = 20,   /* R_i; of weighted centers R_i R_0^T - 1 */
  SBS_GRADIENT_STRETCH = 32,   /* S_i */
  SBS_GRADIENT_NORMAL = 44,    /* S_i^-1 */
  SBS_GRADIENT_ROW = 56
};

/*
 * What is summed up over vertices for each joint: the gradient by the numbers of its row. As many of these as the
 * formula needs (sbs_gradient_width). Linear blending has no quaternions, so that its sums are nearer together.
 */
enum {
  SBS_SUM_OFFSET = 0,     /* (3) by the point that the joint moves */
  SBS_SUM_QUATERNION = 3, /* (4) */
  SBS_SUM_MATRIX = 7,     /* (9) columns */
  SBS_SUM_TURNING = 16,   /* (9) by R_i R_0^T */
  SBS_SUM_STRETCH = 25,   /* (9) */
  SBS_SUM_NORMAL = 34,    /* (9) */
  SBS_SUM_MOST = 43,

  SBS_SUM_LINEAR_MATRIX = 3,
  SBS_SUM_LINEAR_NORMAL = 12,
  SBS_SUM_LINEAR_MOST = 21
};

/* Behind those of all joints: by the center of a joint set, what comes by way of Q, and by the rest positions. */
enum {
  SBS_SUM_CENTER = 0, /* (3) sum of (Q^T - 1) g, Q relative to the first joint */
  SBS_SUM_REST = 3,   /* (3) */
  SBS_SUM_TAIL = 6
};

/* How many numbers are summed up for each joint, and behind those of all. */
static inline size_t sbs_gradient_width(sbs_gradient_formula formula, int stretched, int normals) {
  if (formula == SBS_GRADIENT_LINEAR) return normals ? SBS_SUM_LINEAR_MOST : SBS_SUM_LINEAR_NORMAL;
  if (stretched) return normals ? SBS_SUM_MOST : SBS_SUM_NORMAL;
  if (formula == SBS_GRADIENT_JOINT_SET) return SBS_SUM_MATRIX;
  return formula == SBS_GRADIENT_WEIGHTED ? SBS_SUM_STRETCH : SBS_SUM_TURNING;
}

static inline size_t sbs_gradient_tail(sbs_gradient_formula formula) {
  return formula == SBS_GRADIENT_JOINT_SET ? SBS_SUM_TAIL : 0;
}

/* Whether the vertices of a block, which ascend but for a last one that is repeated, follow each other. */
static inline int sbs_gradient_is_run(const int32_t *vertices) {
  const int32_t *last = vertices + SBS_BLOCK - 1;
  return last[0] - vertices[0] == SBS_BLOCK - 1 && last[0] != last[-1];
}

/* A part, and what it is differentiated with. */
typedef struct sbs_gradient_args {
  sbs_gradient_formula formula;
  int stretched; /* whether a joint of the set is not rigid; rotation methods */
  int normals;   /* whether there are normals, and their gradient */
  int one_joint; /* whether the heaviest joint alone moves a vertex */
  const void *constants;
  size_t joint_count;       /* of the set, n */
  const signed char *signs; /* (n, n) of q_i where joint h is the heaviest; NULL: all 1 */
  double damping;           /* of weighted centers */
  double origin[3];         /* o */
  sbs_scalar scalar;        /* of all that follows but for the centers */
  const void *weights;      /* this and the following four from the part's first block on */
  const uint32_t *places;   /* or NULL: see sbs_gradient */
  const void *scales;
  const uint16_t *heaviest;
  const int32_t *vertices;
  size_t vertex_count;
  size_t mesh_vertex_count;
  const void *rest_positions; /* of the mesh, as is all that follows */
  size_t rest_positions_stride;
  const void *rest_normals;
  size_t rest_normals_stride;
  const double *centers;
  sbs_gradient_upstream upstream;
  sbs_gradient_result result;
  int adds; /* whether the result is added to what is there */
  const uint16_t *slots;
  size_t columns;
  size_t width;   /* numbers that are summed up for each joint */
  double *totals; /* (n * width + the formula's tail) or NULL: nothing is summed up */
  void *work;     /* sbs_gradient_work_size bytes, aligned */
} sbs_gradient_args;

/* Whether nothing is asked for but the gradient by weights, which is 0 for vertices of one joint. */
static inline int sbs_gradient_wants_weights_alone(const sbs_gradient_args *args) {
  const sbs_gradient_result *result = &args->result;
  return result->joint_weights && !args->totals && !result->rest_positions && !result->rest_normals && !result->centers;
}

typedef void sbs_gradient_kernel(const sbs_gradient_args *args);

/* Bytes of workspace for sets of up to so many joints. */
size_t sbs_gradient_work_size(size_t max_joints);

/* What differentiates a part, computing in the given type, which need not be that of the arrays. */
sbs_gradient_kernel *sbs_choose_gradient_kernel(sbs_isa isa, sbs_scalar computed_in);

#define SBS_DECLARE_GRADIENT(constant, name) \
  sbs_gradient_kernel sbs_differentiate_float32_##name; \
  sbs_gradient_kernel sbs_differentiate_float64_##name;
SBS_EACH_ISA(SBS_DECLARE_GRADIENT)
#undef SBS_DECLARE_GRADIENT

#endif
