/* SPDX-License-Identifier: MIT */
/*
 * libsbs: rotation centers that are found once, from the rest pose. Conventions, threads and errors are those of sbs.h.
 *
 * The optimized center of a vertex v is the mean of the surface, each point x of it weighted by how similar its
 * influences are to those of v:
 *
 *     c_v = integral s(w_v, w_x) x dx / integral s(w_v, w_x) dx
 *     s(w, w') = sum_{j < k} w_j w_k w'_j w'_k exp(-(w_j w'_k - w_k w'_j)^2 / sigma^2)
 *
 *   Le, B. H. and Hodgins, J. K. 2016. Real-time Skeletal Skinning with Optimized Centers of Rotation. ACM Transactions
 *   on Graphics 35(4).
 *
 * In a tube that bends about a joint, that is a point of the axis: the ring of vertices of which v is one turns about
 * its middle, and neither collapses nor bulges.
 *
 * A center depends on v by its influences alone. So vertices of equal influences have equal centers, to the last bit,
 * and seams stay closed; and as s is a smooth function of w, centers of neighbors are as close as their weights.
 *
 * HOW IT IS COMPUTED. A pair of joints adds to s only what a vertex and a point of the surface have of both. So for
 * each pair that occurs at a vertex there is a list of samples of the surface, and a vertex sums over the lists of its
 * own pairs; nothing is left out. The samples are:
 *
 *   1. Triangles, in which influences are linear. Each is split into n^2 equal ones, so that influences differ by at
 *      most `refinement` along every edge (Euclidean norm); each counts by its area, its centroid and the mean
 *      influences of its corners.
 *   2. Merged, where those of a pair (w_j, w_k) are in the same cell of a square grid of side sigma sqrt(tolerance).
 *      The exponential is then replaced by its first-order expansion about the mean of the cell: it is off by at most
 *      `tolerance`, of a largest value of 1. A sample's weights w_j w_k, area and place are summed as they are. So the
 *      number of samples of a pair has a bound that does not depend on the size of the mesh: 1 / (2 sigma^2 tolerance)
 *      and a few.
 *
 * Triangles of no area have no say; nor have those that have at most one joint.
 */
#ifndef SBS_CENTERS_H
#define SBS_CENTERS_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sbs_centers_options {
  double sigma;            /* how much weights may differ and yet be similar; at least 1e-6, finite; default 0.1 */
  double refinement;       /* at least 0.01; INFINITY: triangles as they are; default 0.1 */
  double tolerance;        /* at least 0, finite; 0: nothing is merged; default 1e-2 */
  int threads;             /* 0 (default): what sbs_get_threads says; never more than the work is worth */
  sbs_progress *progress;  /* or NULL (default): told of this call, beside the thread's; its fraction never falls */
  void *progress_user;     /* what `progress` is called with */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_centers_options;

SBS_API sbs_centers_options sbs_default_centers_options(void);

/* Of the vertices, those that have no center: what is written for them is their rest position. */
typedef struct sbs_centers_report {
  size_t rigid;      /* at most one influence: they move alike with any center */
  size_t dissimilar; /* more, of which no part of the surface has two: so they move as by linear blending */
  size_t samples;    /* that were summed over, of all pairs together */
} sbs_centers_report;

/*
 * Optimized centers of rotation.
 *
 *   desc            positions and influences; bad weights are repaired as sbs_skin_new does. Normals, parents and joint
 *   positions
 *                   are of no account
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
