/* SPDX-License-Identifier: MIT */
/*
 * libsbs: weights by heat that spreads over the surface from the bones. Conventions, threads and errors are those of
 * sbs.h.
 *
 * The weight of joint j is the temperature of a surface that its bone, the segment from head to tail, keeps at 1, and
 * all other bones at 0:
 *
 *     (-L + H) w_j = H p_j
 *
 *     L    the cotangent Laplacian of the surface (Pinkall and Polthier 1993)
 *     H    diagonal: c / d^2 where the nearest bone, at the distance d, is seen from the vertex, else 0
 *     p_j  1 where that bone is the joint's, else 0
 *
 * Of k equally near bones each counts 1/k, and H is k times as large. All weights are positive and sum to 1.
 *
 *   Baran, I. and Popovic, J. 2007. Automatic Rigging and Animation of 3D Characters. ACM Transactions on Graphics
 *   26(3), section 4.
 *
 * Meshes are taken as they are. Vertices at one point, or nearer than 1e-6 of the mesh's size (the diagonal of its
 * box), are one. Cotangents count up to 100, and edges at least 1e-3, so that slivers and obtuse angles do no harm.
 * Islands, which triangles connect, have no heat of their own where they are tiny (a box of at most 0.03 of the mesh's
 * size), have no triangles, or where less than a fifth of their area sees a bone: a button, an eye, a shirt. They are
 * joined to their neighbors, over others where those are in between: there H p is c / d^2 times the weights of the
 * nearest point of the neighbor, at the distance d.
 *
 * HOW IT IS COMPUTED. The equations are symmetric and positive definite for the islands that have heat, and for those
 * that hang on them directly, and so on outwards. Each time they are solved for all joints at once by a multifrontal
 * Cholesky factorization in the order of a nested dissection, its dense fronts by LAPACK and BLAS: about O(V^1.5) time
 * and O(V log V) memory. The bundled OpenBLAS is kept to the calling thread; one of the system works with as many
 * threads as it is set to. What bones are seen is found by `threads`, and no bit depends on how many.
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
  const unsigned char *enabled; /* (J) or NULL (all): 0 for joints that shall have no weight; all 0 is EMPTY */
} sbs_heat_bones;

typedef struct sbs_heat_options {
  double strength;         /* c, above 0, finite: the larger, the shorter the transitions between bones; default 4 */
  double prune;            /* weights below this share of the vertex's largest are dropped; in [0, 1]; default 1e-3 */
  int threads;             /* 0 (default): what sbs_get_threads says; never more than the work is worth */
  sbs_progress *progress;  /* or NULL (default) */
  void *progress_user;     /* what `progress` is called with */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_heat_options;

SBS_API sbs_heat_options sbs_default_heat_options(void);

/* Whether heat works on a mesh, and if not, why. */
typedef enum sbs_heat_trouble {
  SBS_HEAT_WORKS = 0,
  SBS_HEAT_NO_SURFACE,  /* no triangle has an area */
  SBS_HEAT_TINY_PIECES, /* more than half of the area is that of tiny islands */
  SBS_HEAT_NO_BONE,     /* no island sees enough of a bone */
  SBS_HEAT_NO_SOLUTION  /* the equation has no solution in finite numbers: the strength is extreme */
} sbs_heat_trouble;

/* Why an island has no heat of its own. */
typedef enum sbs_heat_reason {
  SBS_HEAT_SEES_NO_BONE = 0,
  SBS_HEAT_TINY = 1,
  SBS_HEAT_NO_TRIANGLES = 2
} sbs_heat_reason;

/* An island that hangs on others. */
typedef struct sbs_heat_join {
  int32_t island;      /* its number */
  int32_t neighbor;    /* the island that most of its vertices hang on; ties: the lowest */
  size_t vertex_count; /* of the mesh, in it */
  double distance;     /* the least of its vertices to a neighbor, in the units of the mesh */
  sbs_heat_reason reason;
} sbs_heat_join;

typedef struct sbs_heat_report {
  sbs_heat_trouble trouble;    /* if there is any, there are no weights, and join_count is 0 */
  size_t max_influences;       /* the most joints that one vertex has */
  size_t island_count;         /* numbered from 0 in the order of their lowest vertices */
  size_t join_count;           /* islands that hang on others */
  size_t welded;               /* vertices that stand where another one does */
  size_t degenerate_triangles; /* without area */
  size_t blind_vertices;       /* of those that are left, from which the surface hides the nearest bone */
} sbs_heat_report;

/*
 * Weights by heat, as padded pairs: by decreasing weight (ties: the lower joint first), padded with index 0 and weight
 * 0. Those of a vertex sum to 1; vertices at one point have equal ones.
 *
 * Where heat can't work that is no error: SBS_OK, and the report says why. Capsules (sbs/capsules.h) always do.
 *
 *   mesh                   its triangles may be degenerate, and have holes
 *   bones                  those of the joints
 *   options                or NULL for the defaults
 *   influences_per_vertex  K: of more joints the K heaviest are kept; 0 is EMPTY
 *   joint_indices          (V, K)  written only without trouble
 *   joint_weights          (V, K)  the same
 *   island_of_vertex       (V) or NULL
 *   joins                  (V) or NULL; receives join_count of them, by island
 *   report                 what became of the mesh
 *   fault                  or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, VERTEX_INDEX, CANCELLED, OUT_OF_MEMORY, INTERNAL. Nothing
 * is written then.
 */
SBS_API sbs_status sbs_heat_weights(const sbs_mesh_desc *mesh, const sbs_heat_bones *bones,
                                    const sbs_heat_options *options, size_t influences_per_vertex,
                                    int32_t *joint_indices, double *joint_weights, int32_t *island_of_vertex,
                                    sbs_heat_join *joins, sbs_heat_report *report, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
