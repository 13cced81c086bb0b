/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_LAPACK_H
#define SBS_BASE_LAPACK_H

#include <math.h>

#include "sbs/sbs.h"

/*
 * All linear algebra that LAPACK does for the library: base/lapack.c by LAPACKE. Without it base/no_lapack.c
 * takes its place.
 */

/* LAPACK may go on for ever with numbers that are not finite: all functions below refuse them first. */
static inline int sbs_are_finite(size_t count, const double *numbers) {
  size_t finite = 0;
  while (finite < count && isfinite(numbers[finite])) finite++;
  return finite == count;
}

/* "system" or "none". */
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

#endif
