/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_TWIST_H
#define SBS_GRADIENT_TWIST_H

#include "gradient/columns.h"

/*
 * A run finds gradients by all joints of a skin, frames among them, and by their weights. This file leads from the
 * skeleton to these, and back.
 */
typedef struct sbs_gradient_twist {
  sbs_gradient_result result; /* by all joints, and by the weights of all of them */
  double *by_matrices;        /* (J', 3, 4) or NULL */
  double *by_skeleton;        /* (J, 3, 4), or NULL if the result has none */
  void *by_weights;           /* (V, 2 K) of the skin's type, or NULL */
} sbs_gradient_twist;

/*
 * Makes room for the gradients by all joints that `result` needs. A skin without twist has the result as it is. To be
 * released even where it fails. Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_gradient_begin_twist(const sbs_gradient *gradient, const sbs_skin *skin,
                                    const sbs_gradient_result *result, sbs_gradient_twist *twist);

/*
 * Writes the result: the gradients by the skeleton's matrices, by the weights as given, by angles and by shares.
 * moves_shares: whether rest positions tell where along bones vertices are.
 */
sbs_status sbs_gradient_finish_twist(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                                     int moves_shares, const sbs_pose *pose, const sbs_gradient_result *result,
                                     const sbs_gradient_twist *twist);

void sbs_gradient_release_twist(const sbs_gradient *gradient, const sbs_gradient_twist *twist);

/* From the Jacobian (3, 2 K) of a vertex to that (3, K) by the weights as given; without twist it is copied. */
void sbs_gradient_gather_jacobian(const sbs_gradient *gradient, const sbs_skin *skin, size_t vertex,
                                  const double *spread, double *jacobian);

/*
 * The transpose of the derivative of sbs_twist_pose, in a pose that was checked.
 *
 *   angles                or NULL: the gradient by the matrices then includes theirs
 *   by_matrices           (J', 3, 4)
 *   by_skinning_matrices  (J, 3, 4)
 *   by_angles             (B, 2) or NULL
 */
sbs_status sbs_twist_pose_gradient(const sbs_twist *twist, const sbs_pose *pose, const double *angles,
                                   const double *by_matrices, double *by_skinning_matrices, double *by_angles);

#endif
