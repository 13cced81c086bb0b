/* SPDX-License-Identifier: MIT */
#ifndef SBS_KERNELS_REST_H
#define SBS_KERNELS_REST_H

#include "correctives/shapes.h"

/* The rest pose of a call: positions of the skin or others, with shapes. */
typedef struct sbs_rest {
  const sbs_skin *skin;
  const void *positions;    /* (vertex_count, 3) of the skin's type, or NULL: the skin's */
  size_t stride;            /* bytes */
  const sbs_shapes *shapes; /* or NULL */
  sbs_shape_sums sums;
} sbs_rest;

/* Whether kernels need other blocks than the skin's. */
static inline int sbs_rest_differs(const sbs_rest *rest) {
  return rest->positions || rest->shapes;
}

/*
 * Packs blocks [begin, end) as in a skin (skin/skin.h). Positions and normals have room for (end - begin, 3,
 * SBS_BLOCK) of the skin's type; normals may be NULL.
 */
void sbs_pack_rest(const sbs_rest *rest, size_t begin, size_t end, void *positions, void *normals);

/* A vertex relative to the skin's origin, or if it is unweighted to that of coordinates; and its unit normal. */
void sbs_get_rest_position(const sbs_rest *rest, size_t vertex, double x[3]);
void sbs_get_rest_normal(const sbs_rest *rest, size_t vertex, double n[3]);

/* A normal with shapes, before it is brought to unit length. */
void sbs_get_raw_normal(const sbs_rest *rest, size_t vertex, double n[3]);

/* Sums up weighted shapes for the blocks from `begin` to `end` of the list of blocks that shapes change. */
void sbs_sum_shapes(const sbs_rest *rest, const double *weights, size_t begin, size_t end);

/* The sum of shapes at a rest position. */
void sbs_get_shape_sum(const sbs_rest *rest, size_t vertex, double sum[3]);

#endif
