/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_SKIN_H
#define SBS_SKIN_SKIN_H

#include "base/isa.h"
#include "sbs/sbs.h"
#include "twist/twist.h"

/* Vertices in a block. A block is of one group; its last lanes repeat a vertex where the group has run out. */
#define SBS_BLOCK 16

/*
 * Blocks are grouped within tiles of this many consecutive vertices, so that output stays in cache however shuffled the
 * groups are over the mesh.
 */
#define SBS_TILE 16384

/* Most blocks in an item: fine enough to share out, coarse enough not to notice. */
#define SBS_ITEM_BLOCKS 32

/* Blocks are shared out to threads in so many chunks at most, of so many blocks at least: less is not worth another. */
enum {
  SBS_MOST_CHUNKS = 64,
  SBS_CHUNK_BLOCKS = 64
};

/*
 * A group: the vertices of one joint set. All that a kernel needs beside the vertices is the same for all of them, and
 * relative to one of the joints, the pivot: that which is the heaviest of most of them. Where results depend on which
 * joint is a vertex's own heaviest, the group has as many pivots as there are such joints. Vertices that are their own
 * rotation centers are groups apart.
 */
typedef struct sbs_group {
  int32_t set;
  int32_t others;      /* joints beside the pivot: the number of weights a vertex keeps */
  int32_t linear;      /* whether its vertices are their own centers: about those, nothing turns */
  int32_t pivot_count; /* how many joints are the heaviest of one of the set's vertices; 1 of the empty set */
  size_t more_pivots;  /* where all but the first of them stand */
} sbs_group;

typedef struct sbs_pivot {
  int32_t joint;    /* index within its set; 0 of the empty set */
  size_t first_row; /* sum of `others` over the pivots before: where the joints beside it stand */
} sbs_pivot;

/* Consecutive blocks of one group: the unit of work. */
typedef struct sbs_item {
  int32_t group;
  int32_t vertex_count; /* at most SBS_BLOCK * SBS_ITEM_BLOCKS; only the last block may be short */
  int32_t lowest;       /* of the numbers of its vertices */
  size_t first_block;
  size_t stream; /* index of its first number in the stream of positions and weights */
} sbs_item;

/*
 * How vertices get from blocks that are not stored straight to where they stand in the mesh: by copies of 4, 2 and 1 of
 * them that follow each other in both. Those of a size stand together, so that a loop over them has no branch that
 * depends on the mesh.
 */
enum {
  SBS_COPY_SIZES = 3
};
typedef struct sbs_copies {
  uint32_t *lanes[SBS_COPY_SIZES];  /* the first lane of each copy, counted over all blocks, modulo 2^32; ascending */
  uint32_t *starts[SBS_COPY_SIZES]; /* (block_count + 1) where those of a block start */
} sbs_copies;

/* Vertices of the copies in a list. */
static inline size_t sbs_copy_size(size_t list) {
  return (size_t)4 >> list;
}

struct sbs_skin {
  sbs_allocator allocator;
  sbs_isa isa;   /* what it is deformed by */
  size_t memory; /* bytes allocated */

  size_t vertex_count;
  size_t joint_count;          /* with the frames of the twist */
  size_t skeleton_joint_count; /* without */
  sbs_twist *twist;            /* a copy; NULL where there is none, or one of no bones */
  int is_moved;                /* whether other positions than the rest positions tell where along bones vertices are */
  sbs_scalar scalar;
  double largest;          /* of all rest coordinates, their sign apart */
  double size;             /* the diagonal of the rest positions' bounding box */
  double size_with_origin; /* the same of a box that takes in the origin; 1 where that is nothing */
  double *joint_positions; /* (joint_count, 3) or NULL */

  size_t set_count;
  size_t *set_offsets;   /* (set_count + 1) into set_joints */
  int32_t *set_joints;   /* ascending within a set */
  double *set_centroids; /* (set_count, 3) mean rest position of its vertices */
  int32_t *set_children; /* (set_count) the child where the set is a joint and its parent, else -1 */
  int32_t *set_order;    /* (set_count) by size, of two joints a joint and its parent last */
  size_t solve_count;
  const int32_t *solve_order; /* (solve_count) the end of that: the sets of two and more joints */
  size_t nontrivial_set_count;
  size_t unweighted_vertex_count;
  size_t max_influences;

