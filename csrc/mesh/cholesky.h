/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_CHOLESKY_H
#define SBS_MESH_CHOLESKY_H

#include "base/arena.h"

/* A symmetric matrix, one row for each point in space. Near points share entries; each is in the lists of both rows. */
typedef struct sbs_sparse {
  size_t count;             /* V */
  const size_t *offsets;    /* (V + 1) the entries of row v go from offsets[v] to offsets[v + 1] - 1 */
  const int32_t *neighbors; /* their columns, none of them v */
  const double *entries;
  const double *diagonal;  /* (V) */
  const double *positions; /* (V, 3) */
} sbs_sparse;

/* L D L^T of the rows and columns of n unknowns, in the order of elimination. */
typedef struct sbs_cholesky {
  size_t count;   /* n */
  int32_t *order; /* (n) the row of the matrix that each row of L is */
  size_t *starts; /* (n + 1) where each column of L begins in `rows` and `entries` */
  int32_t *rows;  /* ascending in each column */
  double *entries;
  double *diagonal; /* (n) D */
} sbs_cholesky;

/* Is told how much is done, from 0 to 1; anything but SBS_OK ends the work. */
typedef struct sbs_cholesky_progress {
  sbs_status (*tell)(void *context, double share);
  void *context;
} sbs_cholesky_progress;

/*
 * Factors a matrix in the order of a nested dissection: O(V^1.5) time and O(V log V) memory for a surface.
 *
 *   Davis, T. A. 2005. Algorithm 849: A Concise Sparse Cholesky Factorization Package. ACM Transactions on Mathematical
 *   Software 31(4).
 *   George, A. 1973. Nested Dissection of a Regular Finite Element Mesh. SIAM Journal on Numerical Analysis 10(2).
 *
 *   unknowns  (count) rows, distinct; entries of other columns are left out
 *   arena     the factors are taken from it
 *   progress  or NULL
 *
 * Errors: NO_CONVERGENCE where the matrix is not positive definite, OUT_OF_MEMORY, of `progress`.
 */
sbs_status sbs_cholesky_factor(const sbs_sparse *matrix, const int32_t *unknowns, size_t count, sbs_arena *arena,
                               sbs_cholesky *made, const sbs_cholesky_progress *progress);

/* Solves for several right-hand sides at once: values (V, sides) row-major, in the rows of the unknowns. */
sbs_status sbs_cholesky_solve(const sbs_cholesky *factors, size_t sides, double *values,
                              const sbs_cholesky_progress *progress);

#endif
