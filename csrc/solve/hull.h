/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_HULL_H
#define SBS_SOLVE_HULL_H

#include "sbs/sbs.h"

/*
 * The point of a convex hull that is nearest to the origin, by Wolfe's method: an active set of corners, which grows by
 * the corner that is farthest on the near side, and shrinks where the nearest point of their span lies outside.
 *
 *   n        corners, from 1
 *   gram     (n, n) products of the corners, symmetric. Squares that are finite have finite products
 *   w        (n) receives the weights of the corners, none negative, of sum 1
 *   work     (sbs_hull_work_size(n))
 *
 * Errors: NOT_FINITE if a square is not.
 */
sbs_status sbs_nearest_in_hull(size_t n, const double *gram, double *w, double *work);

size_t sbs_hull_work_size(size_t n);

#endif
