/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_COLUMNS_H
#define SBS_GRADIENT_COLUMNS_H

#include "sbs/gradient.h"
#include "skin/skin.h"

/* Where along which bone of the twist an influence is; the bone is -1 for a joint without. */
typedef struct sbs_gradient_spread {
  double share;
  int32_t bone;
} sbs_gradient_spread;

/* A weight as it was given that has no gradient. */
#define SBS_NO_SLOT UINT16_MAX

/* The influences of a skin among the weights of the caller. */
struct sbs_gradient {
  sbs_allocator allocator;
  size_t vertex_count, joint_count, columns; /* V, J, K; with a twist J' and 2 K */
  size_t set_count;
  sbs_scalar scalar;
  uint16_t *slots;             /* (vertex_count, columns) which influence of the block a weight is, or SBS_NO_SLOT */
  double *scales;              /* (vertex_count) 1 over the sum of the caller's weights; 0 of a single joint */
  sbs_gradient_spread *spread; /* (vertex_count, K) or NULL without a twist */
};

#endif
