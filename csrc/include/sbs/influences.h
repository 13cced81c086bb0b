/* SPDX-License-Identifier: MIT */
/*
 * libsbs: tools for the influences of a mesh: to repair, normalize, limit, prune, smooth and diffuse them.
 * Conventions, threads and errors are as in sbs.h.
 *
 * Influences are given as padded pairs in any order, and returned by decreasing weight (ties: the lower joint first),
 * padded with index 0 and weight 0. A joint that occurs more than once is merged. Weights may be any numbers: those
 * that are NaN, infinite or negative are dropped, as sbs_skin_new drops them. If the weights of one joint sum to more
 * than their type holds, all weights of the vertex are halved until they do not.
 *
 * LOCKED joints keep their weights, bit for bit. Where weights are normalized, the other joints share the weight that
 * the locked ones leave of 1, in proportion. A vertex whose unlocked weights are all zero has nothing to scale and
 * keeps its sum; where locked weights exceed 1, the others become zero. A sum that is off by rounding alone, 4 K
 * epsilon, is left as it is, so that normalizing again changes no bit.
 */
#ifndef SBS_INFLUENCES_H
#define SBS_INFLUENCES_H

#include <sbs/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The influences of all vertices. */
typedef struct sbs_influences_table {
  size_t vertex_count;          /* V; 0 is SBS_ERROR_EMPTY */
  size_t joint_count;           /* J; 0 is SBS_ERROR_EMPTY */
  size_t influences_per_vertex; /* K; 0 is SBS_ERROR_EMPTY */
  const int32_t *joint_indices; /* (V, K), each in [0, J) */
  sbs_scalar scalar;            /* of joint_weights and of the resulting weights; all is computed in double */
  const void *joint_weights;    /* (V, K) */
} sbs_influences_table;

/*
 * Repairs influences as sbs_skin_new does, bit for bit: weights that are NaN, infinite or negative are dropped, those
 * of one joint are added, and all are divided by their sum, in double. Weights are added in the order of their values,
 * so the result does not depend on the order of the caller's pairs.
 *
 *   table           the influences
 *   joint_indices   (V, K); must not be the array of the table
 *   joint_weights   (V, K); must not be the array of the table. A vertex without a positive weight gets none
 *   max_influences  the most that a vertex has, or NULL
 *   fault           or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, JOINT_INDEX, CANCELLED.
 */
SBS_API sbs_status sbs_influences_tidy(const sbs_influences_table *table, int32_t *joint_indices, double *joint_weights,
                                       size_t *max_influences, sbs_fault *fault);

/* Counts of sbs_influences_clean. */
typedef struct sbs_influences_clean_report {
  size_t changed;        /* vertices of which an influence was dropped or a weight changed */
  size_t unweighted;     /* vertices without any weight */
  size_t off_sum;        /* other vertices whose resulting weights do not sum to 1 within 4 K epsilon */
  size_t max_influences; /* the most resulting influences of a vertex; above `limit` only where more are locked */
} sbs_influences_clean_report;

typedef struct sbs_influences_clean_options {
  int normalize;    /* default 1: first, so that the threshold is a share of 1, and again at the end */
  size_t limit;     /* keep this many influences per vertex, locked ones first, then the heaviest; default 0: all */
  double threshold; /* drop unlocked weights below this, but never the heaviest; in [0, 1]; default 0: none */
  const unsigned char *locked; /* (J) not 0 where a joint is locked, or NULL (default): none */
  sbs_allocator allocator;     /* default: malloc and free */
} sbs_influences_clean_options;

SBS_API sbs_influences_clean_options sbs_default_influences_clean_options(void);

