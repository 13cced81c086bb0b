/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_ROW_H
#define SBS_WEIGHTS_ROW_H

#include "base/arena.h"
#include "sbs/influences.h"
#include "sbs/mesh.h"
#include "skin/influences.h"

/*
 * The influences of one vertex while a tool works on them: distinct joints with positive weights. In order means by
 * decreasing weight, ties by joint.
 */
typedef struct sbs_row {
  int32_t *joints;
  double *weights;
  size_t count;
} sbs_row;

/* Checks the counts and pointers of a table, not its numbers. */
sbs_status sbs_influences_validate_table(const sbs_influences_table *table, sbs_fault *fault);

/* The same for a call that changes influences over a surface; and its mesh, limit and outputs. */
sbs_status sbs_influences_validate_over_surface(const sbs_influences_table *table, const sbs_mesh_desc *mesh,
                                                size_t limit, const int32_t *joint_indices, const void *joint_weights,
                                                sbs_fault *fault);

/* Checks the joints of a table. Weights may be any numbers. */
sbs_status sbs_influences_validate_joints(const sbs_influences_table *table, sbs_fault *fault);

/* A row with room for `capacity` influences, from an arena. */
sbs_row sbs_row_new(sbs_arena *arena, size_t capacity);

/* The influences of a vertex as a skin repairs them, in the memory of a row. */
sbs_influences sbs_row_repaired(const sbs_influences_table *table, size_t vertex, sbs_row room);

/*
 * Reads a vertex of a valid table: merged, only positive finite weights, rounded to the scalar, in order. If the
 * weights of a joint sum to more than the scalar holds, all weights of the vertex are halved until they do not;
 * their ratios stay.
 */
void sbs_row_read(const sbs_influences_table *table, size_t vertex, sbs_row *row);

/* Copies a row to one with room for it. */
void sbs_row_copy(const sbs_row *from, sbs_row *to);

/* Whether a bit of two rows differs. */
int sbs_row_differs(const sbs_row *a, const sbs_row *b);

/* Puts a row in order. */
void sbs_row_sort(sbs_row *row);

/* Writes a row of at most `width` influences to row `vertex` of (V, width) arrays, padded. */
void sbs_row_write(const sbs_row *row, size_t width, sbs_scalar scalar, size_t vertex, int32_t *joint_indices,
                   void *joint_weights);

static inline int sbs_is_locked(const unsigned char *locked, int32_t joint) {
  return locked && locked[joint];
}

/* How far from 1 a sum of weights may be and still count as 1: as far as rounding explains. */
double sbs_row_tolerance(const sbs_row *row, sbs_scalar scalar);

double sbs_row_sum(const sbs_row *row);

/* Scales the unlocked weights so that all sum to 1, rounded to the scalar, and puts the row in order. */
void sbs_row_normalize(sbs_row *row, const unsigned char *locked, sbs_scalar scalar);

/* Rounds the weights to the scalar and puts the row in order, without weights that have become zero. */
void sbs_row_round(sbs_row *row, sbs_scalar scalar);

/* Drops the lightest unlocked influences of a row in order until there are `limit`, or only locked ones are left. */
void sbs_row_limit(sbs_row *row, size_t limit, const unsigned char *locked);

/*
 * Checks that the locked influences of each vertex fit into `limit`, as they cannot be dropped. `room` is for as many
 * influences as the table has columns.
 */
sbs_status sbs_influences_validate_limit(const sbs_influences_table *table, const unsigned char *locked, size_t limit,
                                         sbs_row *room, sbs_fault *fault);

/* Drops unlocked weights below the threshold from a row in order, except the heaviest. */
void sbs_row_prune(sbs_row *row, double threshold, const unsigned char *locked);

#endif
