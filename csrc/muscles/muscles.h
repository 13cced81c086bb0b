/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_MUSCLES_H
#define SBS_MUSCLES_MUSCLES_H

#include "base/isa.h"
#include "sbs/muscles.h"

/* A profile that is given is this many cubic polynomials, each over an equal part of the belly. */
#define SBS_PROFILE_STEPS 32

/* Where integrals along a path are evaluated. */
#define SBS_PATH_NODES 12

/* Covered vertices that are worked on together, by one thread. */
#define SBS_COVER_CHUNK 512

/* Pairs of a muscle and a vertex come in blocks of as many as the longest vectors have numbers. */
#define SBS_COVER_BLOCK 16

/* Radii along a belly: a spindle, or cubics p[0] + f (p[1] + f (p[2] + f p[3])) at the fraction f of a step. */
typedef struct sbs_profile {
  int is_spindle;
  float radius; /* the largest */
  float cubics[4 * SBS_PROFILE_STEPS];
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

/* A muscle in a pose, as its cover needs it. */
typedef struct sbs_posed_muscle {
  sbs_path path;
  int is_straight;
  double start, end; /* of the belly, in x */
  double growth;
  double per_stretch; /* length of the path at bind, over that in the pose */
  double flattening;
  double thin_direction[3]; /* of length 1; not across the path */
  const sbs_profile *profile;
  double step_squared; /* h^2 of sbs/muscles.h */
  double rounding;     /* distances that differ by less are the same */
} sbs_posed_muscle;

/*
 * Consecutive blocks of pairs of one muscle with vertices of one chunk. A vertex's first pair has the number of its
 * slot, so that in a run of first pairs all is consecutive; few vertices have others.
 */
typedef struct sbs_cover_run {
  int32_t muscle;
  int is_first;
  size_t begin, count; /* pairs; both are multiples of SBS_COVER_BLOCK */
} sbs_cover_run;

/* At bind, on the skin: along the path and at right angles to it. */
typedef struct sbs_cover_slopes {
  float distance[2]; /* of d: N seen from the skin */
  float share[2];    /* of s */
} sbs_cover_slopes;

/*
 * All pairs of a muscle and a vertex that covers it. Slots are for covered vertices in the order of their first muscle,
 * and to fill a block where that changes; what fills blocks has the share 0.
 */
typedef struct sbs_cover {
  size_t vertex_count; /* that are covered */
  size_t slot_count;
  int32_t *vertices;  /* (slot_count) */
  size_t chunk_count; /* of SBS_COVER_CHUNK slots each; the last has the rest */
  size_t *run_ends;   /* (chunk_count) */
  size_t run_count;
  sbs_cover_run *runs;      /* (run_count) by chunk: first ones, then others by muscle */
  size_t pair_count;        /* with those that fill blocks */
  int32_t *slots;           /* (pair_count) of the chunk */
  float *feet;              /* (pair_count) x of the foot at bind */
  float *shares;            /* (pair_count) s */
  float *rest;              /* (pair_count) d_rest */
  sbs_cover_slopes *slopes; /* (pair_count) */
} sbs_cover;

struct sbs_muscles {
  sbs_allocator allocator;
  sbs_isa isa;
  size_t joint_count;
  size_t muscle_count;
  size_t vertex_count;
  int has_normals;
  sbs_bound_muscle *muscles; /* (muscle_count) */
  sbs_cover cover;
};

#endif
