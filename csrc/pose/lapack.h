/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_LAPACK_H
#define SBS_POSE_LAPACK_H

#include "sbs/sbs.h"

/*
 * The singular value decomposition m = U diag(s) V^T of a tall matrix, through LAPACKE. Nothing is allocated.
 *
 *   rows  at least 3
 *   m     (rows, 3), column-major; receives U
 *   s     (3) descending
 *   vt    (3, 3), row-major: row i is the right singular vector of s[i]
 *   work  (sbs_svd_work_size(rows))
 *
 * Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_svd(size_t rows, double *m, double s[3], double vt[9], double *work);

/* Doubles of workspace for sbs_svd. */
size_t sbs_svd_work_size(size_t rows);

#endif
