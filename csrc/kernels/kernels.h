/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_KERNELS_H
#define SBS_KERNELS_KERNELS_H

#include "base/isa.h"
#include "kernels/constants.h"
#include "kernels/formulas.h"
#include "skin/skin.h"

/* Up to this many influences have kernels of their own; beyond, one kernel does any number. */
#define SBS_KERNEL_INFLUENCES 4

typedef struct sbs_kernel_args {
  const void *base; /* of the pivot group's constants */
  const void *rows;
  size_t row_size;         /* numbers from row to row of the constants */
  size_t influences;       /* the pivot and its rows, at least 1 */
  int obtuse;              /* whether quaternions of more than two, to be averaged, may be more than 90 degrees apart */
  const void *positions;   /* x, y, z of each block, from the item's first on */
  const void *weights;     /* of those who are not the pivot, the same */
  size_t block_size;       /* numbers from block to block of both */
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
 * Kernels of one formula and scalar type: [form][with normals][influences - 1, the last for any number]. Numbers that
 * have no kernel of their own have that for any. Forms that do not occur have none.
 */
typedef struct sbs_formula_kernels {
  sbs_kernel *by_form[SBS_FORM_COUNT][2][SBS_KERNEL_INFLUENCES + 1];
} sbs_formula_kernels;

/*
 * The inverse of one method, or of two that are blended. For fixed weights both are affine maps of the packed position:
 * images of four points give a map, and nothing else need be known of its formula.
 */
typedef struct sbs_inverse_method {
  sbs_kernel_args args; /* without normals; of the second, only what a formula reads counts */
  sbs_kernel *kernel;
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

/* What is compiled for one instruction set and scalar type. */
typedef struct sbs_kernels {
  sbs_constants_batch *write_constants;
  sbs_blend_kernel *mix;
  sbs_inverse_kernel *invert;
  const sbs_formula_kernels *formulas[SBS_FORMULA_COUNT];
} sbs_kernels;

const sbs_kernels *sbs_kernels_of(sbs_isa isa, sbs_scalar scalar);

#endif
