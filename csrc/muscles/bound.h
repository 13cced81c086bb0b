/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_BOUND_H
#define SBS_MUSCLES_BOUND_H

#include "base/isa.h"
#include "sbs/muscles.h"

/* Points at which integrals along a path are evaluated. */
#define SBS_PATH_NODES 16

/* A profile that is given is this many cubic polynomials, each over an equal part of the belly. */
#define SBS_PROFILE_STEPS 32

/* Pairs of a muscle and a vertex come in blocks of as many as the longest vectors have numbers. */
#define SBS_COVER_BLOCK 16

/*
 * Radii along a belly: a spindle, or cubics p[0] + f (p[1] + f (p[2] + f p[3])) at the fraction f of a step. The second
 * derivative of these jumps from step to step; `bends` are its means there, and between them it is taken to be linear,
 * so that the skin's movement is continuous.
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
  double squares[SBS_PATH_NODES]; /* weights of the quadrature of r^2 times a smooth function */
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
  double step_squared; /* h^2 of docs/muscles.md */
  double rounding;     /* distances that differ by less are the same */
} sbs_posed_muscle;

/* A block of pairs of a muscle and a vertex that covers it, as known at bind. The last of `count` pairs is repeated. */
typedef struct sbs_cover_block {
  int32_t muscle;
  uint32_t count;
  int32_t vertices[SBS_COVER_BLOCK];
  int32_t firsts[SBS_COVER_BLOCK]; /* the number of the vertex's first pair, SBS_COVER_BLOCK of them a block */
  float shares[SBS_COVER_BLOCK];   /* s */
  float rest[SBS_COVER_BLOCK];     /* d_rest */
  float u[SBS_COVER_BLOCK];        /* of the nearest point of the belly */
  float radii[3][SBS_COVER_BLOCK]; /* there, and two derivatives by u */
  float distance_slopes[2][SBS_COVER_BLOCK]; /* of d on the skin: by x, and at right angles, by length */
  float share_slopes[2][SBS_COVER_BLOCK];    /* of s */
} sbs_cover_block;

/* All pairs, one muscle after the other. */
typedef struct sbs_cover {
  size_t vertex_count; /* that are covered */
  size_t block_count;
  sbs_cover_block *blocks; /* (block_count) */
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

/* Checks the arguments of sbs_muscles_new. */
sbs_status sbs_check_muscles_desc(const sbs_muscles_desc *desc, sbs_fault *fault);

/* Checks the arguments of all functions with a pose. */
sbs_status sbs_check_muscle_pose(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                                 sbs_fault *fault);

#endif
