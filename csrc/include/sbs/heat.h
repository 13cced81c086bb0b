/* SPDX-License-Identifier: MIT */
/*
 * libsbs: weights by heat that spreads from the bones over the surface. Conventions, threads and errors are as in
 * sbs.h.
 *
 * The weight of joint j is the temperature of the surface when its bone, the segment from head to tail, is kept at 1
 * and all other bones at 0:
 *
 *     (-L + H) w_j = H p_j
 *
 *     L    the cotangent Laplacian of the surface (Pinkall and Polthier 1993)
 *     H    diagonal: c / d^2 if the nearest bone, at the distance d, is visible from the vertex, else 0
 *     p_j  1 if that bone is the joint's, else 0
 *
 * If k bones are equally near, each counts 1/k, and H is k times as large. All weights are positive and sum to 1.
 *
 *   Baran, I. and Popovic, J. 2007. Automatic Rigging and Animation of 3D Characters. ACM Transactions on Graphics
 *   26(3), section 4.
 *
 * Any mesh is accepted. Vertices nearer to each other than 1e-6 of the mesh's size (the diagonal of its box) count as
 * one. Cotangents are limited to 100 and weights of edges are at least 1e-3, so that slivers and obtuse angles do no
 * harm. An island, a part that triangles connect, has no heat of its own if it is tiny (a box of at most 0.03 of the
 * mesh's size), has no triangles, or if a bone is visible from less than a fifth of its area: a button, an eye, a
 * shirt. Such islands are joined to their neighbors, if need be through other islands: there H p is c / d^2 times the
 * weights of the nearest point of the neighbor, at the distance d.
 *
 * HOW IT IS COMPUTED. The equations are symmetric and positive definite. They are solved for the islands with heat,
 * then for those joined directly to them, and so on. Each system is solved for all joints at once by a sparse
 * factorization L D L^T in the order of a nested dissection: about O(V^1.5) time and O(V log V) memory, on the calling
 * thread. `threads` share the search for visible bones. Results do not depend on their number, not even in a bit.
 */
#ifndef SBS_HEAT_H
#define SBS_HEAT_H

#include <sbs/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sbs_heat_bones {
  size_t joint_count;           /* J; 0 is SBS_ERROR_EMPTY; bone j is of joint j */
  const double *heads;          /* (J, 3), finite, in the space of the mesh */
  const double *tails;          /* (J, 3), finite; equal to the head: a point */
  const unsigned char *enabled; /* (J) or NULL (all): 0 for joints that get no weight; all 0 is EMPTY */
} sbs_heat_bones;

typedef struct sbs_heat_options {
  double strength;         /* c, above 0, finite: the larger, the shorter the transitions between bones; default 4 */
  double prune;            /* weights below this share of the vertex's largest are dropped; in [0, 1]; default 1e-3 */
  int threads;             /* 0 (default): as many as sbs_get_threads says; never more than the work is worth */
  sbs_progress *progress;  /* or NULL (default) */
  void *progress_user;     /* passed to `progress` */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_heat_options;

SBS_API sbs_heat_options sbs_default_heat_options(void);

/* Whether heat works for a mesh, and if not, why. */
typedef enum sbs_heat_trouble {
  SBS_HEAT_WORKS = 0,
  SBS_HEAT_NO_SURFACE,  /* no triangle has an area */
  SBS_HEAT_TINY_PIECES, /* more than half of the area is in tiny islands */
  SBS_HEAT_NO_BONE,     /* from no island is enough of a bone visible */
  SBS_HEAT_NO_SOLUTION  /* the equations have no finite solution: the strength is extreme */
} sbs_heat_trouble;

/* Why an island has no heat of its own. */
typedef enum sbs_heat_reason {
  SBS_HEAT_SEES_NO_BONE = 0,
  SBS_HEAT_TINY = 1,
  SBS_HEAT_NO_TRIANGLES = 2
} sbs_heat_reason;

/* An island that is joined to others. */
typedef struct sbs_heat_join {
  int32_t island;      /* its number */
  int32_t neighbor;    /* the island that most of its vertices are joined to; ties: the lowest */
  size_t vertex_count; /* its vertices, of the mesh */
  double distance;     /* the least from a vertex of it to a neighbor, in the units of the mesh */
  sbs_heat_reason reason;
} sbs_heat_join;

typedef struct sbs_heat_report {
  sbs_heat_trouble trouble;    /* with any there are no weights, and join_count is 0 */
  size_t max_influences;       /* the most joints that a vertex has */
  size_t island_count;         /* islands are numbered from 0 in the order of their lowest vertices */
  size_t join_count;           /* islands that are joined to others */
  size_t welded;               /* vertices at the same point as a lower one */
  size_t degenerate_triangles; /* triangles without area */
  size_t blind_vertices;       /* other vertices from which the surface hides the nearest bone */
} sbs_heat_report;

/*
 * Finds weights by heat, as padded pairs: by decreasing weight (ties: the lower joint first), padded with index 0 and
 * weight 0. The weights of a vertex sum to 1; vertices at one point have equal weights.
 *
 * A mesh that heat does not work for is no error: the result is SBS_OK, and the report says why. Capsules
 * (sbs/capsules.h) work for every mesh.
 *
 *   mesh                   triangles may be degenerate, and the surface may have holes
 *   bones                  of the joints
 *   options                or NULL for the defaults
 *   influences_per_vertex  K: if more joints have weight, the K heaviest are kept; 0 is EMPTY
 *   joint_indices          (V, K)  not written with trouble
 *   joint_weights          (V, K)  the same
 *   island_of_vertex       (V) or NULL
 *   joins                  (V) or NULL; receives the first join_count, by island
 *   report                 receives trouble and counts
 *   fault                  or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, VERTEX_INDEX, CANCELLED, OUT_OF_MEMORY, INTERNAL.
 * Nothing is written after an error.
 */
SBS_API sbs_status sbs_heat_weights(const sbs_mesh_desc *mesh, const sbs_heat_bones *bones,
                                    const sbs_heat_options *options, size_t influences_per_vertex,
                                    int32_t *joint_indices, double *joint_weights, int32_t *island_of_vertex,
                                    sbs_heat_join *joins, sbs_heat_report *report, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
