/* SPDX-License-Identifier: MIT */
#ifndef SBS_FIT_VERTEX_H
#define SBS_FIT_VERTEX_H

#include "pose/joint.h"

/* Single vertices deformed in double, with derivatives by their weights, for fitting. */
typedef struct sbs_fit_formula {
  sbs_method method;
  sbs_center center;
  double damping;
  const int32_t
      *signs_by; /* the joint of the frame that quaternions have their signs relative to; NULL: the heaviest */
} sbs_fit_formula;

/* The joints of a vertex in one frame. */
typedef struct sbs_fit_joints {
  const sbs_joint *joints; /* of the frame */
  const unsigned char *kinds;
  const sbs_stretch *stretches;
  const int32_t *indices; /* (n) */
  size_t count;           /* n */
} sbs_fit_joints;

/*
 * Moves a vertex, and tells where each weight would take it.
 *
 *   v       at rest
 *   center  of SBS_CENTER_OPTIMIZED, else not read
 *   w       (n) of sum 1
 *   moved   receives v'
 *   by      (n, 3) receives dv' / dw_i, or NULL; a vector that is the same for all weights is left out, as their sum
 *           stays
 */
void sbs_move_with_derivatives(const sbs_fit_formula *formula, const sbs_fit_joints *of, const double v[3],
                               const double *center, const double *w, double moved[3], double *by);

#endif
