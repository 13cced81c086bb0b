/* SPDX-License-Identifier: MIT */
#ifndef SBS_FIT_HULL_H
#define SBS_FIT_HULL_H

#include "sbs/sbs.h"

/*
 * The point of a convex hull that is nearest to the origin, by Wolfe's method: an active set of corners, which grows by
 * the corner that is farthest on the near side, and shrinks where the nearest point of their span lies outside.
 *
 *   n        corners
 *   gram     (n, n) products of the corners, symmetric; read where both are allowed. Squares that are finite have
 *            finite products
 *   allowed  (n) not 0 where a corner may be used; NULL: all. One at least
 *   w        (n) receives the weights of the corners, none negative, of sum 1
 *   work     (sbs_hull_work_size(n))
 *
 * Errors: NOT_FINITE if a square is not.
 */
sbs_status sbs_nearest_in_hull(size_t n, const double *gram, const unsigned char *allowed, double *w, double *work);

size_t sbs_hull_work_size(size_t n);

#endif
