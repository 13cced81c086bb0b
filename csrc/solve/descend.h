/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_DESCEND_H
#define SBS_SOLVE_DESCEND_H

#include "base/arena.h"

/*
 * Gauss-Newton steps for weights that are not negative and have the sum 1. To first order, each weight alone would lead
 * to some residual; all weights together reach the convex hull of these residuals. A step goes to the point of the hull
 * that is nearest to the origin. It is damped (Levenberg and Marquardt), so that of several weights that are as good
 * the nearest ones are taken.
 */
typedef struct sbs_descent {
  double *now, *next;               /* (most) weights; `now` has the first, and in the end the best */
  double *squares, *tried, *damped; /* (most, most) products of corners, at the weights `now`, at `next`, and damped */
  double *hull;                     /* for sbs_nearest_in_hull */
} sbs_descent;

/* Room for steps with so many weights, and for the hull of so many corners. */
sbs_descent sbs_new_descent(sbs_arena *arena, size_t most, size_t hull);

/*
 * The sum of squares of the residual with some weights. Unless `squares` is NULL it receives the products of the
 * corners, (count, count).
 */
typedef double sbs_left_over(void *context, const double *w, size_t count, double *squares);

/* Adds the products of one point: of its residual with each weight alone. Fills the lower triangle. */
void sbs_add_corners(size_t count, const double *w, const double left[3], double *by, double *squares);

/* Copies the lower triangle of a matrix to the upper one. */
void sbs_fill_upper(size_t count, double *squares);

/* Makes at most so many steps, each damped until the residual decreases. Returns the last sum of squares. */
double sbs_descend(sbs_descent *descent, size_t count, size_t steps, sbs_left_over *left_over, void *context);

#endif
