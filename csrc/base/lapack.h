/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_LAPACK_H
#define SBS_BASE_LAPACK_H

#include <math.h>

#include "sbs/sbs.h"

/*
 * All linear algebra that LAPACK does for the library: base/lapack.c by LAPACKE and CBLAS. With -Dlapack=none
 * base/no_lapack.c takes its place, which has the singular value decomposition alone.
 */

/* LAPACK may go on for ever with numbers that are not finite: all functions below refuse them first. */
static inline int sbs_are_finite(size_t count, const double *numbers) {
  size_t finite = 0;
  while (finite < count && isfinite(numbers[finite])) finite++;
  return finite == count;
}

/* "bundled", "system" or "none". */
const char *sbs_lapack_name(void);

/*
 * The singular value decomposition m = U diag(s) V^T of a tall matrix. Nothing is allocated.
 *
 *   rows  at least 3
 *   m     (rows, 3), column-major; receives U, orthonormal also where singular values are 0
 *   s     (3) descending
 *   vt    (3, 3), row-major: row i is the right singular vector of s[i]
 *   work  (sbs_svd_work_size(rows))
 *
 * Errors: NOT_FINITE, NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_svd(size_t rows, double *m, double s[3], double vt[9], double *work);

/* Doubles of workspace for sbs_svd. */
size_t sbs_svd_work_size(size_t rows);

/*
 * Makes the bundled OpenBLAS use the calling thread alone: most fronts below are so small that its threads would wait
 * for each other longer than they work. A LAPACK of the system belongs to the application and keeps its setting.
 */
void sbs_lapack_use_one_thread(void);

/*
 * Eliminates the first `own` unknowns of a dense symmetric front ((A, B^T), (B, C)), by LAPACK and BLAS: A = L L^T
 * (dpotrf), M = B L^-T (dtrsm), C - M M^T (dsyrk). Matrices are column-major, and of symmetric ones only the lower
 * triangle is read and written.
 *
 *   own     rows of A, at least 1
 *   border  rows of B and C, may be 0
 *   panel   (own + border, own): A above B; receives L above M
 *   rest    (border, border): C; receives C - M M^T
 *
 * Errors: NOT_FINITE, NO_CONVERGENCE where A is not positive definite, INTERNAL.
 */
sbs_status sbs_front_eliminate(size_t own, size_t border, double *panel, double *rest);

/*
 * Solves with an eliminated front for several right-hand sides at once; they have a row for each unknown.
 *
 *   sbs_front_forward   x = L^-1 x, and update = M x, which the caller subtracts from the rows of the border
 *   sbs_front_backward  x = L^-T (x - M^T update), where update has the rows of the border
 *
 *   sides   N, the number of right-hand sides, at least 1
 *   x       (own, N), row-major
 *   update  (border, N), row-major
 */
void sbs_front_forward(size_t own, size_t border, size_t sides, const double *panel, double *x, double *update);
void sbs_front_backward(size_t own, size_t border, size_t sides, const double *panel, double *x, const double *update);

#endif