/*
 * Normalizes, limits and prunes influences. To do so again with the same options changes no bit. O(V K^2) time.
 *
 *   table          the influences
 *   options        or NULL for the defaults
 *   joint_indices  (V, K); may be the array of the table
 *   joint_weights  (V, K) of the table's scalar type; may be the array of the table
 *   report         or NULL
 *   fault          or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, JOINT_INDEX, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_influences_clean(const sbs_influences_table *table, const sbs_influences_clean_options *options,
                                        int32_t *joint_indices, void *joint_weights,
                                        sbs_influences_clean_report *report, sbs_fault *fault);

typedef struct sbs_influences_smooth_options {
  size_t iterations;  /* default 1; ends early once an iteration changes no bit */
  double strength;    /* s in [0, 1]; default 0.5 */
  const double *mask; /* (V) factors of s in [0, 1], or NULL (default): all 1; vertices with 0 keep their weights */
  const unsigned char *locked; /* (J) or NULL (default) */
  int normalize;               /* default 1; else sums may change where joints are locked or influences are dropped */
  sbs_allocator allocator;     /* default: malloc and free */
} sbs_influences_smooth_options;

SBS_API sbs_influences_smooth_options sbs_default_influences_smooth_options(void);

/*
 * Smooths weights over a surface. In each iteration w becomes w + s (mean - w) for every joint, at all vertices at
 * once, with the mean over the neighbors along edges. Vertices at one point get equal weights, even if they differed
 * before (the weights of the lowest vertex are used) or have different masks (the largest factor is used). Weights that
 * are the same everywhere stay so, bit for bit. A vertex without neighbors keeps its weights.
 *
 *   table          the influences
 *   mesh           positions and triangles of the same vertices
 *   options        or NULL for the defaults
 *   limit          influences per vertex of the outputs; if there are more at the end, the lightest unlocked ones are
 *                  dropped
 *   joint_indices  (V, limit); must not be the array of the table
 *   joint_weights  (V, limit) of the table's scalar type; must not be the array of the table
 *   fault          or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, JOINT_INDEX, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED;
 * OPTION with the fault in "limit" if more joints of a vertex are locked than that.
 */
SBS_API sbs_status sbs_influences_smooth(const sbs_influences_table *table, const sbs_mesh_desc *mesh,
                                         const sbs_influences_smooth_options *options, size_t limit,
                                         int32_t *joint_indices, void *joint_weights, sbs_fault *fault);

typedef struct sbs_influences_diffuse_options {
  double threshold; /* taken from the gain of a joint at a vertex, as heat is nowhere exactly 0; in [0, 1]; default
                       0.01 */
  const unsigned char *locked; /* (J) or NULL (default) */
  sbs_allocator allocator;     /* default: malloc and free */
} sbs_influences_diffuse_options;

SBS_API sbs_influences_diffuse_options sbs_default_influences_diffuse_options(void);

/*
 * Diffuses weights over a surface by given lengths, however large its triangles are. The weights of a joint spread as
 * heat does, in one implicit step:
 *
 *   (M / t - L) w = M / t w_given
 *
 * L is the cotangent Laplacian, M the area around each vertex and t the square of its length. A step of weights across
 * a flat strip becomes 1 - exp(-x / length) / 2, before the threshold is taken from the gains of joints and all is
 * divided by its sum.
 *
 * Hard parts stay hard: nothing spreads over an edge from a vertex of one joint alone to one of another joint alone,
 * nor to a vertex without weights, nor between islands. Vertices at one point get equal weights if theirs are equal to
 * 1e-3; others belong to parts that only touch. A vertex whose weights would change by less than 1e-6 keeps them, bit
 * for bit. The others end with a sum of 1, except as locked joints don't allow it.
 *
 *   table          the influences
 *   mesh           positions and triangles of the same vertices
 *   lengths        (V) how far the weights at a vertex spread, in units of the mesh: finite, at least 0; with 0 they
 *                  stay. Of vertices at one point the length of the lowest is used
 *   options        or NULL for the defaults
 *   limit          influences per vertex of the outputs; if there are more, the lightest unlocked ones are dropped
 *   joint_indices  (V, limit); must not be the ones of the table
 *   joint_weights  (V, limit) of the table's scalar type; must not be the ones of the table
 *   fault          or NULL
 *
 * Errors: as sbs_influences_smooth, NO_CONVERGENCE.
 */
SBS_API sbs_status sbs_influences_diffuse(const sbs_influences_table *table, const sbs_mesh_desc *mesh,
                                          const double *lengths, const sbs_influences_diffuse_options *options,
                                          size_t limit, int32_t *joint_indices, void *joint_weights, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
