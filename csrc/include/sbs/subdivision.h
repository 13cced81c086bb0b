/* SPDX-License-Identifier: MIT */
/*
 * libsbs: finer meshes where they are strained (Kavan & Zara 2003, "Real Time Skin Deformation with Bones Blending").
 * Conventions, threads and errors are those of sbs.h.
 *
 * Edges are told by where their ends are: with representatives from sbs_mesh_weld, the triangles on both sides of a
 * seam share an edge although they share no vertex.
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
 *   1_TO_3  at its centroid. No edge is split, so its neighbors stay as they are; triangles get longer from level to
 *   level.
 *   1_TO_4  at the midpoints of its edges. A neighbor with one or two split edges is divided in two or three, so that
 *           no vertex stands in the middle of another triangle's edge; one with three is divided like those that were
 *           chosen.
 */
typedef enum sbs_subdivision_scheme {
  SBS_SUBDIVISION_1_TO_3 = 0,
  SBS_SUBDIVISION_1_TO_4 = 1
} sbs_subdivision_scheme;

/*
 * A mesh that was divided: the old vertices with their old numbers, then N new ones. Each new vertex is a point of an
 * old triangle: the sum of what its parents have, each times its share, carries any attribute over. Along an edge, and
 * so along seams, the shares are exact in binary, so that vertices at one point stay at one point to the last bit.
 */
typedef struct sbs_subdivision {
  size_t vertex_count;      /* V + N */
  size_t new_vertex_count;  /* N */
  size_t triangle_count;    /* T' */
  const int32_t *parents;   /* (N, 3) old vertices, ascending; then, with share 0, the first again */
  const double *shares;     /* (N, 3) of them; positive, sum 1 */
  const int32_t *triangles; /* (T', 3) wound like those that they are parts of, in the same order */
  const int32_t *sources;   /* (T') ascending: the old triangle of which each is a part */
} sbs_subdivision;

/*
 * Divides chosen triangles of a mesh, and of the others what must be. O(V + T) time for each level.
 *
 * A triangle with two corners at one point is not divided for its own sake. Edges of any number of triangles may be
 * split: all of them follow. Vertices of no triangle stay.
 *
 *   mesh             positions are looked at to choose the shorter diagonal where a neighbor is divided in three
 *   representatives  (V) from sbs_mesh_weld, or NULL: edges are told by the numbers of their vertices
 *   chosen           (T) not 0: the triangle is to be divided
 *   scheme           see above
 *   levels           from 1: how often; from the second on, the parts of chosen triangles are chosen. It ends where
 *                    nothing is left to divide
 *   allocator        or NULL for malloc and free; what its `user` points to must outlive the subdivision
 *   subdivision      the result; given back by sbs_subdivision_free
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE (also of the result, for "levels"), OPTION, STRIDE, NOT_FINITE, VERTEX_INDEX,
 * OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_subdivision_new(const sbs_mesh_desc *mesh, const int32_t *representatives,
                                       const unsigned char *chosen, sbs_subdivision_scheme scheme, int levels,
                                       const sbs_allocator *allocator, const sbs_subdivision **subdivision,
                                       sbs_fault *fault);

/* NULL does nothing. */
SBS_API void sbs_subdivision_free(const sbs_subdivision *subdivision);

#ifdef __cplusplus
}
#endif

#endif
