/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_PROFILE_H
#define SBS_MUSCLES_PROFILE_H

#include "muscles/bound.h"

/* Nodes in (0, 1) and weights of the Gauss-Legendre quadrature. */
extern const double sbs_path_nodes[SBS_PATH_NODES], sbs_path_weights[SBS_PATH_NODES];

/* Makes the profile of a muscle: the spindle, or the given radii by monotone cubics (Fritsch & Butland 1984). */
void sbs_make_profile(const sbs_muscle *muscle, sbs_profile *profile);

/* r at the share u of the belly. */
double sbs_radius_at(const sbs_profile *profile, double u);

/*
 * Weights so that sum_i squares[i] g(u_i) is the integral of r(u)^2 g(u) over [0, 1], exactly if g is a polynomial of
 * a degree below SBS_PATH_NODES: r has steps, but how fast a path runs is smooth.
 */
void sbs_make_squares(const sbs_profile *profile, double squares[SBS_PATH_NODES]);

#endif
