/* SPDX-License-Identifier: MIT */
/*
 * libsbs: weights by distance from the bones.
 *
 * The bone of each joint is the segment from its head to its tail. It has an inner and an outer capsule around it. The
 * weight of joint j at a point is k_j / sum k, with
 *
 *     k_j = m_j f_j / d_j
 *
 *     d_j    the distance of the point to the segment
 *     m_j    the joint's multiplier
 *     f_j    1 where d_j <= r_inner, else 0 where d_j >= r_outer, else the fall-off of
 *            x = (d_j - r_inner) / (r_outer - r_inner)
 *     r      the radii at the nearest point of the segment; they change linearly from head to tail
 *
 * On a segment d_j is 0 and 1 / d_j infinite: such a point belongs to the bones that it lies on, in proportion to their
 * multipliers. It counts as on the segment if d_j is within rounding: d_j <= 4 eps times the largest coordinate of
 * point, head and tail, eps of the points' type.
 *
 * Where r_inner < r_outer, weights are continuous inside of the outer capsules, except where two segments meet: 1 / d_j
 * has no limit there.
 *
 *   Komura, T. COMP3360: Data-Driven Computer Animation, lecture "Skinning": the cases that this formula unites.
 *
 * Conventions, statuses, faults, allocators and threads are as in sbs.h.
 */
#ifndef SBS_CAPSULES_H
#define SBS_CAPSULES_H

#include "sbs/sbs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How f goes from 1 at the inner radius, x = 0, to 0 at the outer one, x = 1. */
typedef enum sbs_capsules_falloff {
  SBS_CAPSULES_FALLOFF_LINEAR = 0,   /* 1 - x */
  SBS_CAPSULES_FALLOFF_SMOOTH = 1,   /* (1 - x)^2 (1 + 2 x): level at both ends */
  SBS_CAPSULES_FALLOFF_QUADRATIC = 2 /* (1 - x)^2: level at x = 1 */
} sbs_capsules_falloff;

typedef struct sbs_capsules {
  size_t capsule_count;         /* J; 0 is SBS_ERROR_EMPTY; capsule j is of joint j */
  const double *heads;          /* (J, 3), finite */
  const double *tails;          /* (J, 3), finite; equal to the head: spheres with the radii at the head */
  const double *inner_radii;    /* (J, 2) at head and at tail, in [0, r_outer] */
  const double *outer_radii;    /* (J, 2), finite, at least 0 */
  const double *multipliers;    /* (J) or NULL (all 1), finite, at least 0; 0: as if not enabled */
  const unsigned char *enabled; /* (J) or NULL (all): 0 for capsules without effect */
  const int32_t *falloffs;      /* (J) or NULL (all): an sbs_capsules_falloff, or -1 for the one of the options */
} sbs_capsules;

/*
 * Checks capsules as the functions below do, without points.
 *
 *   fault  or NULL; names the field, and the joint with its coordinate, or with 0 for head and 1 for tail
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, NEGATIVE, RADIUS, OPTION.
 */
SBS_API sbs_status sbs_capsules_check(const sbs_capsules *capsules, sbs_fault *fault);

/* The points to find weights for. */
typedef struct sbs_capsules_points {
  size_t point_count;   /* V; 0 is SBS_ERROR_EMPTY */
  sbs_scalar scalar;    /* of the points and of the resulting weights; all is computed in double */
  const void *points;   /* (V, 3), finite, in the space of heads and tails */
  size_t points_stride; /* bytes from point to point; 0: packed */
} sbs_capsules_points;

/* The weights of a point outside of all outer capsules, where all f_j are 0. */
typedef enum sbs_capsules_outside {
  /*
   * Weight 1 for the capsule of smallest d_j - r_outer (ties: the lowest joint). Weights are then continuous across the
   * outer surface of a capsule with r_inner < r_outer: where no other outer capsule reaches, it has weight 1 on both
   * sides, and where one does, its weight goes to 0. They are not continuous on the line where the outer surfaces of
   * two capsules meet, nor outside of all where two are equally near.
   */
  SBS_CAPSULES_OUTSIDE_NEAREST = 0,
  SBS_CAPSULES_OUTSIDE_UNWEIGHTED = 1, /* no weight */
  SBS_CAPSULES_OUTSIDE_ERROR = 2 /* SBS_ERROR_UNWEIGHTED; the fault has the first such point, `value` their number */
} sbs_capsules_outside;

typedef struct sbs_capsules_options {
  sbs_capsules_falloff falloff; /* default LINEAR; for capsules that have none of their own */
  sbs_capsules_outside outside; /* default NEAREST, for which at least one capsule must be enabled: else EMPTY */
  int threads;                  /* 0 (default): as many as sbs_get_threads says; never more than the work is worth */
  sbs_allocator allocator;      /* default: malloc and free */
} sbs_capsules_options;

SBS_API sbs_capsules_options sbs_default_capsules_options(void);

typedef struct sbs_capsules_report {
  size_t outside;        /* points outside of all outer capsules */
  size_t max_influences; /* the most joints with weight at one point, before any limit; 0 if no point has weights */
} sbs_capsules_report;

/*
 * Finds weights as padded pairs, as sbs_skin_desc takes them: by decreasing weight (ties: the lower joint first),
 * padded with index 0 and weight 0. The weights of a point sum to 1, or are all 0. Not a bit of them depends on the
 * number of threads, on other points or, except for ties, on the order of the capsules. O(V J) time.
 *
 *   options                or NULL for the defaults
 *   influences_per_vertex  K: if more joints have weight, the K heaviest are kept and normalized. 0 is EMPTY unless
 *                          both outputs are NULL: then the report has the K that keeps all
 *   joint_indices          (V, K), or NULL together with joint_weights
 *   joint_weights          (V, K) of the points' scalar type
 *   report                 or NULL
 *   fault                  or NULL
 *
 * Errors: as sbs_capsules_check, OPTION, STRIDE, OUT_OF_MEMORY; UNWEIGHTED and CANCELLED, after which the outputs
 * are undefined.
 */
SBS_API sbs_status sbs_capsules_weights(const sbs_capsules *capsules, const sbs_capsules_points *points,
                                        const sbs_capsules_options *options, size_t influences_per_vertex,
                                        int32_t *joint_indices, void *joint_weights, sbs_capsules_report *report,
                                        sbs_fault *fault);

/*
 * The same as a matrix.
 *
 *   limit          the most joints per point, the heaviest are kept; 0: all
 *   joint_weights  (V, J) of the points' scalar type
 */
SBS_API sbs_status sbs_capsules_weights_dense(const sbs_capsules *capsules, const sbs_capsules_points *points,
                                              const sbs_capsules_options *options, size_t limit, void *joint_weights,
                                              sbs_capsules_report *report, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
