/* SPDX-License-Identifier: MIT */
/*
 * libsbs: nearest points of the surface of a triangle mesh, segments that it blocks, and triangles that cross.
 * Conventions, threads and errors are as in sbs.h.
 *
 * Degenerate triangles are segments or points: they can be nearest to a point, and cross a triangle, but block nothing.
 */
#ifndef SBS_SURFACE_H
#define SBS_SURFACE_H

#include <sbs/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Triangles in a tree of boxes. Immutable, so any number of threads may use it at once. */
typedef struct sbs_surface sbs_surface;

/*
 * Builds the surface of a mesh, in O(T log T) time.
 *
 *   mesh       at least 1 triangle
 *   allocator  or NULL for malloc and free
 *   surface    receives the result; release it by sbs_surface_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_surface_new(const sbs_mesh_desc *mesh, const sbs_allocator *allocator, sbs_surface **surface,
                                   sbs_fault *fault);

/* Releases a surface. NULL does nothing. */
SBS_API void sbs_surface_free(sbs_surface *surface);

/*
 * Finds the point of the surface that is nearest to each of N points. Of triangles at the same distance it takes the
 * one with the lowest number.
 *
 *   points           (N, 3) finite
 *   point_count      N, may be 0
 *   point_labels     (N) or NULL: triangles with the same label as the point are skipped
 *   triangle_labels  (T) or NULL; both labels or none
 *   threads          the most threads; 0: as many as sbs_get_threads says; never more than the work is worth
 *   nearest          (N) the triangle, or -1 if all were skipped
 *   barycentric      (N, 3) the nearest point, as non-negative weights of the triangle's corners with a sum of 1
 *   distances        (N) to the nearest point; infinite if there is none
 *   fault            or NULL
 *
 * Errors: NULL, NOT_FINITE.
 */
SBS_API sbs_status sbs_surface_nearest(const sbs_surface *surface, const double *points, size_t point_count,
                                       const int32_t *point_labels, const int32_t *triangle_labels, int threads,
                                       int32_t *nearest, double *barycentric, double *distances, sbs_fault *fault);

/*
 * Finds which of N segments are blocked, that is, cross a triangle between their ends. A segment within the plane of a
 * triangle does not cross it.
 *
 *   starts, ends    (N, 3) finite
 *   segment_count   N, may be 0
 *   start_vertices  (N) or NULL: the vertex that the segment starts at, whose triangles do not block it; -1: none
 *   threads         as above
 *   blocked         (N) 1 or 0
 *   fault           or NULL
 *
 * Errors: NULL, NOT_FINITE.
 */
SBS_API sbs_status sbs_surface_blocked(const sbs_surface *surface, const double *starts, const double *ends,
                                       size_t segment_count, const int32_t *start_vertices, int threads,
                                       unsigned char *blocked, sbs_fault *fault);

/*
 * Finds which triangles cross another: a side of one passes through the other. Triangles that share a vertex do not
 * cross, nor do two within one plane. O(T log T) time if few triangles are near each other.
 *
 *   representatives  (V) or NULL, from sbs_mesh_weld of the rest positions: vertices are one if theirs is the same
 *   threads          as above
 *   crossing         (T) 1 or 0
 *   fault            or NULL
 *
 * Errors: NULL.
 */
SBS_API sbs_status sbs_surface_crossing(const sbs_surface *surface, const int32_t *representatives, int threads,
                                        unsigned char *crossing, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
