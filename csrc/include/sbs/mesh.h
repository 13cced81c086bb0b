/* SPDX-License-Identifier: MIT */
/*
 * libsbs: what the tools for weights need to know of a surface. Conventions, threads and errors are those of sbs.h.
 *
 * A mesh often has several vertices at one point, where textures or normals have a seam. For the surface they are one: every
 * tool gives them the same weights.
 */
#ifndef SBS_MESH_H
#define SBS_MESH_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A triangle mesh. Only read while a call lasts; nothing is kept. */
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
 * Finds the vertices that stand at the very same point: three equal coordinates, no tolerance. O(V) time.
 *
 *   mesh             its positions; triangles are not looked at
 *   allocator        or NULL for malloc and free
 *   representatives  (V) receives the lowest vertex at the same point, itself where there is no other
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_mesh_weld(const sbs_mesh_desc *mesh, const sbs_allocator *allocator, int32_t *representatives,
                                 sbs_fault *fault);

/*
 * Finds the vertices that share an edge of a triangle. O(V + T log T) time, O(V + T) where no vertex has very many.
 *
 *   mesh             its triangles; positions are not looked at
 *   representatives  (V) or NULL, from sbs_mesh_weld: then corners stand for their representatives, and lists name only those
 *   allocator        or NULL for malloc and free
 *   offsets          (V + 1)  the neighbors of vertex v are neighbors[offsets[v]] to neighbors[offsets[v + 1] - 1]
 *   neighbors        (6 T)    ascending for each vertex, each once; only the first offsets[V] mean something
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_mesh_adjacency(const sbs_mesh_desc *mesh, const int32_t *representatives,
                                      const sbs_allocator *allocator, size_t *offsets, int32_t *neighbors,
                                      sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
