/* SPDX-License-Identifier: MIT */
/*
 * libsbs: triangle meshes: seams, neighbors, islands and curvature. Conventions, threads and errors are as in sbs.h.
 *
 * A mesh often has several vertices at one point, where textures or normals have a seam. On the surface they are one
 * point, so every tool gives them the same weights.
 */
#ifndef SBS_MESH_H
#define SBS_MESH_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A triangle mesh. Only read during a call; nothing is kept. */
typedef struct sbs_mesh_desc {
  size_t vertex_count;      /* V; 0 is SBS_ERROR_EMPTY */
  sbs_scalar scalar;        /* of positions */
  const void *positions;    /* (V, 3), finite */
  size_t positions_stride;  /* bytes from vertex to vertex; 0: packed */
  size_t triangle_count;    /* T; 0: only points */
  const int32_t *triangles; /* (T, 3), each in [0, V); a corner may repeat; NULL if T is 0 */
} sbs_mesh_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_mesh_desc sbs_default_mesh_desc(void);

/*
 * Finds vertices at the same point: three equal coordinates, without tolerance. O(V) time.
 *
 *   mesh             its positions; triangles are ignored
 *   allocator        or NULL for malloc and free
 *   representatives  (V) receives the lowest vertex at the same point, which may be the vertex itself
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_mesh_weld(const sbs_mesh_desc *mesh, const sbs_allocator *allocator, int32_t *representatives,
                                 sbs_fault *fault);

/*
 * Finds the vertices that share an edge of a triangle. O(V + T log T) time, O(V + T) if no vertex has very many.
 *
 *   mesh             its triangles; positions are ignored
 *   representatives  (V) or NULL, from sbs_mesh_weld: each corner is replaced by its representative, so that lists
 *                    contain representatives only
 *   allocator        or NULL for malloc and free
 *   offsets          (V + 1)  the neighbors of vertex v are neighbors[offsets[v]] to neighbors[offsets[v + 1] - 1]
 *   neighbors        (6 T)    ascending for each vertex, each once; only the first offsets[V] are written
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_mesh_adjacency(const sbs_mesh_desc *mesh, const int32_t *representatives,
                                      const sbs_allocator *allocator, size_t *offsets, int32_t *neighbors,
                                      sbs_fault *fault);

/*
 * Numbers the islands of a mesh: groups of vertices that are connected by edges. A vertex of no triangle is an island
 * of its own. Islands are numbered from 0 in the order of their lowest vertices.
 *
 *   mesh          its triangles; positions are ignored
 *   islands       (V) the number of each vertex's island
 *   island_count  how many there are
 *   fault         or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, VERTEX_INDEX.
 */
SBS_API sbs_status sbs_mesh_islands(const sbs_mesh_desc *mesh, int32_t *islands, size_t *island_count,
                                    sbs_fault *fault);

/*
 * Measures the curvature of each triangle (Kavan & Zara 2003, section 4): the largest angle between its normal and that
 * of a neighbor, with which it shares an edge. O(V + T) time.
 *
 * Triangles at an edge of three or more are not neighbors there. A triangle whose area is within the rounding of its
 * corners has no normal: it counts as nobody's neighbor, and its own curvature is 0.
 *
 *   mesh             deformed positions; triangles
 *   representatives  (V) from sbs_mesh_weld of the rest positions: edges are compared by the places of their ends; or
 *                    NULL: by their vertices
 *   allocator        or NULL for malloc and free
 *   curvatures       (T) radians, 0 to pi; 0 for a triangle without neighbors
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_mesh_curvature(const sbs_mesh_desc *mesh, const int32_t *representatives,
                                      const sbs_allocator *allocator, double *curvatures, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
