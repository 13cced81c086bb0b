/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_SHAPES_H
#define SBS_GRADIENT_SHAPES_H

#include "base/arena.h"
#include "gradient/run.h"

/*
 * A gradient of a deformation with shapes is that of the mesh that they make; but centroids of joint sets and places
 * along bones are found without them. These functions lead from that mesh back to the shapes.
 */
typedef struct sbs_gradient_shapes {
  void *by_positions; /* (V, 3) the gradient by the mesh, of the skin's type; NULL where it is not wanted */
  void *by_normals;   /* (V, 3) by unit normals after shapes */
} sbs_gradient_shapes;

/* Makes room for the gradients that `result` needs. Errors: OUT_OF_MEMORY. */
sbs_status sbs_gradient_begin_shapes(const sbs_rest *rest, const sbs_gradient_result *result, sbs_arena *arena,
                                     sbs_gradient_shapes *shaped);

/* Writes the result by the rest pose, and by shapes. */
void sbs_gradient_finish_rest(const sbs_gradient_run *run, const sbs_gradient_result *result,
                              const sbs_gradient_shapes *shaped);

#endif
