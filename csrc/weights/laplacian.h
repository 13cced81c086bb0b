/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_LAPLACIAN_H
#define SBS_WEIGHTS_LAPLACIAN_H

#include "sbs/mesh.h"
#include "weights/heat_progress.h"

/* The cotangent Laplacian of a surface, as a graph whose edges have weights; each edge is in the lists of both ends. */
typedef struct sbs_laplacian {
  size_t vertex_count;     /* V */
  size_t *offsets;         /* (V + 1) the edges of vertex v go from offsets[v] to offsets[v + 1] - 1 */
  int32_t *neighbors;      /* where they lead, ascending for each vertex */
  double *weights;         /* all positive */
  const double *positions; /* (V, 3) of the mesh */
} sbs_laplacian;

/*
 * Finds the edges of a mesh with double positions, packed, of a size of about 1, and their weights: half the sum of the
 * cotangents of the opposite angles. Call sbs_laplacian_free also if this fails.
 *
 *   Pinkall, U. and Polthier, K. 1993. Computing Discrete Minimal Surfaces and Their Conjugates. Experimental
 *   Mathematics 2(1).
 *
 * Errors: OUT_OF_MEMORY, CANCELLED.
 */
sbs_status sbs_laplacian_init(sbs_laplacian *laplacian, const sbs_mesh_desc *mesh, const sbs_allocator *allocator);

/*
 * Solves (H - L) X = B for several right-hand sides at once, where H is diagonal: directly, by a factorization in the
 * order of a nested dissection. O(V^1.5) time and O(V log V) memory for a surface.
 *
 *   Davis, T. A. 2005. Algorithm 849: A Concise Sparse Cholesky Factorization Package. ACM Transactions on Mathematical
 *   Software 31(4).
 *   George, A. 1973. Nested Dissection of a Regular Finite Element Mesh. SIAM Journal on Numerical Analysis 10(2).
 *
 *   holds     (V) H, at least 0
 *   unknowns  (count) distinct; the vertices to solve for. No edge may lead from them to others
 *   sides     N, at least 1
 *   values    (V, N) row-major: B, receives X in the rows of the unknowns; other rows are not touched. After an error
 *             the rows of the unknowns are undefined
 *
 * Errors: NO_CONVERGENCE where the matrix is not positive definite, CANCELLED, OUT_OF_MEMORY.
 */
sbs_status sbs_laplacian_solve(const sbs_laplacian *laplacian, const double *holds, const int32_t *unknowns,
                               size_t count, size_t sides, double *values, const sbs_heat_progress *progress,
                               const sbs_allocator *allocator);

void sbs_laplacian_free(sbs_laplacian *laplacian, const sbs_allocator *allocator);

#endif
