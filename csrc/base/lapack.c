/* SPDX-License-Identifier: MIT */
#include "base/lapack.h"

#include <cblas.h>
#include <lapacke.h>

/* The PyPI build of OpenBLAS prefixes its symbols, so that it can live beside another in one process. */
#ifdef SBS_LAPACK_BUNDLED
#define SBS_LAPACKE(name) scipy_LAPACKE_##name
#define SBS_CBLAS(name) scipy_cblas_##name
#else
#define SBS_LAPACKE(name) LAPACKE_##name
#define SBS_CBLAS(name) cblas_##name
#endif

const char *sbs_lapack_name(void) {
#ifdef SBS_LAPACK_BUNDLED
  return "bundled";
#else
  return "system";
#endif
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
  const lapack_int info = SBS_LAPACKE(dgesvd_work)(LAPACK_COL_MAJOR, 'O', 'S', (lapack_int)rows, 3, m, (lapack_int)rows,
                                                   s, &unused, 1, v, 3, work, (lapack_int)sbs_svd_work_size(rows));
  if (info > 0) return SBS_ERROR_NO_CONVERGENCE;
  if (info < 0) return SBS_ERROR_INTERNAL;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) vt[3 * i + j] = v[3 * j + i];
  }
  return SBS_OK;
}

void sbs_lapack_use_one_thread(void) {
#ifdef SBS_LAPACK_BUNDLED
  if (scipy_openblas_get_num_threads() != 1) scipy_openblas_set_num_threads(1);
#endif
}

/* LAPACK counts rows in 32 bits. Meshes have no more vertices than that. */
static lapack_int as_int(size_t count) {
  return (lapack_int)count;
}

sbs_status sbs_front_eliminate(size_t own, size_t border, double *panel, double *rest) {
  const lapack_int m = as_int(own), b = as_int(border), rows = as_int(own + border);
  if (!sbs_are_finite(own * (own + border), panel)) return SBS_ERROR_NOT_FINITE;
  const lapack_int info = SBS_LAPACKE(dpotrf_work)(LAPACK_COL_MAJOR, 'L', m, panel, rows);
  if (info > 0) return SBS_ERROR_NO_CONVERGENCE;
  if (info < 0) return SBS_ERROR_INTERNAL;
  if (!border) return SBS_OK;
  SBS_CBLAS(dtrsm)(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, b, m, 1.0, panel, rows, panel + own,
                   rows);
  SBS_CBLAS(dsyrk)(CblasColMajor, CblasLower, CblasNoTrans, b, m, -1.0, panel + own, rows, 1.0, rest, b);
  return SBS_OK;
}

/* Rows of x are columns to LAPACK, which is column-major: x is transposed, so each product is from the right. */

void sbs_front_forward(size_t own, size_t border, size_t sides, const double *panel, double *x, double *update) {
  const lapack_int m = as_int(own), b = as_int(border), rows = as_int(own + border), n = as_int(sides);
  SBS_CBLAS(dtrsm)(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, m, 1.0, panel, rows, x, n);
  if (!border) return;
  SBS_CBLAS(dgemm)(CblasColMajor, CblasNoTrans, CblasTrans, n, b, m, 1.0, x, n, panel + own, rows, 0.0, update, n);
}

void sbs_front_backward(size_t own, size_t border, size_t sides, const double *panel, double *x, const double *update) {
  const lapack_int m = as_int(own), b = as_int(border), rows = as_int(own + border), n = as_int(sides);
  if (border) {
    SBS_CBLAS(dgemm)(CblasColMajor, CblasNoTrans, CblasNoTrans, n, m, b, -1.0, update, n, panel + own, rows, 1.0, x, n);
  }
  SBS_CBLAS(dtrsm)(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, n, m, 1.0, panel, rows, x, n);
}
