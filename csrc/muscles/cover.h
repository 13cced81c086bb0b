/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_COVER_H
#define SBS_MUSCLES_COVER_H

#include "muscles/bound.h"

/*
 * The vertices of a chunk: what is deformed, relative to the first vertex that is covered, and by how much it moves. In
 * single precision: what moves is small, and is added to positions and normals as they are.
 */
typedef struct sbs_cover_scratch {
  float positions[3][SBS_COVER_CHUNK];
  float normals[3][SBS_COVER_CHUNK];
  float weights[SBS_COVER_CHUNK];
  float moves[3][SBS_COVER_CHUNK];
  float turns[3][SBS_COVER_CHUNK];
  /* Whether any vertex of a block does: others keep their bits. */
  unsigned char is_moved[SBS_COVER_CHUNK / SBS_COVER_BLOCK], is_turned[SBS_COVER_CHUNK / SBS_COVER_BLOCK];
} sbs_cover_scratch;

/* A muscle in a pose, relative to the first vertex that is covered. */
typedef struct sbs_cover_muscle {
  float path[4][3];            /* c, by powers of x, */
  float path_slopes[3][3];     /* c' */
  float path_bends[3];         /* and what c'' has more than 2 p2, by x */
  float start, span, per_span; /* of the belly in x, and 1 over its length */
  float growth;
  float spindle[3]; /* what radii and their derivatives by x are multiples of, for a spindle */
  float flattening;
  float thin_direction[3];
  const sbs_profile *profile;
  float step_squared; /* h^2 of sbs/muscles.h */
  float rounding; /* distances that differ by less are the same: so in the bind pose nothing moves, to the last bit */
} sbs_cover_muscle;

/* Blocks of pairs with vertices of a chunk. Those of slots say how vertices move, others change it. */
typedef struct sbs_cover_args {
  const sbs_cover_muscle *muscles;
  int has_normals;
  int is_first;  /* whether they are those of slots, from the first of the chunk on */
  int are_plain; /* whether all muscles are round spindles */
  size_t block_count;
  const sbs_cover_block *blocks;
  sbs_cover_scratch *scratch;
} sbs_cover_args;

/* What is measured to bind: distances d, normals N, slopes of d on the skin, and the directions those are along. */
typedef struct sbs_measured {
  float distances[SBS_COVER_BLOCK];
  float normals[3][SBS_COVER_BLOCK];
  float slopes[2][SBS_COVER_BLOCK];
  float frames[2][3][SBS_COVER_BLOCK];
} sbs_measured;

/* Compiled for each instruction set from muscles/cover_pairs.c; at most SBS_COVER_CHUNK / SBS_COVER_BLOCK blocks. */
typedef void sbs_cover_pairs(const sbs_cover_args *args);
/* Makes of `turns` what is added to normals, so that their length stays 1; `count`, a multiple of blocks, slots. */
typedef void sbs_turn_normals(sbs_cover_scratch *scratch, size_t count);
/* One block, of which the muscle, u and radii alone are read. */
typedef void sbs_measure_cover_pairs(const sbs_cover_args *args, sbs_measured *measured);

#define SBS_DECLARE_COVER(constant, name) \
  sbs_cover_pairs sbs_cover_pairs_##name; \
  sbs_turn_normals sbs_turn_normals_##name; \
  sbs_measure_cover_pairs sbs_measure_cover_pairs_##name;
SBS_EACH_ISA(SBS_DECLARE_COVER)
#undef SBS_DECLARE_COVER

sbs_measure_cover_pairs *sbs_choose_measure_cover_pairs(sbs_isa isa);

/* A posed muscle relative to a point. */
void sbs_bring_near(const sbs_posed_muscle *posed, const double origin[3], sbs_cover_muscle *muscle);

/* Finds the skin that covers muscles, from a description that was checked. */
sbs_status sbs_bind_cover(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_fault *fault);

/* Number `vertex` of vectors `stride` bytes apart. */
void sbs_read_vector(const void *vectors, size_t stride, sbs_scalar scalar, size_t vertex, double v[3]);

#endif
