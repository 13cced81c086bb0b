/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_ARRANGEMENT_H
#define SBS_GRADIENT_ARRANGEMENT_H

#include "base/arena.h"
#include "sbs/gradient.h"
#include "skin/skin.h"

/* Vertices in a block: lanes of the widest vectors, of the narrowest numbers. */
#define SBS_GRADIENT_LANES 16

/* Most blocks in a part: the unit of work, of which sums over vertices are kept. */
#define SBS_GRADIENT_PART_BLOCKS 32

/* Consecutive blocks of one joint set. */
typedef struct sbs_gradient_part {
  int32_t set;
  int32_t vertex_count; /* only the last block may be short */
  int32_t own;          /* whether the vertices are their own rotation centers */
  int32_t placed;       /* whether each weight is that of one column: `places` */
  size_t first_block;
  size_t weights; /* index of its first weight */
} sbs_gradient_part;

/* Where along which bone of the twist an influence is; the bone is -1 for a joint without. */
typedef struct sbs_gradient_spread {
  double share;
  int32_t bone;
} sbs_gradient_spread;

/*
 * The influences of a mesh in blocks of one joint set each. Its own arrangement, apart from that of the skin: what is
 * summed up for each joint of a set needs all of its weights, and goes back to the caller's columns.
 */
struct sbs_gradient {
  sbs_allocator allocator;
  sbs_arena arena;                           /* of the arrays below, but for `spread` */
  size_t vertex_count, joint_count, columns; /* V, J, K; with a twist J' and 2 K */
  size_t set_count;
  sbs_scalar scalar;
  size_t part_count, block_count;
  sbs_gradient_part *parts; /* by tile, then set */
  size_t *set_parts;        /* (set_count + 1) into part_order */
  int32_t *part_order;      /* (part_count) the parts of each set, ascending */
  int32_t *vertices;        /* (block_count, SBS_GRADIENT_LANES); lanes past the last vertex repeat it */
  void *weights;      /* for each block those of all joints of the set, ascending, a lane vector each; normalized */
  uint32_t *places;   /* of each weight the index among the caller's weights, (V, K) */
  uint16_t *heaviest; /* (block_count, SBS_GRADIENT_LANES) index within the set */
  void *scales;       /* (block_count, SBS_GRADIENT_LANES) 1 over the sum of the caller's weights */
  uint16_t *slots;    /* (vertex_count, columns) index of the joint within the vertex's set; for weights without
                               gradient the size of the set */
  sbs_gradient_spread *spread; /* (vertex_count, K) or NULL without a twist */
};

#endif
