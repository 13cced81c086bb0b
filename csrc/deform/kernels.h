/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_KERNELS_H
#define SBS_DEFORM_KERNELS_H

#include "centers/batch.h"
#include "deform/formulas.h"
#include "pose/batch.h"
#include "pose/constants.h"
#include "skin/skin.h"

/* Up to this many influences have kernels of their own; beyond, one kernel does any number. */
#define SBS_KERNEL_INFLUENCES 4

typedef struct sbs_kernel_args {
  const void *base; /* of the pivot group's constants */
  const void *rows;
  size_t row_size;         /* numbers from row to row of the constants */
  size_t influences;       /* the pivot and its rows, at least 1 */
  int obtuse;              /* whether quaternions of more than two, to be averaged, may be more than 90 degrees apart */
  const void *stream;      /* x, y, z and weights, from the item's first block on */
  size_t block_size;       /* numbers of the stream from block to block */
  const void *normals;     /* or NULL */
  const void *centers;     /* z of every vertex; read by the optimized formulas */
  const int32_t *vertices; /* from the item's first block on */
  const uint16_t *runs;    /* the same: where runs of consecutive vertices begin, as sbs_skin has it */
  size_t vertex_count;     /* the last block may be short */
  void *positions_out;     /* of the mesh */
  size_t positions_stride; /* bytes */
  void *normals_out;       /* or NULL */
  size_t normals_stride;   /* bytes */
} sbs_kernel_args;

typedef void sbs_kernel(const sbs_kernel_args *args);

/* Blocks of which both methods have made positions, and normals if wanted. */
typedef struct sbs_blend_args {
  const void *positions[2]; /* x y z of each vertex of the blocks, by the base and by the method; aligned */
  const void *normals[2];   /* the same */
  const void *amount;       /* (vertex_count of the mesh) how much of the method each vertex gets */
  sbs_scalar amount_scalar;
  const int32_t *vertices; /* this and the following as of sbs_kernel_args */
  const uint16_t *runs;
  size_t vertex_count;
  void *positions_out;
  size_t positions_stride;
  void *normals_out;
  size_t normals_stride;
} sbs_blend_args;

typedef void sbs_blend_kernel(const sbs_blend_args *args);

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
 * the last for any number]. Numbers that have no kernel of their own have that for any. Where every vertex has a center
 * of its own, plain and far are the same.
 */
typedef struct sbs_kernels {
  const char *name;
  sbs_joints_batch *prepare_joints;
  sbs_centers_batch *find_centers;
  sbs_constants_batch *write_constants[2]; /* [scalar] */
  sbs_blend_kernel *blend[2];              /* [scalar] */
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
