/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_CAPSULES_H
#define SBS_WEIGHTS_CAPSULES_H

#include "sbs/capsules.h"

/* Points are weighted in blocks: capsules that do not reach the ball around a block are skipped for all its points. */
#define SBS_CAPSULE_BLOCK 32

/*
 * An enabled capsule. Everything is scaled by a power of two so that no number is above 1, no square overflows, and
 * none underflows where it would matter.
 */
typedef struct sbs_capsule {
  double head[3];
  double axis[3];        /* tail - head */
  double inverse_square; /* 1 / |axis|^2, or 0 for a sphere */
  double inner, outer;   /* radii at the head */
  double inner_rise;     /* radius at the tail - radius at the head */
  double outer_rise;
  double smallest_outer;
  double largest_outer;
  double multiplier; /* as a share of the largest */
  double reach;      /* the largest coordinate of head and tail */
  sbs_capsules_falloff falloff;
  int32_t joint;
} sbs_capsule;

/* A joint that has weight at a point. */
typedef struct sbs_capsule_hit {
  double distance; /* d, 0 on the segment */
  double value;    /* m f, then the weight */
  int32_t joint;
} sbs_capsule_hit;

/* A block of points, and the capsules that give it weights. */
typedef struct sbs_capsule_block {
  const sbs_capsule *capsules;
  size_t capsule_count;
  sbs_capsules_outside outside;
  double tolerance; /* 4 eps of the points' type */

  double points[3]
               [SBS_CAPSULE_BLOCK];  /* in the units of the capsules; if there are fewer, the last are copies of one */
  double reaches[SBS_CAPSULE_BLOCK]; /* the largest coordinate of each */
  size_t point_count;

  /* Scratch. */
  double *lowest_gaps;   /* (capsule_count) lower bounds of d - r_outer over the block */
  sbs_capsule_hit *hits; /* (SBS_CAPSULE_BLOCK, capsule_count) */
} sbs_capsule_block;

/* The weights of one point. */
typedef struct sbs_capsule_row {
  size_t vertex;               /* its number in the block */
  const sbs_capsule_hit *hits; /* by decreasing weight, ties by joint; their values are not normalized */
  size_t hit_count;
  int outside; /* whether it is outside of all outer capsules */
} sbs_capsule_row;

typedef void sbs_capsule_sink(void *context, const sbs_capsule_row *weights);

/* Finds the weights of a block's points, and passes those of each to the sink, in order. */
void sbs_weigh_capsule_block(sbs_capsule_block *block, sbs_capsule_sink *sink, void *context);

#endif
