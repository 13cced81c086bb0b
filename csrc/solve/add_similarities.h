/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_ADD_SIMILARITIES_H
#define SBS_SOLVE_ADD_SIMILARITIES_H

#include <stddef.h>

#include "base/algebra.h"
#include "base/isa.h"

/* The sums of optimized centers, in lanes: solve/add_similarities.c, compiled for each instruction set. */

enum {
  SBS_SAMPLE_LANES = 4
};

/*
 * Four samples of the surface for a pair of joints (j, k), side by side. Sums are over the parts merged into a sample,
 * with (x, y) the weights of j and k and m = area x y.
 */
typedef struct sbs_samples {
  sbs_vec4 x, y;         /* means, weighted by m */
  sbs_vec4 mass;         /* sum of m */
  sbs_vec4 moments[3];   /* sums of m times place */
  sbs_vec4 moments_x[3]; /* sums of m times place times (its x - the mean) */
  sbs_vec4 moments_y[3];
} sbs_samples;

typedef struct sbs_similarity_args {
  const sbs_samples *blocks;
  size_t block_count;
  double p, q;   /* the vertex's weights of j and k, over sigma */
  double factor; /* of all sums */
  double shift;  /* added to exponents; at most the smallest u^2 */
} sbs_similarity_args;

/*
 * Adds to the sums, of mass and of the three moments, with u = p y - q x for each sample
 *
 *     factor exp(shift - u^2) (mass, moments - 2 u (p moments_y - q moments_x))
 *
 * For merged samples this is the first-order expansion about the mean; the first order of the mass is zero.
 */
typedef void sbs_similarity_batch(const sbs_similarity_args *args, sbs_vec4 sums[4]);

#define SBS_DECLARE_BATCH(constant, name) sbs_similarity_batch sbs_add_similarities_##name;
SBS_EACH_ISA(SBS_DECLARE_BATCH)
#undef SBS_DECLARE_BATCH

#endif
