/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_KERNELS_H
#define SBS_KERNELS_KERNELS_H

#include "base/isa.h"
#include "correctives/shapes.h"
#include "kernels/constants.h"
#include "kernels/formulas.h"
#include "skin/skin.h"

/* Items that one kernel deforms: all with as many influences, whose groups are evaluated alike. */
typedef struct sbs_kernel_args {
  const sbs_item *items;
  size_t item_count;
  const sbs_group *groups; /* of the skin, as are the following */
  const sbs_pivot *pivots;
  const sbs_way *ways; /* (group_count) how groups are evaluated */
  const void *constants;
  size_t head_size, row_size; /* numbers of a head, and from row to row, of the constants */
  int rigid;                  /* whether the heaviest joint alone moves each vertex (SBS_METHOD_RIGID) */
  /*
   * The skin's stream, for its weights, and for its positions. Other positions may take the place of these, in the same
   * layout: number i of them is that of number first_position + i of the stream.
   */
  const void *weights, *positions;
  size_t first_position;
  const void *pivot_weights; /* as of sbs_skin, as is heaviest */
  const int32_t *heaviest;
  const void *normals; /* or NULL; of the skin's blocks, or of those from block first_normal on */
  size_t first_normal;
  const void *centers; /* z of every vertex; read by the optimized formulas */
  const void *amounts; /* (block_count, SBS_BLOCK) of the skin, as packed; for kernels in part alone, else NULL */
  const int32_t *vertices;
  const uint16_t *runs;
  size_t first_block; /* the block that these two begin with */
  const sbs_copies *copies;
  void *positions_out;     /* of the mesh */
  size_t positions_stride; /* bytes */
  void *normals_out;       /* or NULL */
  size_t normals_stride;   /* bytes */
} sbs_kernel_args;

typedef void sbs_kernel(const sbs_kernel_args *args);

/* The methods that vertices need, as bits: the base where an amount is below 1, the other where it is above 0. */
enum {
  SBS_NEEDS_BASE = 1,
  SBS_NEEDS_METHOD = 2,
  SBS_NEEDS_BOTH = SBS_NEEDS_BASE | SBS_NEEDS_METHOD,
  SBS_AMOUNT_OUTSIDE = 4 /* with both of the others: an amount is outside [0, 1], or it is -0 */
};

/* Returns what vertices of such amounts need: SBS_NEEDS_ bits, and SBS_AMOUNT_OUTSIDE. */
typedef unsigned sbs_scan_kernel(const void *amounts, sbs_scalar scalar, size_t count);

/* Packs the amounts of some vertices of the mesh, in that order and in the kernel's type. */
typedef void sbs_pack_kernel(const void *amounts, sbs_scalar scalar, const int32_t *vertices, size_t count,
                             void *packed);

/* Blocks of which both methods have made positions, and normals if wanted. */
typedef struct sbs_blend_args {
  const void *positions[2]; /* x y z of each vertex of the blocks, by the base and by the method; aligned */
  const void *normals[2];   /* the same */
  const void *amounts;      /* of those blocks, as packed: how much of the method each vertex gets */
  const int32_t *vertices;  /* of those blocks, as are their runs */
  const uint16_t *runs;
  const sbs_copies *copies;
  size_t first_block, block_count;
  void *positions_out; /* this and the following as of sbs_kernel_args */
  size_t positions_stride;
  void *normals_out;
  size_t normals_stride;
} sbs_blend_args;

typedef void sbs_blend_kernel(const sbs_blend_args *args);

/*
 * Kernels of one formula and scalar type: [form][with normals][influences - 1, the last for any number]. NULL: use that
 * for any number. Forms that do not occur have none.
 */
typedef struct sbs_formula_kernels {
  sbs_kernel *by_form[SBS_FORM_COUNT][2][SBS_KERNEL_INFLUENCES + 1];
} sbs_formula_kernels;

/*
 * The inverse of one method, or of two that are blended. For fixed weights both are affine maps of the packed position:
 * images of four points give a map, and nothing else need be known of its formula.
 */
typedef struct sbs_inverse_method {
  sbs_kernel_args args; /* of one item, without normals; of the second, only what a formula reads counts */
  sbs_kernel *kernel;
  const void *anchor; /* (4) that the group's constants leave to be added */
} sbs_inverse_method;

typedef struct sbs_inverse_args {
  sbs_inverse_method methods[2];
  const void *amounts; /* of the skin, as packed: how much of the first each vertex gets, or NULL: all; no second */
  const void *posed;   /* of the mesh */
  size_t posed_stride;
  double origin[3];        /* what the packed positions are relative to */
  double size;             /* of the mesh, around the origin too; above 0 */
  unsigned char *singular; /* of the mesh, or NULL */
} sbs_inverse_args;

/* Returns how many vertices have no inverse. */
typedef size_t sbs_inverse_kernel(const sbs_inverse_args *args);

/* Adds rows, times the weight of their shape, to the sums of a frame; a sum that is not active begins with its row. */
typedef void sbs_add_rows_kernel(const sbs_shapes *shapes, size_t first, size_t end, double weight,
                                 const sbs_shape_sums *sums);

/* Rest positions or normals of a block with such a sum; normals become unit vectors again. All (3, SBS_BLOCK). */
typedef void sbs_shape_block_kernel(const void *rest, const void *sum, int are_normals, void *shaped);

/* What is compiled for one instruction set and scalar type. */
typedef struct sbs_kernels {
  sbs_constants_batch *write_constants;
  sbs_scan_kernel *scan_amounts;
  sbs_pack_kernel *pack_amounts;
  sbs_blend_kernel *mix;
  sbs_inverse_kernel *invert;
  sbs_add_rows_kernel *add_rows;
  sbs_shape_block_kernel *shape_block;
  const sbs_formula_kernels *formulas[SBS_FORMULA_COUNT];
} sbs_kernels;

const sbs_kernels *sbs_choose_kernels(sbs_isa isa, sbs_scalar scalar);

#endif
