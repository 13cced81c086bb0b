/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_KERNELS_H
#define SBS_DEFORM_KERNELS_H

#include "centers/batch.h"
#include "pose/batch.h"
#include "pose/constants.h"
#include "skin/skin.h"

/*
 * What a kernel needs beside the vertices: the constants of a pivot group, in the skin's scalar type. With p the pivot,
 * c0 the centroid that the packed positions x are relative to, and M the matrix that moves p ([R|t] for rigid joints in
 * the rotation methods, else C), every method is evaluated relative to what the pivot alone would do:
 *
 *   linear     v' = M v + [sum w_i (A_i - A_p)] x + sum w_i (C_i c0 - C_p c0)
 *   spherical  v' = M v + (Q^ - I) y + e + sum w_i (C_i c - C_p c)      y = A_p (v - c) + e
 *   dual q.    v' = M v + (Q^ - I) y + e + the translation of sum w_i d^_i  y = A_p x + e
 *
 *   Q^, d^_i   rotations and dual quaternions relative to the pivot's
 *   e          R_p [sum w_i (S_i - S_p)] (v - c), or (v - 0) for dual quaternions: zero where the joints are rigid
 *
 * with the sums over the joints that are not the pivot. M v = anchor + residual + A_p x, where the anchor is M c0
 * rounded: it is added last, so that a scene far from the origin loses no more than the rounding of the output.
 */
/* Vectors and quaternions take 4 numbers, the fourth of a vector being 0; matrices are 3 columns. */
enum {
  SBS_CONSTANT_MATRIX = 0,    /* (12) A_p */
  SBS_CONSTANT_RESIDUAL = 12, /* (4) M c0 - anchor */
  SBS_CONSTANT_ANCHOR = 16,   /* (4) */
  SBS_CONSTANT_SHIFT = 20,    /* (4) A_p (c0 - c); spherical */
  SBS_CONSTANT_BASE = 24,     /* the size where all is rigid */
  SBS_CONSTANT_POINT = 24,    /* (4) c - c0 (spherical) or -c0 (dual quaternion): the fixed point of the stretches */
  SBS_CONSTANT_NORMAL = 28,   /* (12) what the pivot does to normals, where A_p does not */
  SBS_CONSTANT_GENERAL_BASE = 40
};

/* A row of the linear method: one for each joint that is not the pivot, behind the base. */
enum {
  SBS_LINEAR_MATRIX = 0,  /* (12) A_i - A_p */
  SBS_LINEAR_OFFSET = 12, /* (4) C_i c0 - C_p c0 */
  SBS_LINEAR_ROW = 16,    /* the size where A_p moves the normals as well */
  SBS_LINEAR_NORMAL = 16, /* (12) difference to the pivot's */
  SBS_LINEAR_GENERAL_ROW = 28
};

/* A row of the rotation methods. */
enum {
  SBS_ROTATION_QUATERNION = 0, /* (4) q^_i - 1 */
  SBS_ROTATION_OFFSET = 4,     /* (4) C_i c - C_p c, or the dual part of d^_i */
  SBS_ROTATION_TURN = 8,       /* (4) u_i x A_p (c0 - c); spherical, where the center is far or the form general */
  SBS_ROTATION_ROW = 12,       /* the size where all joints are rigid */
  SBS_ROTATION_STRETCH = 12,   /* (12) R_p (S_i - S_p) */
  SBS_ROTATION_NORMAL = 24,    /* (12) difference to the pivot's */
  SBS_ROTATION_GENERAL_ROW = 36
};

/* The formulas above. */
typedef enum sbs_formula {
  SBS_FORMULA_LINEAR,
  SBS_FORMULA_SPHERICAL,
  SBS_FORMULA_DUAL_QUATERNION,
  SBS_FORMULA_COUNT
} sbs_formula;

