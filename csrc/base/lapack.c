/* SPDX-License-Identifier: MIT */
#include "base/lapack.h"

#include <lapacke.h>

const char *sbs_lapack_name(void) {
  return "system";
}

size_t sbs_svd_work_size(size_t rows) {
  /*
   * dgesvd needs max(3 min(m, n) + max(m, n), 5 min(m, n)). Its blocked path uses more, but does not pay here.
   */
  return (rows > 6 ? rows : 6) + 9;
}

/*
 * The `_work` form, column-major: the other forms allocate workspace, and transpose, in every call.
 */
sbs_status sbs_svd(size_t rows, double *m, double s[3], double vt[9], double *work) {
  double v[9], unused;
  if (!sbs_are_finite(3 * rows, m)) return SBS_ERROR_NOT_FINITE;
  const lapack_int info = LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'O', 'S', (lapack_int)rows, 3, m, (lapack_int)rows, s,
                                              &unused, 1, v, 3, work, (lapack_int)sbs_svd_work_size(rows));
  if (info > 0) return SBS_ERROR_NO_CONVERGENCE;
  if (info < 0) return SBS_ERROR_INTERNAL;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) vt[3 * i + j] = v[3 * j + i];
  }
  return SBS_OK;
}
