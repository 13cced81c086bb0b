/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_SKIN_H
#define SBS_SKIN_SKIN_H

#include "base/isa.h"
#include "sbs/sbs.h"
#include "twist/twist.h"

/* Vertices of a block: the most lanes that a vector has. Vertex v is lane v % SBS_BLOCK of block v / SBS_BLOCK. */
#define SBS_BLOCK 16

/* The least blocks that are worth another thread. */
#define SBS_CHUNK_BLOCKS 64

/*
 * The influences of a block, K for each vertex, whose joints ascend. If few joints move all of its vertices, the block
 * is shared: these are stored once, with weights of 0 where a joint does not move a vertex. Else each vertex has joints
 * of its own, and behind them its first one with weight 0. Influence i of lane l is
 *
 *   shared  joints[first + i]          weights[first + SBS_BLOCK i + l]
 *   apart   joints[first + K l + i]    weights[first + K l + i]
 */
typedef struct sbs_block {
  size_t first;
  uint32_t influences; /* K, from 1 */
  uint8_t is_shared;
  uint8_t is_one_set;      /* whether its vertices are of one joint set */
  uint8_t has_own_centers; /* whether one of them is its own center */
} sbs_block;

/*
 * A block is shared if it has at most so many more joints than its vertex with the most: sums over them cost less than
 * transposing those of each vertex.
 */
#define SBS_MORE_JOINTS 4

/*
 * Which quaternions have to be in one hemisphere: a vertex's heaviest joint and each of its other joints
 * (Kavan & Zara 2005, section 4.2). If each joint takes the sign that agrees with another joint of a pair, along a tree
 * of pairs, all pairs agree in almost all poses, and a joint has one sign for all vertices (pose/posed.c).
 */
typedef struct sbs_joint_pair {
  int32_t a, b;
} sbs_joint_pair;

typedef struct sbs_signs {
  size_t pair_count;
  sbs_joint_pair *pairs; /* (pair_count) the first tree_count of them are trees: b is not in the pairs before */
  size_t tree_count;
} sbs_signs;

struct sbs_skin {
  sbs_allocator allocator;
  sbs_isa isa;   /* the instruction set that deforms it */
  size_t memory; /* bytes allocated */

  size_t vertex_count;
  size_t joint_count;          /* with the frames of the twist */
  size_t skeleton_joint_count; /* without */
  sbs_twist *twist;            /* a copy; NULL without a twist, or with one of no bones */
  sbs_scalar scalar;
  double origin[3]; /* the center of the rest positions' box, rounded to `scalar`; rows and blocks are relative to it */
  double size;      /* the diagonal of that box */
  double size_with_origin; /* the same of a box that includes the origin of coordinates; 1 if that is nothing */
  double largest;          /* of all rest coordinates, without their signs */
  double *joint_positions; /* (joint_count, 3) or NULL */
  int32_t main_joint;      /* the heaviest joint of most vertices */

  size_t set_count;
  size_t *set_offsets;   /* (set_count + 1) into set_joints */
  int32_t *set_joints;   /* ascending within a set */
  double *set_centroids; /* (set_count, 3) the mean rest position of its vertices */
  int32_t *set_children; /* (set_count) the child if the set is a joint and its parent, else -1 */
  int32_t *solve_order; /* (solve_count) the sets of two and more joints by size; of two, a joint and its parent last */
  size_t solve_count;
  size_t nontrivial_set_count;
  size_t unweighted_vertex_count;
  size_t max_influences;
  size_t *set_starts;    /* (set_count + 1) into set_vertices */
  int32_t *set_vertices; /* (vertex_count) the vertices of each set, ascending */
  sbs_signs signs;       /* pairs of joints whose quaternions have to agree in sign */

  size_t block_count;
  int32_t *set_of_vertex; /* (block_count, SBS_BLOCK), as is `heaviest`; lanes past the last vertex repeat it */
  int32_t *heaviest;      /* the heaviest joint, of equal ones the lowest; 0 of unweighted vertices */
  unsigned char *repairs; /* (vertex_count) SBS_WEIGHT_ bits, or NULL if no vertex was repaired */
  sbs_block *blocks;      /* (block_count) */
  int32_t *joints;
  int32_t *set_rows;  /* as `joints`, of blocks that are apart or of one set: where in set_joints they are */
  void *weights;      /* of `scalar`, as are the following */
  void *pair_weights; /* (block_count, SBS_BLOCK) the sum of the products of all pairs of weights of a vertex */
  void *positions;    /* (block_count, 3, SBS_BLOCK) at rest, relative to the origin, as are `centers`; of
                         unweighted vertices, which stay, relative to nothing */
  void *normals;      /* or NULL; of unit length, or zero */
  void *centers;      /* or NULL; of the vertices. NaN for a vertex that is its own center: nothing turns about it */
};

/* Memory that counts as the skin's, to be released with it. */
void *sbs_skin_allocate(sbs_skin *skin, size_t count, size_t size);

/* Reports the repairs of all vertices, and releases `repairs` if there is none. */
void sbs_skin_count_repairs(sbs_skin *skin, sbs_weight_report *report);

/* A new skin of a description, with nothing but the twist; NULL if there is no memory. */
sbs_skin *sbs_skin_begin(const sbs_skin_desc *desc, const sbs_allocator *allocator);

static inline size_t sbs_set_size(const sbs_skin *skin, size_t set) {
  return skin->set_offsets[set + 1] - skin->set_offsets[set];
}

/* Reads the weights of a vertex, one for each joint of its set, `step` numbers apart. */
void sbs_get_weights(const sbs_skin *skin, size_t vertex, double *weights, size_t step);

/* The index of a vertex's number along an axis in positions, normals and centers. */
static inline size_t sbs_vector_index(size_t vertex, size_t axis) {
  return (3 * (vertex / SBS_BLOCK) + axis) * SBS_BLOCK + vertex % SBS_BLOCK;
}

#endif