  unsigned char *repairs; /* (vertex_count) SBS_WEIGHT_ bits of what was repaired, or NULL where nothing was */

  size_t group_count;
  sbs_group *groups; /* in the order of their sets, then by whether linear */
  size_t pivot_count;
  size_t row_count;  /* sum of `others` over all pivots */
  sbs_pivot *pivots; /* the first of each group, in their order; then what more they have, ascending in each */

  size_t item_count;
  size_t block_count;
  sbs_item *items;   /* by tile, then size of the set, then first vertex */
  int32_t *vertices; /* (block_count, SBS_BLOCK) the caller's numbers of the vertices */
  /*
   * (block_count) bit i: the vertex of lane i does not follow that of lane i - 1. 0: so do all, and all lanes may be
   * stored one after the other; where lanes past the last vertex repeat it, others in the same chunk follow that write
   * over what is stored of these.
   */
  uint16_t *runs;
  sbs_copies copies;

  /*
   * For each block of a set of n joints: x, y, z, then the weights of the n - 1 joints that are not the group's first
   * pivot, ascending; SBS_BLOCK lanes each. Positions are relative to sbs_set_origin.
   */
  void *stream;
  void *pivot_weights; /* (block_count, SBS_BLOCK) that of the group's first pivot */
  int32_t *heaviest;   /* (block_count, SBS_BLOCK) the index within the set of each vertex's heaviest joint */
  void *normals;       /* or NULL; for each block x, y, z of unit (or zero) normals */
  void *centers; /* or NULL; for each block x, y, z of the vertices' rotation centers, relative to sbs_set_origin */
};

/* Memory that counts as the skin's, to be released with it. */
void *sbs_skin_allocate(sbs_skin *skin, size_t count, size_t size);

/* Reports the repairs of all vertices; where there is none, `repairs` is released. */
void sbs_skin_count_repairs(sbs_skin *skin, sbs_weight_report *report);

/* A new skin of a description, without anything but the twist; NULL if there is no memory. */
sbs_skin *sbs_skin_begin(const sbs_skin_desc *desc, const sbs_allocator *allocator);

/* A copy that shares nothing with the skin; NULL if there is no memory. */
sbs_skin *sbs_skin_copy(const sbs_skin *skin);

/* The array may be NULL. */
sbs_status sbs_skin_copy_joint_positions(sbs_skin *skin, const double *joint_positions);

static inline size_t sbs_set_size(const sbs_skin *skin, size_t set) {
  return skin->set_offsets[set + 1] - skin->set_offsets[set];
}

/* Joints beside the pivot: the number of weights a vertex of the set keeps. */
static inline size_t sbs_set_others(const sbs_skin *skin, size_t set) {
  size_t size = sbs_set_size(skin, set);
  return size ? size - 1 : 0;
}

/* The number of a group's pivot k. */
static inline size_t sbs_group_pivot(const sbs_skin *skin, size_t group, size_t k) {
  return k ? skin->groups[group].more_pivots + k - 1 : group;
}

/* What a set's packed positions are relative to: its centroid, or nothing where no joint moves them. */
static inline const double *sbs_set_origin(const sbs_skin *skin, size_t set) {
  static const double zero[3] = {0.0, 0.0, 0.0};
  return sbs_set_size(skin, set) ? skin->set_centroids + 3 * set : zero;
}

/* The items that begin in so many blocks are deformed one after the other, by one thread. */
static inline size_t sbs_chunk_blocks(const sbs_skin *skin) {
  const size_t blocks = skin->block_count / SBS_MOST_CHUNKS;
  return blocks > SBS_CHUNK_BLOCKS ? blocks : SBS_CHUNK_BLOCKS;
}

static inline size_t sbs_item_blocks(const sbs_item *item) {
  return ((size_t)item->vertex_count + SBS_BLOCK - 1) / SBS_BLOCK;
}

/* Numbers of the stream that a block of the group takes. */
static inline size_t sbs_block_size(const sbs_group *group) {
  return SBS_BLOCK * (3 + (size_t)group->others);
}

#endif
