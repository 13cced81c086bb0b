/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_CHOLESKY_H
#define SBS_WEIGHTS_CHOLESKY_H

#include "weights/dissect.h"
#include "weights/heat_progress.h"

/* A symmetric positive definite matrix: its diagonal, and beside it minus the weights of a graph. */
typedef struct sbs_sparse_matrix {
  size_t size; /* W */
  sbs_graph graph;
  const double *weights;  /* by edge, equal for both directions */
  const double *diagonal; /* (W) */
} sbs_sparse_matrix;

/*
 * Solves A X = B for several right-hand sides at once, directly: by a multifrontal Cholesky factorization.
 *
 *   Duff, I. S. and Reid, J. K. 1983. The Multifrontal Solution of Indefinite Sparse Symmetric Linear Equations. ACM
 *   Transactions on Mathematical Software 9(3).
 *
 *   unknowns  (count) distinct; the unknowns to solve for. No equation of theirs may contain others
 *   sides     N, at least 1
 *   values    (W, N) row-major: B, receives X in the rows of the unknowns; other rows are not touched. After an error
 *             the rows of the unknowns are undefined
 *
 * Errors: NO_CONVERGENCE where the matrix is not positive definite, CANCELLED, OUT_OF_MEMORY, INTERNAL.
 */
sbs_status sbs_cholesky_solve(const sbs_sparse_matrix *matrix, const int32_t *unknowns, size_t count, size_t sides,
                              double *values, const sbs_heat_progress *progress, const sbs_allocator *allocator);

#endif
