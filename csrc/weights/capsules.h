/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_CAPSULES_H
#define SBS_WEIGHTS_CAPSULES_H

#include "sbs/capsules.h"

/* Points that are weighted together: what can't reach the ball around them is left out for all. */
#define SBS_CAPSULE_BLOCK 32

/*
 * A capsule that is enabled, in units of its own: everything is scaled by a power of two so that no number is above 1
 * and no square overflows, or underflows where it would matter.
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

/* A set of capsules, and what a block of points is weighted with. */
typedef struct sbs_capsule_block {
  const sbs_capsule *capsules;
  size_t capsule_count;
  sbs_capsules_outside outside;
  double tolerance; /* 4 eps of the points' type */

  double points[3][SBS_CAPSULE_BLOCK]; /* in the units of the capsules; the last repeat a point where there are fewer */
  double reaches[SBS_CAPSULE_BLOCK];   /* the largest coordinate of each */
  size_t point_count;

  /* Scratch. */
  double *lowest_gaps;   /* (capsule_count) no point of the block has a smaller d - r_outer */
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

/* Weights the points of a block, and hands those of each to the sink, in order. */
void sbs_weigh_capsule_block(sbs_capsule_block *block, sbs_capsule_sink *sink, void *context);

#endif