/*
 * How a formula is evaluated, by pivot group:
 *
 *   plain    the joints are rigid, and move normals as they move points
 *   far      so are they, but the center is far away along a common axis of joints that turn a lot against each other.
 *            Then in u x y, y = A_p x + A_p (c0 - c), float32 would lose more than it may: the rows bring u_i x A_p (c0
 *            - c)
 *   general  joints that are not rigid, or normals that have a matrix of their own
 */
typedef enum sbs_form {
  SBS_FORM_PLAIN,
  SBS_FORM_FAR,
  SBS_FORM_GENERAL,
  SBS_FORM_COUNT
} sbs_form;

/* Up to this many influences have kernels of their own; beyond, one kernel does any number. */
#define SBS_KERNEL_INFLUENCES 4

typedef struct sbs_kernel_args {
  const void *base; /* of the pivot group's constants */
  const void *rows;
  size_t row_size;         /* numbers from row to row of the constants */
  size_t influences;       /* the pivot and its rows, at least 1 */
  const void *stream;      /* x, y, z and weights, from the item's first block on */
  size_t block_size;       /* numbers of the stream from block to block */
  const void *normals;     /* or NULL */
  const int32_t *vertices; /* from the item's first block on */
  const uint16_t *runs;    /* the same: where runs of consecutive vertices begin, as sbs_skin has it */
  size_t vertex_count;     /* the last block may be short */
  void *positions_out;     /* of the mesh */
  size_t positions_stride; /* bytes */
  void *normals_out;       /* or NULL */
  size_t normals_stride;   /* bytes */
} sbs_kernel_args;

typedef void sbs_kernel(const sbs_kernel_args *args);

/*
 * The inverse of one method, or of two that are blended. For fixed weights both are affine maps of the packed position:
 * images of four points give a map, and nothing else need be known of its formula.
 */
typedef struct sbs_inverse_method {
  sbs_kernel_args args; /* without normals; of the second, only what a formula reads counts */
  sbs_formula formula;
  sbs_form form;
} sbs_inverse_method;

typedef struct sbs_inverse_args {
  sbs_inverse_method methods[2];
  const void *amount; /* (vertex_count of the mesh) how much of the first each vertex gets, or NULL: all; no second */
  sbs_scalar amount_scalar;
  const void *posed; /* of the mesh */
  size_t posed_stride;
  double origin[3];        /* what the packed positions are relative to */
  double size;             /* of the mesh, around the origin too; above 0 */
  unsigned char *singular; /* of the mesh, or NULL */
} sbs_inverse_args;

/* Returns how many vertices have no inverse. */
typedef size_t sbs_inverse_kernel(const sbs_inverse_args *args);

/*
 * Everything that is compiled for one instruction set. Kernels: [scalar][formula][form][with normals][influences - 1,
 * the last for any number]. General ones exist for any number only.
 */
typedef struct sbs_kernels {
  const char *name;
  sbs_joints_batch *prepare_joints;
  sbs_centers_batch *find_centers;
  sbs_constants_batch *write_constants[2]; /* [scalar] */
  sbs_inverse_kernel *invert[2];           /* [scalar] */
  sbs_similarity_batch *add_similarities;
  sbs_kernel *table[2][SBS_FORMULA_COUNT][SBS_FORM_COUNT][2][SBS_KERNEL_INFLUENCES + 1];
} sbs_kernels;

/* 128-bit vectors, where every machine of the target has them: SSE2 on x86-64, NEON on arm64. */
#if defined(__SSE2__) || defined(__ARM_NEON)
#define SBS_HAVE_BASELINE_KERNELS
#endif

extern const sbs_kernels sbs_kernels_plain;
#ifdef SBS_HAVE_BASELINE_KERNELS
extern const sbs_kernels sbs_kernels_baseline;
#endif
#ifdef SBS_HAVE_X86_KERNELS
extern const sbs_kernels sbs_kernels_avx2;
extern const sbs_kernels sbs_kernels_avx512;
#endif

/* The best that this machine has, or what the environment variable SBS_ISA names, if the machine has it. */
const sbs_kernels *sbs_choose_kernels(void);

#endif
