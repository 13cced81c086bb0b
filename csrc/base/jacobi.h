/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_JACOBI_H
#define SBS_BASE_JACOBI_H

#include "sbs/sbs.h"

/*
 * The singular value decomposition of a tall matrix of three columns as in base/lapack.h, without LAPACK: pairs of
 * columns are rotated until all are orthogonal to each other (one-sided Jacobi; Demmel and Veselic 1992, section 4).
 * Where LAPACK's error of a singular value is relative to the largest, this one's is relative to the value itself if
 * badly scaled columns are all that is wrong with the matrix; columns below 1e-154 of the largest number count as zero.
 *
 *   Demmel, J. and Veselic, K. 1992. Jacobi's Method Is More Accurate than QR. SIAM Journal on Matrix Analysis and
 *   Applications 13(4).
 *
 *   rows  at least 3
 *   m     (rows, 3), column-major, finite; receives U, orthonormal also where singular values are 0
 *   s     (3) descending
 *   vt    (3, 3), row-major
 *
 * Errors: NO_CONVERGENCE.
 */
sbs_status sbs_jacobi_svd(size_t rows, double *m, double s[3], double vt[9]);

#endif
