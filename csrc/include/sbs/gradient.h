/* SPDX-License-Identifier: MIT */
/*
 * libsbs: the gradient of a deformation. Conventions, threads and errors are as in sbs.h.
 *
 * A scalar loss L depends on the deformed positions and normals. Given its gradient by these, the functions here find
 * its gradient by everything that they were made from: in other words, the product of a vector and the Jacobian of
 * sbs_skin_deform. It is exact, not by differences; docs/fitting.md has the derivation.
 *
 *   method           its derivative
 *   rigid, linear    everything
 *   spherical        QLERP with each kind of center. Rotation centers of joint sets and weighted centers depend on the
 *                    matrices (and weighted centers on the weights) through least squares, which are differentiated
 *                    implicitly. SBS_ERROR_OPTION for the spherical average (SBS_ROTATION_AVERAGE) and for rcond,
 *                    whose centers jump
 *   dual quaternion  everything
 *
 * WEIGHTS are normalized by a skin. The gradient is by the weights as they were given: it is zero along their own
 * direction, as a common factor changes nothing. A weight that is zero or was repaired has gradient 0, because another
 * joint set would begin where it grows.
 *
 * MATRICES. A rigid joint acts by its nearest rotation (sbs_pose), so in the rotation methods the gradient has no part
 * that stretches it. Where a joint stretches, it is that of R and S of A = R S. The center of a joint and its parent is
 * differentiated as one that is solved, even where it is the joint's position: so it is the gradient by matrices that
 * may take the two apart.
 *
 * TWIST (sbs/twist.h). Where a pose has no angles they follow from the matrices, and the gradient by these includes
 * theirs. Shares of bones follow from the positions that the skin was made with.
 *
 * REST POSITIONS. If the options have no positions, the skin's own are differentiated as if it were made anew of them:
 * shares of bones (unless twist_positions hold these) and centroids of joint sets move, too. Positions in the options,
 * and shapes (sbs/shapes.h), move neither in sbs_skin_deform, and so the gradient by them has no part of either.
 *
 * A vertex that is its own rotation center is moved with it, as it stays blended linearly: the gradient by its rest
 * position includes that by its center, whose own is 0.
 */
#ifndef SBS_GRADIENT_H
#define SBS_GRADIENT_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The influences of a skin among the weights that it was made of. Immutable. */
typedef struct sbs_gradient sbs_gradient;

/*
 * Finds the weights of a description among the influences of its skin. O(V K^2) time, 8 + 2 K bytes a vertex.
 *
 *   skin       from sbs_skin_new; not kept
 *   desc       the description that it was made from. joint_indices, joint_weights, rest_positions and centers are read
 *   allocator  or NULL for malloc and free
 *   gradient   receives the new object; release it by sbs_gradient_free
 *   fault      or NULL
 *
 * Errors: NULL, OPTION if the description is not that of the skin, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_gradient_new(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_allocator *allocator,
                                    sbs_gradient **gradient, sbs_fault *fault);

/* Releases a gradient. NULL does nothing. */
SBS_API void sbs_gradient_free(sbs_gradient *gradient);

/* The gradient of the loss by the results of sbs_skin_deform. Of the skin's scalar type, packed. */
typedef struct sbs_gradient_upstream {
  const void *positions; /* (V, 3) or NULL: the loss does not depend on positions */
  const void *normals;   /* (V, 3) or NULL; SBS_ERROR_OPTION if the skin has no rest normals */
} sbs_gradient_upstream;

/* The gradient of the loss by the inputs of a deformation. Fields that are NULL are not computed. */
typedef struct sbs_gradient_result {
  void *rest_positions;      /* (V, 3) of the skin's scalar type; by the options' positions, if there are any */
  void *rest_normals;        /* (V, 3) likewise; of normals as given, whose length does not matter: 0 along them */
  void *joint_weights;       /* (V, K) likewise, in the order of the description's influences */
  double *skinning_matrices; /* (J, 3, 4) by the numbers of the matrices' first three rows */
  void *centers;             /* (V, 3) of the skin's scalar type; zero unless the method reads centers */
  void *amount;              /* (V) likewise; SBS_ERROR_OPTION without an amount in the options */
  double *twist_angles;      /* (B, 2) by the angles of the twist; SBS_ERROR_OPTION without one, as the following */
  double *twist_shares;      /* (V, K) by where along its bone each influence is, 0 at the head and 1 at the tail; 0 for
                                joints without a bone. At a share that is exactly that of a frame it knows one side
                                alone */
  double *shape_weights;     /* (S) by the weights of shapes; SBS_ERROR_OPTION without shapes, as the following */
  void *shaped_positions; /* (V, 3) of the skin's scalar type; by the sum of shapes at rest positions: times the weight
                                of a shape, that by its deltas */
  void *shaped_normals;   /* (V, 3) likewise, to rest normals as unit vectors; 0 where shapes change no normals */
} sbs_gradient_result;

/*
 * Differentiates a deformation. NaN and infinity in the upstream gradient spread; so do numbers that a type does not
 * hold, as in sbs_skin_deform. The result does not depend on the number of threads, not even in a bit.
 *
 *   gradient  from sbs_gradient_new, of the skin
 *   skin      the skin that was deformed
 *   desc      its description; rest_normals are read, with a twist rest_positions, the weights and twist_positions, too
 *   pose      the matrices of the frame
 *   options   of the deformation, or NULL for the defaults; strides and scratch are ignored
 *   upstream  the gradient by the results
 *   result    receives the gradient by the rest
 *   fault     or NULL
 *
 * Errors: NULL, OPTION, NOT_FINITE, TOO_LARGE (of weights of shapes), NOT_AFFINE, OUT_OF_MEMORY, CANCELLED,
 * NO_CONVERGENCE, INTERNAL.
 */
SBS_API sbs_status sbs_gradient_deform(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                                       const sbs_pose *pose, const sbs_deform_options *options,
                                       const sbs_gradient_upstream *upstream, const sbs_gradient_result *result,
                                       sbs_fault *fault);

/*
 * How one vertex moves with each of its weights: the Jacobian of its deformed position.
 *
 *   vertex    below V, or it is SBS_ERROR_OPTION
 *   jacobian  (3, K) receives the derivative by the weights as they were given; 0 for those without gradient
 *
 * The others are as for sbs_gradient_deform, and so are the errors; shapes are SBS_ERROR_OPTION.
 */
SBS_API sbs_status sbs_gradient_weight_jacobian(const sbs_gradient *gradient, const sbs_skin *skin,
                                                const sbs_skin_desc *desc, const sbs_pose *pose,
                                                const sbs_deform_options *options, size_t vertex, double *jacobian,
                                                sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
