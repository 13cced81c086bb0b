/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_LAPLACIAN_H
#define SBS_WEIGHTS_LAPLACIAN_H

#include "sbs/mesh.h"

/* The cotangent Laplacian of a surface, as a graph whose edges have weights; each edge is in the lists of both ends. */
typedef struct sbs_laplacian {
  size_t *offsets;    /* (V + 1) the edges of vertex v are those from offsets[v] to offsets[v + 1] - 1 */
  int32_t *neighbors; /* where they lead, ascending for each vertex */
  double *weights;    /* all positive */
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

void sbs_laplacian_free(sbs_laplacian *laplacian, const sbs_allocator *allocator);

#endif
