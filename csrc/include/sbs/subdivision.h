/* SPDX-License-Identifier: MIT */
/*
 * libsbs: subdivision of triangles where a mesh bends (Kavan & Zara 2003, "Real Time Skin Deformation with Bones
 * Blending"). Conventions, threads and errors are as in sbs.h.
 *
 * Edges are compared by the places of their ends: with representatives from sbs_mesh_weld, the triangles on both sides
 * of a seam share an edge although they share no vertex.
 */
#ifndef SBS_SUBDIVISION_H
#define SBS_SUBDIVISION_H

#include <sbs/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a triangle is divided, figure 7.
 *
 *   1_TO_3  at its centroid. No edge is split, so its neighbors do not change; triangles get thinner with each level
 *   1_TO_4  at the midpoints of its edges. A neighbor with one or two split edges is divided in two or three, so that
 *           no vertex lies in the middle of another triangle's edge; a neighbor with three is divided in four
 */
typedef enum sbs_subdivision_scheme {
  SBS_SUBDIVISION_1_TO_3 = 0,
  SBS_SUBDIVISION_1_TO_4 = 1
} sbs_subdivision_scheme;

/*
 * A divided mesh: the old vertices with their old numbers, then N new ones. A new vertex is a point of an old triangle.
 * Any attribute of it is the sum of its parents' attributes, each times its share. Along an edge, and so along seams,
 * the shares are exact in binary, so that vertices at one point stay at one point, bit for bit.
 */
typedef struct sbs_subdivision {
  size_t vertex_count;      /* V + N */
  size_t new_vertex_count;  /* N */
  size_t triangle_count;    /* T' */
  const int32_t *parents;   /* (N, 3) old vertices, ascending; if fewer, padded with the first and share 0 */
  const double *shares;     /* (N, 3) of the parents; positive, sum 1 */
  const int32_t *triangles; /* (T', 3) wound like the old ones, in the same order */
  const int32_t *sources;   /* (T') ascending: the old triangle that each is a part of */
} sbs_subdivision;

/*
 * Divides chosen triangles of a mesh, and others as the scheme needs. O(V + T) time for each level.
 *
 * A chosen triangle with two corners at one point is divided only if a neighbor needs it. An edge may belong to any
 * number of triangles: if it is split, all of them are divided. Vertices of no triangle are kept.
 *
 *   mesh             positions decide which diagonal is shorter where a neighbor is divided in three
 *   representatives  (V) from sbs_mesh_weld, or NULL: edges are compared by their vertices
 *   chosen           (T) not 0: the triangle is to be divided
 *   scheme           see above
 *   levels           from 1: how often; after the first level, the parts of chosen triangles are chosen. Ends early
 *                    when nothing is left to divide
 *   allocator        or NULL for malloc and free; `user` must outlive the subdivision
 *   subdivision      receives the result; release it by sbs_subdivision_free
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE (also of the result, for "levels"), OPTION, STRIDE, NOT_FINITE, VERTEX_INDEX,
 * OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_subdivision_new(const sbs_mesh_desc *mesh, const int32_t *representatives,
                                       const unsigned char *chosen, sbs_subdivision_scheme scheme, int levels,
                                       const sbs_allocator *allocator, const sbs_subdivision **subdivision,
                                       sbs_fault *fault);

/* Releases a subdivision. NULL does nothing. */
SBS_API void sbs_subdivision_free(const sbs_subdivision *subdivision);

#ifdef __cplusplus
}
#endif

#endif
