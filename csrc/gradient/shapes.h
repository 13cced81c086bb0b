/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_SHAPES_H
#define SBS_GRADIENT_SHAPES_H

#include "base/arena.h"
#include "sbs/gradient.h"

/*
 * A gradient of a deformation with shapes is that of the mesh that they make; but centroids of joint sets and places
 * along bones are those of the rest positions without them. What stands here leads to that mesh, and back.
 */
typedef struct sbs_gradient_shapes {
  sbs_skin_desc desc; /* with the positions and normals that shapes make */
  void *by_positions; /* (V, 3) the gradient by these, of the skin's type; NULL where it is not wanted */
  void *by_normals;
  void *by_centroids;    /* (V, 3) or NULL: what is added, as vertices move centroids */
  const int32_t *blocks; /* those that shapes change, by their numbers */
} sbs_gradient_shapes;

/* Makes the mesh, and room for the gradients that `result` needs. Without shapes all is as it is. */
sbs_status sbs_gradient_begin_shapes(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_deform_options *options,
                                     const sbs_gradient_result *result, sbs_arena *arena, sbs_gradient_shapes *shaped);

/* Writes the result by the rest pose, and by shapes. */
void sbs_gradient_finish_shapes(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_deform_options *options,
                                const sbs_gradient_result *result, const sbs_gradient_shapes *shaped);

#endif
