/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_KERNELS_H
#define SBS_KERNELS_KERNELS_H

#include "base/isa.h"
#include "correctives/shapes.h"
#include "kernels/tables.h"

/* The formulas that are evaluated by sums of rows, each in a source of its own: kernels/linear.inc and so on. */
typedef enum sbs_formula {
  SBS_FORMULA_LINEAR,   /* a blended matrix, or that of the heaviest joint */
  SBS_FORMULA_SETS,     /* spherical, about centers of joint sets */
  SBS_FORMULA_CENTERS,  /* in part, by averages, or about centers that are given with the vertices */
  SBS_FORMULA_WEIGHTED, /* spherical, about weighted centers */
  SBS_FORMULA_DUAL_QUATERNION,
  SBS_FORMULA_COUNT
} sbs_formula;

/* The tables that a formula reads; unused ones are NULL. */
typedef struct sbs_rows {
  const void *joints;
  const void *stretches;   /* where joints stretch STRETCHES, or of dual quaternions PRODUCTS */
  const void *normals;     /* where neither matrices nor rotations move normals */
  const void *dual;        /* of dual quaternions */
  const void *sets;        /* of SETS */
  const void *set_centers; /* of SETS and CENTERS; or NULL: the vertices' own */
  const void *set_arms;    /* with set_centers, where joints stretch */
  const void *set_arcs;    /* of averages, by CENTERS and WEIGHTED */
} sbs_rows;

/* The work of a kernel: blocks [begin, end) of a skin. Arrays but the outputs begin with block `begin`. */
typedef struct sbs_kernel_args {
  const sbs_skin *skin;
  sbs_rows rows;
  double scale;
  double damping, far; /* of weighted centers; and how far away they may be, in the pose without scale */
  uint16_t *exact;     /* (block_count of the skin) receives a bit for each vertex whose center is further away */
  sbs_vec4 anchor;
  int by_heaviest; /* of LINEAR: whether the heaviest joint alone moves a vertex */
  size_t begin, end;
  const void *positions;   /* as of the skin, as are the following */
  const void *centers;     /* of CENTERS, if there are no set_centers; else NULL */
  const void *normals;     /* or NULL: not wanted */
  const void *amounts;     /* (SBS_BLOCK) of each block, or NULL: how much of the formula, the rest being linear */
  void *positions_out;     /* of the mesh */
  size_t positions_stride; /* bytes */
  void *normals_out;
  size_t normals_stride;
} sbs_kernel_args;

typedef void sbs_kernel(const sbs_kernel_args *args);

/*
 * How many times the mesh's size a center may be away for kernels to move vertices about it: where the joints take it,
 * and how the arm to the vertex turns, round by some 2^-24 of that.
 */
#define SBS_FAR_CENTER 2.0

/* Adds rows, times the weight of their shape, to the sums of a frame; a sum that is not active begins with its row. */
typedef void sbs_add_rows_kernel(const sbs_shapes *shapes, size_t first, size_t end, double weight,
                                 const sbs_shape_sums *sums);

/* Rest positions or normals of a block with such a sum; normals become unit vectors again. All (3, SBS_BLOCK). */
typedef void sbs_shape_block_kernel(const void *rest, const void *sum, int are_normals, void *shaped);

/* Packs positions (count, 3) of the mesh, relative to the origin, in blocks; lanes past the last repeat it. */
typedef void sbs_pack_kernel(const void *positions, size_t stride, size_t count, const double origin[3], void *packed);

/* Copies amounts to the skin's type. Returns whether all are in [0, 1]. */
typedef int sbs_amounts_kernel(const void *amounts, sbs_scalar scalar, size_t count, void *copies);

/* The functions that are compiled for one instruction set and scalar type. */
typedef struct sbs_kernels {
  sbs_write_rows *write_rows;
  sbs_write_set_rows *write_set_rows;
  sbs_add_rows_kernel *add_rows;
  sbs_shape_block_kernel *shape_block;
  sbs_pack_kernel *pack_positions;
  sbs_amounts_kernel *take_amounts;
  sbs_kernel *formulas[SBS_FORMULA_COUNT];
} sbs_kernels;

const sbs_kernels *sbs_choose_kernels(sbs_isa isa, sbs_scalar scalar);

#endif
