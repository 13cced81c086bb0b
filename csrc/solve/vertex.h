/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_VERTEX_H
#define SBS_SOLVE_VERTEX_H

#include "base/arena.h"
#include "pose/joint.h"
#include "twist/twist.h"

/* Single vertices deformed in double, with derivatives by their weights, for fitting. */
typedef struct sbs_fit_formula {
  sbs_method method;
  sbs_center center;
  double damping;
  const int32_t *signs_by; /* quaternions have their signs relative to this joint of a frame; NULL: the heaviest */
} sbs_fit_formula;

/* Whether the center belongs to the set of all joints with weight, so that it jumps where a joint comes or goes. */
static inline int sbs_has_set_center(const sbs_fit_formula *formula) {
  return formula->method == SBS_METHOD_SPHERICAL && formula->center == SBS_CENTER_JOINT_SET;
}

/* The joints of a vertex in one frame. */
typedef struct sbs_fit_joints {
  const sbs_joint *joints; /* of the frame */
  const unsigned char *kinds;
  const sbs_stretch *stretches;
  const int32_t *indices; /* (n) */
  size_t count;           /* n */
} sbs_fit_joints;

/*
 * The frames that move a vertex where a twist is spread: in place of a joint with a bone, the two frames that the
 * vertex is between.
 */
typedef struct sbs_spread {
  size_t joint_count; /* n */
  size_t count;       /* at most 2 n */
  int32_t *frames;    /* (2 n) among the joints of the skeleton and the frames after them */
  int32_t *owners;    /* (2 n) which of the n joints each is of */
  double *shares;     /* (2 n) of the weight of that joint */
  double *weights;    /* (2 n) */
  double *by;         /* (2 n, 3) derivatives by them */
} sbs_spread;

/* Room for so many joints. */
sbs_spread sbs_new_spread(sbs_arena *arena, size_t most);

/* Finds the frames of joints (count). Without a twist, NULL, they are the joints themselves. */
void sbs_spread_joints(const sbs_twist *twist, const int32_t *joints, size_t count, const double point[3],
                       sbs_spread *spread);

/*
 * Moves a vertex, and tells where each weight would take it.
 *
 *   joints  of the frame, and the frames of the twist; its indices and their count are not read
 *   v       at rest
 *   center  of SBS_CENTER_OPTIMIZED, else not read
 *   w       (n) of sum 1, of the joints that are spread
 *   moved   receives v'
 *   by      (n, 3) receives dv' / dw_i, or NULL; a vector that is the same for all weights is left out, as their sum
 *           stays
 */
void sbs_move_spread(const sbs_fit_formula *formula, const sbs_fit_joints *joints, const sbs_spread *spread,
                     const double v[3], const double *center, const double *w, double moved[3], double *by);

#endif
