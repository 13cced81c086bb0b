/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_PROFILE_H
#define SBS_MUSCLES_PROFILE_H

#include "muscles/bound.h"

/*
 * The second derivative of a spindle has no bound at its ends, 4 u (1 - u) = 0. Where that is less than this, it is
 * taken to fall to 0 instead, as it is beyond the ends: so what Newton's method makes of it is bounded, and continuous.
 */
#define SBS_LEAST_PRODUCT 0.05f

/* Nodes in (0, 1) and weights of the Gauss-Legendre quadrature. */
extern const double sbs_path_nodes[SBS_PATH_NODES], sbs_path_weights[SBS_PATH_NODES];

/* Makes the profile of a muscle: the spindle, or the given radii by monotone cubics (Fritsch & Butland 1984). */
void sbs_make_profile(const sbs_muscle *muscle, sbs_profile *profile);

/* r at the share u of the belly. */
double sbs_radius_at(const sbs_profile *profile, double u);

/* r and its first two derivatives by u, the second bounded and continuous: see above and sbs_profile. */
void sbs_radii_at(const sbs_profile *profile, double u, double radii[3]);

/*
 * Weights so that sum_i squares[i] g(u_i) is the integral of r(u)^2 g(u) over [0, 1], exactly if g is a polynomial of
 * a degree below SBS_PATH_NODES: r has steps, but how fast a path runs is smooth.
 */
void sbs_make_squares(const sbs_profile *profile, double squares[SBS_PATH_NODES]);

#endif
