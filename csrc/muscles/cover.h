/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_COVER_H
#define SBS_MUSCLES_COVER_H

#include "muscles/bound.h"

/*
 * The vertices of a block of pairs, relative to the first covered vertex, and how far they move. Single precision is
 * enough: the movement is small, and is added to positions and normals as they are.
 */
typedef struct sbs_skin_block {
  float positions[3][SBS_COVER_BLOCK];
  float normals[3][SBS_COVER_BLOCK];
  float weights[SBS_COVER_BLOCK];
  float moves[3][SBS_COVER_BLOCK];
  float turns[3][SBS_COVER_BLOCK];
} sbs_skin_block;

/* A muscle in a pose, relative to the first covered vertex. */
typedef struct sbs_cover_muscle {
  float path[4][3];  /* c, by powers of x */
  float start, span; /* of the belly in x */
  float growth;      /* k */
  float flattening;
  float thin_direction[3];
  const sbs_profile *profile;
  float step_squared; /* h^2 of docs/muscles.md */
  float rounding;     /* distances that differ by less are equal, so that nothing moves in the bind pose */
} sbs_cover_muscle;

/* A vertex measured at bind: its distance d, the normal N of the belly, and the slopes of d along two directions. */
typedef struct sbs_measured {
  float radii[3]; /* r, and two derivatives by u */
  float distance;
  float normal[3];
  float slopes[2];
  float frame[2][3];
} sbs_measured;

/* Finds weights, moves and turns (normals != 0) of a block of pairs. */
typedef void sbs_cover_pairs(const sbs_cover_muscle *muscle, const sbs_cover_block *block, int normals,
                             sbs_skin_block *skin);
/* Scales moves by the character's size, makes normals + turns of length 1, and leaves out all that is too large. */
typedef void sbs_finish_block(float size, int normals, size_t count, sbs_skin_block *skin);
/* Measures the first vertex of `skin`, nearest to the belly at u. */
typedef void sbs_measure_vertex(const sbs_cover_muscle *muscle, float u, int normals, const sbs_skin_block *skin,
                                sbs_measured *measured);

/* The functions above as muscles/cover_pairs.c compiles them for an instruction set. */
typedef struct sbs_cover_functions {
  sbs_cover_pairs *cover_pairs;
  sbs_finish_block *finish_block;
  sbs_measure_vertex *measure_vertex;
} sbs_cover_functions;

sbs_cover_functions sbs_choose_cover_functions(sbs_isa isa);

/* A posed muscle relative to a point. */
void sbs_bring_near(const sbs_posed_muscle *posed, const double origin[3], sbs_cover_muscle *muscle);

/* Finds the skin that covers muscles, from a description that was checked. */
sbs_status sbs_bind_cover(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_fault *fault);

#endif
