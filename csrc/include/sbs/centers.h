/* SPDX-License-Identifier: MIT */
/*
 * libsbs: rotation centers that are found once, from the rest pose. Conventions, threads and errors are as in sbs.h.
 *
 * The optimized center of a vertex v is the weighted mean of the surface. Each point x of it counts by how similar its
 * influences are to those of v:
 *
 *     c_v = integral s(w_v, w_x) x dx / integral s(w_v, w_x) dx
 *     s(w, w') = sum_{j < k} w_j w_k w'_j w'_k exp(-(w_j w'_k - w_k w'_j)^2 / sigma^2)
 *
 *   Le, B. H. and Hodgins, J. K. 2016. Real-time Skeletal Skinning with Optimized Centers of Rotation. ACM Transactions
 *   on Graphics 35(4).
 *
 * In a tube that bends about a joint, that is a point on the axis: the ring of vertices around it turns about its
 * middle, and neither collapses nor bulges.
 *
 * The center depends only on the influences of v. So vertices of equal influences have equal centers, bit for bit, and
 * seams stay closed; and as s is a smooth function of w, neighbors with similar weights have similar centers.
 *
 * HOW IT IS COMPUTED. A pair of joints contributes to s only where both the vertex and the point of the surface have
 * both joints. So there is a list of samples of the surface for each pair that occurs at a vertex, and a vertex sums
 * over the lists of its own pairs. The sum is complete. Samples are made in two steps:
 *
 *   1. Influences are linear within a triangle. Each triangle is split into n^2 equal parts, so that influences differ
 *      by at most `refinement` along every edge (Euclidean norm). A part is a sample with its area, its centroid and
 *      the mean influences of its corners. On the characters that were tried, the default puts centers less than 4e-3
 *      of the mesh's size from where much finer parts do, and so moves vertices in their clips by less than 2e-4.
 *   2. Samples of a pair are merged if their (w_j, w_k) are in the same cell of a square grid of side
 *      sigma sqrt(tolerance). The exponential is then replaced by its first-order expansion about the mean of the cell,
 *      with an error of at most `tolerance` where the largest value is 1. Weights w_j w_k, areas and places are summed
 *      exactly. So the number of samples of a pair is bounded whatever the size of the mesh, by about
 *      1 / (2 sigma^2 tolerance).
 *
 * Triangles without area do not count, nor do those with only one joint or none.
 */
#ifndef SBS_CENTERS_H
#define SBS_CENTERS_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sbs_centers_options {
  double sigma;            /* how much weights may differ and yet be similar; at least 1e-6, finite; default 0.1 */
  double refinement;       /* at least 0.01; INFINITY: triangles are not split; default 0.1 */
  double tolerance;        /* at least 0, finite; 0: nothing is merged; default 1e-2 */
  int threads;             /* 0 (default): as sbs_get_threads says; never more than the work is worth */
  sbs_progress *progress;  /* or NULL (default): for this call, besides that of the thread; its fraction never falls */
  void *progress_user;     /* passed to `progress` */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_centers_options;

SBS_API sbs_centers_options sbs_default_centers_options(void);

/* How many vertices have no center, for two reasons; their rest position is written in its place. */
typedef struct sbs_centers_report {
  size_t rigid;      /* vertices with at most one influence: any center moves them in the same way */
  size_t dissimilar; /* with more, no two of which occur on the surface: they are blended linearly */
  size_t samples;    /* how many samples there are, of all pairs together */
} sbs_centers_report;

/*
 * Finds optimized centers of rotation.
 *
 *   desc            positions and influences; bad weights are repaired as by sbs_skin_new. Normals, parents and joint
 *                   positions are ignored
 *   triangle_count  T; 0 is SBS_ERROR_EMPTY
 *   triangles       (T, 3) each in [0, V); a corner may repeat
 *   options         or NULL for the defaults
 *   centers         (V, 3), in the space of the rest positions
 *   report          or NULL
 *   fault           or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, JOINT_INDEX, VERTEX_INDEX, CANCELLED, OUT_OF_MEMORY.
 */
SBS_API sbs_status sbs_centers_optimized(const sbs_skin_desc *desc, size_t triangle_count, const int32_t *triangles,
                                         const sbs_centers_options *options, double *centers,
                                         sbs_centers_report *report, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
