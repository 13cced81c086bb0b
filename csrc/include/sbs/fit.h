/* SPDX-License-Identifier: MIT */
/*
 * libsbs: weights fitted to examples. Conventions, threads and errors are as in sbs.h.
 *
 * Given a mesh at rest, examples of it in some frames, and the skinning matrices of these frames, each vertex gets
 * the weights with which a method comes nearest to its examples, by least squares over all frames:
 *
 *     w = argmin sum_f |v'(w, C_f) - p_f|^2      w_i >= 0, sum w_i = 1, at most K of them not 0
 *
 * Of linear blending that is the point of a convex hull nearest to the origin, which Wolfe's method finds exactly; then
 * the K heaviest joints alone (Mohr and Gleicher 2003 keep them likewise). Other methods start from there, with some
 * more joints, and go on by Gauss-Newton steps with the derivatives of docs/fitting.md: each is again such a point of a
 * hull, and damped (Levenberg and Marquardt) so that the error never grows. Quaternions have their signs relative to
 * the heaviest joint, and the error jumps where another becomes the heaviest; so where examples are not met and signs
 * can differ, the steps are made again with each of the nearest joints as the heaviest, and the best is kept. In the
 * end joints are exchanged for others as long as that lowers the error.
 *
 * Where a function here fails, it has written nothing, also where it was cancelled. All numbers, of options too, are up
 * to SBS_LARGEST.
 *
 *   Mohr, A. and Gleicher, M. 2003. Building Efficient, Accurate Character Skins from Examples. ACM Transactions on
 *   Graphics 22(3).
 *   Wolfe, P. 1976. Finding the Nearest Point in a Polytope. Mathematical Programming 11.
 */
#ifndef SBS_FIT_H
#define SBS_FIT_H

#include <sbs/twist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The examples. Only read during a call. */
typedef struct sbs_fit_desc {
  size_t vertex_count;            /* V; 0 is SBS_ERROR_EMPTY */
  size_t joint_count;             /* J; 0 is SBS_ERROR_EMPTY */
  size_t frame_count;             /* F; 0 is SBS_ERROR_EMPTY */
  const double *rest_positions;   /* (V, 3) finite */
  const double *posed;            /* (F, V, 3) finite: the examples */
  sbs_pose poses;                 /* matrices (F, J, rows, 4); twist_angles (F, B, 2) or NULL */
  const sbs_twist *twist;         /* of the same joints, or NULL: that of the skin that the weights are for */
  const double *centers;          /* (V, 3) finite, or NULL: for SBS_CENTER_OPTIMIZED */
  const unsigned char *allowed;   /* (V, J) or NULL for all: not 0 where a vertex may use a joint, one at least */
  const double *toward;           /* (V, J) finite, or NULL: weights that the fit is drawn to */
  size_t initial_influences;      /* K0, not read without initial_indices */
  const int32_t *initial_indices; /* (V, K0) in range, or NULL: joints of weights that a fit also begins with */
  const double *initial_weights;  /* (V, K0) finite, not negative; each vertex has at most K that are not 0, of as many
                                     joints, which `allowed` has. One without any begins as if none were given */
} sbs_fit_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_fit_desc sbs_default_fit_desc(void);

