/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_BOUND_H
#define SBS_MUSCLES_BOUND_H

#include "base/isa.h"
#include "muscles/integrals.h"
#include "sbs/muscles.h"

/* A profile that is given is this many cubic polynomials, each over an equal part of the belly. */
#define SBS_PROFILE_STEPS 32

/* Covered vertices that are worked on together, by one thread. */
#define SBS_COVER_CHUNK 256

/* Pairs of a muscle and a vertex come in blocks of as many as the longest vectors have numbers. */
#define SBS_COVER_BLOCK 16

/*
 * Radii along a belly: a spindle, or cubics p[0] + f (p[1] + f (p[2] + f p[3])) at the fraction f of a step. The second
 * derivative of these jumps from one to the next; `bends` are its means there, by steps, and between them it is taken
 * to be linear, for what skin does is to be continuous.
 */
typedef struct sbs_profile {
  int is_spindle;
  float radius; /* the largest */
  float cubics[4 * SBS_PROFILE_STEPS];
  float bends[SBS_PROFILE_STEPS + 1];
} sbs_profile;

/* A muscle as it was bound. */
typedef struct sbs_bound_muscle {
  size_t point_count;
  int32_t joints[SBS_MUSCLE_POINTS];
  double points[SBS_MUSCLE_POINTS][3];
  sbs_profile profile;
  double squares[SBS_PATH_NODES]; /* weights of the quadrature of r^2 times what is smooth */
  double tendons[2];              /* lengths at bind */
  double length;                  /* of the path at bind */
  double belly_length;            /* at bind */
  double rest_volume;
  double flattening;
  double thin_direction[3]; /* of length 1 */
  int32_t thin_joint;
  double contraction;
  double most_growth;
  double reach;
} sbs_bound_muscle;

/* c(x) = by_power[0] + x (by_power[1] + x (by_power[2] + x by_power[3])), x in [0, 1] from origin to insertion. */
typedef struct sbs_path {
  double by_power[4][3];
} sbs_path;

/* A muscle in a pose, as its cover needs it, in the units of the bind pose. */
typedef struct sbs_posed_muscle {
  sbs_path path;
  double start, end; /* of the belly, in x */
  double growth;
  double flattening;
  double thin_direction[3]; /* of length 1; not across the path */
  const sbs_profile *profile;
  double step_squared; /* h^2 of sbs/muscles.h */
  double rounding;     /* distances that differ by less are the same */
} sbs_posed_muscle;

/*
 * A block of pairs of a muscle and a vertex: what is known at bind. What fills a block after `count` pairs repeats the
 * last of them, with the share 0.
 */
typedef struct sbs_cover_block {
  int32_t muscle;
  uint32_t count;
  int32_t slots[SBS_COVER_BLOCK];            /* of the chunk */
  float shares[SBS_COVER_BLOCK];             /* s */
  float rest[SBS_COVER_BLOCK];               /* d_rest */
  float u[SBS_COVER_BLOCK];                  /* where on the belly the surface's nearest point is */
  float radii[3][SBS_COVER_BLOCK];           /* there, and two derivatives by u */
  float distance_slopes[2][SBS_COVER_BLOCK]; /* of d on the skin: by x, and at right angles, by length */
  float share_slopes[2][SBS_COVER_BLOCK];    /* of s */
} sbs_cover_block;

/*
 * All pairs of a muscle and a vertex that covers it. Slots are for covered vertices in the order of their first muscle,
 * and to fill a block where that changes; what fills blocks repeats the vertex before it. A vertex's first pair has the
 * number of its slot, so that for these all is consecutive; few vertices have others.
 */
typedef struct sbs_cover {
  size_t vertex_count; /* that are covered */
  size_t slot_count;
  int32_t *vertices;  /* (slot_count) */
  size_t chunk_count; /* of SBS_COVER_CHUNK slots each; the last has the rest */
  size_t block_count;
  sbs_cover_block *blocks; /* (block_count) those of slots, then others by chunk */
  size_t *other_ends;      /* (chunk_count) blocks */
} sbs_cover;

/* Joints of muscles that say how large a character is in a pose: some are enough. */
#define SBS_SIZE_JOINTS 32

struct sbs_muscles {
  sbs_allocator allocator;
  sbs_isa isa;
  size_t joint_count;
  size_t muscle_count;
  size_t vertex_count;
  int has_normals;
  sbs_bound_muscle *muscles; /* (muscle_count) */
  size_t size_joint_count;
  int32_t size_joints[SBS_SIZE_JOINTS]; /* each once */
  sbs_cover cover;
};

#endif
