/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_COVER_H
#define SBS_MUSCLES_COVER_H

#include "muscles/muscles.h"

/*
 * The vertices of a chunk: what is deformed, and sums over the muscles that they cover. In single precision, positions
 * relative to the chunk's first vertex: what moves is small, and is added to positions as they are.
 */
typedef struct sbs_cover_scratch {
  float positions[3][SBS_COVER_CHUNK];
  float normals[3][SBS_COVER_CHUNK];
  float weights[SBS_COVER_CHUNK];
  float moves[3][SBS_COVER_CHUNK];
  float turns[3][SBS_COVER_CHUNK];
} sbs_cover_scratch;

/* A muscle in a pose, relative to the chunk's first vertex. */
typedef struct sbs_cover_muscle {
  float path[4][3];
  int is_straight;
  float start, per_span; /* of the belly in x, and 1 over its length */
  float growth;
  float per_stretch;
  float flattening;
  float thin_direction[3];
  const sbs_profile *profile;
  float step_squared;
  float rounding; /* distances that differ by less are the same */
} sbs_cover_muscle;

/*
 * Pairs (count, a multiple of SBS_COVER_BLOCK) of one muscle with vertices of a chunk. First pairs are those of
 * consecutive slots, whose sums begin with them; others add to sums.
 */
typedef struct sbs_cover_args {
  const sbs_cover_muscle *muscle;
  int has_normals;
  int is_first;
  size_t count;
  size_t begin;         /* the slot of the first pair, if they are first */
  const int32_t *slots; /* (count) if they are not */
  const float *feet;
  const float *shares;
  const float *rest;
  const sbs_cover_slopes *slopes;
  sbs_cover_scratch *scratch; /* positions and normals are read, sums are added to */
} sbs_cover_args;

/* Distances d, normals N, and slopes of N seen from the skin: as they are measured to bind and to pose. */
typedef struct sbs_measured {
  float distances[SBS_COVER_BLOCK];
  float normals[3][SBS_COVER_BLOCK];
  float slopes[2][SBS_COVER_BLOCK];
  float frames[2][3][SBS_COVER_BLOCK]; /* directions on the skin that slopes are along */
} sbs_measured;

/* Compiled for each instruction set from muscles/cover_pairs.c. */
typedef void sbs_add_cover_pairs(const sbs_cover_args *args);
/* Makes movements of sums, and normals of turned ones; `count`, a multiple of SBS_COVER_BLOCK, slots. */
typedef void sbs_finish_cover(sbs_cover_scratch *scratch, int has_normals, size_t count);
/* SBS_COVER_BLOCK first pairs, whose shares and rest are not read. */
typedef void sbs_measure_cover_pairs(const sbs_cover_args *args, sbs_measured *measured);

#define SBS_DECLARE_COVER(constant, name) \
  sbs_add_cover_pairs sbs_add_cover_pairs_##name; \
  sbs_finish_cover sbs_finish_cover_##name; \
  sbs_measure_cover_pairs sbs_measure_cover_pairs_##name;
SBS_EACH_ISA(SBS_DECLARE_COVER)
#undef SBS_DECLARE_COVER

sbs_measure_cover_pairs *sbs_measure_cover_pairs_of(sbs_isa isa);

/* A posed muscle relative to a point. */
void sbs_bring_near(const sbs_posed_muscle *posed, const double origin[3], sbs_cover_muscle *muscle);

/* Finds the skin that covers muscles, from a description that was checked. */
sbs_status sbs_bind_cover(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_fault *fault);

void sbs_release_cover(const sbs_allocator *allocator, sbs_cover *cover);

/* Number `vertex` of vectors `stride` bytes apart. */
void sbs_read_vector(const void *vectors, size_t stride, sbs_scalar scalar, size_t vertex, double v[3]);

#endif