typedef struct sbs_fit_options {
  sbs_method method; /* default SBS_METHOD_SPHERICAL; RIGID is SBS_ERROR_OPTION */
  sbs_center center; /* default SBS_CENTER_WEIGHTED. About the center of a joint set each vertex is fitted as if it
                              were alone in its set, whose mean position only matters where the set has no center */
  double damping;    /* of rotation centers, as of sbs_deform_options; default 1e-8. Less than 1e-13 counts as that */
  size_t influences; /* K, at least 1; default 4 */
  size_t iterations; /* the most Gauss-Newton steps of a vertex; default 30 */
  double pull;       /* >= 0: factor of the squared way to `toward` beside the mean square over frames; default 0 */
  int threads;       /* as of sbs_deform_options */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_fit_options;

SBS_API sbs_fit_options sbs_default_fit_options(void);

/*
 * Checks the arguments of sbs_fit_weights, which does so itself. For fits of a mesh in parts: faults name places in the
 * whole, before anything is fitted.
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, NOT_FINITE, NOT_AFFINE, JOINT_INDEX and NEGATIVE of sbs_fit_weights.
 */
SBS_API sbs_status sbs_fit_check(const sbs_fit_desc *desc, const sbs_fit_options *options, sbs_fault *fault);

/*
 * Fits weights. O(V (F J^2 + steps F K^2)) time; the result does not depend on the number of threads.
 *
 *   desc           the examples
 *   options        or NULL for the defaults
 *   joint_indices  (V, K) by decreasing weight; index 0 where the weight is 0
 *   joint_weights  (V, K), of sum 1
 *   errors         (V) or NULL; the root of the mean square, over frames, of the distance from the examples
 *   fault          or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, NOT_FINITE, NOT_AFFINE, OUT_OF_MEMORY, CANCELLED, NO_CONVERGENCE, INTERNAL;
 * OPTION with the fault in "centers" if the center is OPTIMIZED and there are none; JOINT_INDEX, NEGATIVE or OPTION for
 * initial weights.
 */
SBS_API sbs_status sbs_fit_weights(const sbs_fit_desc *desc, const sbs_fit_options *options, int32_t *joint_indices,
                                   double *joint_weights, double *errors, sbs_fault *fault);

/*
 * Fits the centers of SBS_CENTER_OPTIMIZED to examples while weights stay: where a vertex goes is linear in its center,
 * so each is the solution of three equations. In turns with sbs_fit_weights both are fitted. A center hardly moves in
 * directions that the examples do not tell, such as along an axis that all joints turn about.
 *
 *   desc           the examples; `centers` are where they begin, by default at the vertices
 *   influences     K
 *   joint_indices  (V, K) in range
 *   joint_weights  (V, K) repaired as by sbs_skin_new. A vertex without any keeps its center
 *   options        or NULL for the defaults; of them threads and the allocator
 *   centers        (V, 3) receives them
 *   errors         (V) or NULL; the root of the mean square, over frames, of the distance from the examples
 *   fault          or NULL
 *
 * Errors: as sbs_fit_weights, and JOINT_INDEX.
 */
SBS_API sbs_status sbs_fit_centers(const sbs_fit_desc *desc, size_t influences, const int32_t *joint_indices,
                                   const double *joint_weights, const sbs_fit_options *options, double *centers,
                                   double *errors, sbs_fault *fault);

typedef struct sbs_fit_matrices_options {
  size_t sweeps;           /* the most turns over all joints; default 10 */
  int threads;             /* as of sbs_deform_options */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_fit_matrices_options;

SBS_API sbs_fit_matrices_options sbs_default_fit_matrices_options(void);

/*
 * Fits the skinning matrices of linear blending to examples while weights stay: joint by joint, each as the others
 * leave it, by the rotation and translation that are best (a singular value decomposition; section 4.2 of the paper).
 * In turns with sbs_fit_weights it takes examples apart into joints and weights. Each joint keeps the scale with which
 * it begins.
 *
 *   Le, B. H. and Deng, Z. 2012. Smooth Skinning Decomposition with Rigid Bones. ACM Transactions on Graphics 31(6).
 *
 *   desc           the examples; `poses` are where matrices begin. Centers, allowed and toward are not used; a twist
 *                  with bones is SBS_ERROR_OPTION, as its frames do not move linearly with the matrices
 *   influences     K
 *   joint_indices  (V, K) in range
 *   joint_weights  (V, K) of sum 1 for vertices that are to move with joints alone; weights that are NaN, infinite or
 *                  negative are dropped
 *   fixed          (J) or NULL: not 0 for joints that stay; so do joints without weight
 *   options        or NULL for the defaults
 *   matrices       (F, J, 3, 4) receives them
 *   errors         (F) or NULL; the root of the mean square, over vertices, of the distance from the examples
 *   fault          or NULL
 *
 * Errors: as sbs_fit_weights, and JOINT_INDEX.
 */
SBS_API sbs_status sbs_fit_matrices(const sbs_fit_desc *desc, size_t influences, const int32_t *joint_indices,
                                    const double *joint_weights, const unsigned char *fixed,
                                    const sbs_fit_matrices_options *options, double *matrices, double *errors,
                                    sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
