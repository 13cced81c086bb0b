/* SPDX-License-Identifier: MIT */
/* The functions of base/lapack.h in a library built without LAPACK. */
#include "base/jacobi.h"
#include "base/lapack.h"

const char *sbs_lapack_name(void) {
  return "none";
}

size_t sbs_svd_work_size(size_t rows) {
  (void)rows;
  return 0;
}

sbs_status sbs_svd(size_t rows, double *m, double s[3], double vt[9], double *work) {
  (void)work;
  if (!sbs_are_finite(3 * rows, m)) return SBS_ERROR_NOT_FINITE;
  return sbs_jacobi_svd(rows, m, s, vt);
}
