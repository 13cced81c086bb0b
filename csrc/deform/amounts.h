/* SPDX-License-Identifier: MIT */
#ifndef SBS_DEFORM_AMOUNTS_H
#define SBS_DEFORM_AMOUNTS_H

#include <stdatomic.h>

#include "kernels/kernels.h"
#include "skin/skin.h"

/* How much of the first method each vertex gets. */
typedef struct sbs_amounts {
  const void *numbers; /* (vertex_count) */
  sbs_scalar scalar;
} sbs_amounts;

static inline sbs_amounts sbs_amounts_in(const sbs_deform_options *options) {
  return (sbs_amounts){options->amount, options->amount_scalar};
}

/*
 * Whether both methods move a group alike in all poses: in float32, if it has one joint. A rigid joint moves vertices
 * by R in the rotation methods and by A in the linear ones, which differ by up to SBS_RIGID_TOLERANCE. In float64 this
 * difference counts: gradients are those of a base that moves by A.
 */
static inline int sbs_is_moved_alike(const sbs_skin *skin, size_t group) {
  return skin->scalar == SBS_FLOAT32 && !skin->groups[group].others;
}

/*
 * Amounts as the kernels read them, and the methods that the groups of a skin need: found once in a call, for all its
 * frames. It is a group that decides, not a block or an item, because which vertices share a block depends on the order
 * of vertices.
 */
typedef struct sbs_amounts_use {
  void *packed;             /* (block_count, SBS_BLOCK) of the skin's type; of groups that are moved alike nothing */
  atomic_uchar *groups;     /* (group_count) SBS_NEEDS_ bits; groups that are moved alike need the method alone */
  int32_t *solve_orders[2]; /* of skin->solve_order, the sets with a group that needs the base, and the method */
  size_t solve_counts[2];
} sbs_amounts_use;

/* Checks the amounts of vertices [begin, end): all finite and in [0, 1]. */
sbs_status sbs_check_amounts(sbs_amounts amounts, size_t begin, size_t end, sbs_fault *fault);

/* Checks all amounts and finds which methods the mesh needs, by up to so many threads. Errors: OPTION, NOT_FINITE. */
sbs_status sbs_find_needs(const sbs_skin *skin, sbs_amounts amounts, int threads, unsigned *needs, sbs_fault *fault);

/*
 * Packs the amounts and finds which methods groups need, where the mesh needs both. The arrays of `use` are given.
 * Errors: CANCELLED.
 */
sbs_status sbs_pack_amounts(const sbs_skin *skin, sbs_amounts amounts, int threads, sbs_amounts_use *use);

#endif
