/* SPDX-License-Identifier: MIT */
/*
 * libsbs: skin that is relaxed in each pose as flesh would be, at all joints at once. Conventions, threads and errors
 * are as in sbs.h.
 *
 * Skin that was deformed by any method is stretched, squashed and bent near joints. Its vertices go towards the minimum
 * of the energy
 *
 *     E = 1/2 sum_t A_t |F_t - R_t|^2                             strain of triangles
 *       + bending / 2 sum_v r^2 a_v |L y - R_v L x|^2             bending
 *       + hold / 2 sum_v a_v / r^2 max(2 w - 1, 0)^2 |y - s|^2    ties to where skinning puts a vertex
 *       + 1/2 sum_v sum_i k a_v / r^2 w_i (d_i - d0_i)^2          distances to bones
 *       + crease / 2 sum_v a_v / r^2 depth^2                      beyond planes between two limbs of a hinge
 *
 * under the condition that limbs and connected pieces of the mesh keep their volumes. x are positions at rest, s
 * deformed ones and y relaxed ones, F_t the gradient of the deformation of a triangle, R_t the rotation nearest to it,
 * A_t its area at rest, a_v a third of those around a vertex, L the cotangent Laplacian over a_v, R_v the mean of the
 * R_t around a vertex, r the radius of its limb, w its largest weight (the square of max(2 w - 1, 0) is .001 at least),
 * d_i the distance to a bone with weight w_i, k `thinner` where d is less than at rest, else `thicker`.
 *
 * The energy is not minimized to the end. So many steps are taken, always the same, by Newton's method with one matrix
 * for all poses, which is factored at bind (projective dynamics, seen as a quasi-Newton method). So positions are a
 * smooth function of the pose, without history: a frame depends on its pose alone.
 *
 *   bind  sbs_flesh_new
 *   pose  sbs_skin_deform, then sbs_flesh_relax on its results
 *
 * Steps are accelerated by Chebyshev's method (Wang 2015).
 *
 *   Bouaziz, S., Martin, S., Liu, T., Kavan, L. and Pauly, M. 2014. Projective Dynamics: Fusing Constraint Projections
 *   for Fast Simulation. ACM Transactions on Graphics 33(4).
 *   Komaritzan, M. and Botsch, M. 2018. Projective Skinning. Proceedings of the ACM on Computer Graphics and
 *   Interactive Techniques 1(1).
 *   Liu, T., Bouaziz, S. and Kavan, L. 2017. Quasi-Newton Methods for Real-Time Simulation of Hyperelastic Materials.
 *   ACM Transactions on Graphics 36(3).
 *   Wang, H. 2015. A Chebyshev Semi-Iterative Approach for Accelerating Projective and Position-Based Dynamics. ACM
 *   Transactions on Graphics 34(6).
 */
#ifndef SBS_FLESH_H
#define SBS_FLESH_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All arrays may be released after the call. Numbers are finite, and up to SBS_LARGEST. */
typedef struct sbs_flesh_desc {
  size_t vertex_count;          /* V; 0 is SBS_ERROR_EMPTY */
  sbs_scalar scalar;            /* of rest positions; deformed ones may have another */
  const void *rest_positions;   /* (V, 3); vertices at one place with the same weights are one: seams stay closed */
  size_t triangle_count;        /* T; 0 is SBS_ERROR_EMPTY */
  const int32_t *triangles;     /* (T, 3) in [0, V); slivers have no energy */
  size_t influences_per_vertex; /* K, from 1 */
  const int32_t *joint_indices; /* (V, K) */
  sbs_scalar weight_scalar;     /* of joint_weights */
  const void *joint_weights;    /* (V, K), repaired as by sbs_skin_new */
  size_t joint_count;           /* J; 0 is SBS_ERROR_EMPTY */
  const int32_t *parents;       /* (J) or -1 */
  const double *bones;          /* (J, 2, 3) heads and tails at bind */
  const unsigned char *hinges;  /* (J) or NULL: which joints are between two bones of one limb, as an elbow */
  const double *amounts;        /* (V) in [0, 1] or NULL: how far each vertex goes; 0 holds it: armor, eyes */
} sbs_flesh_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_flesh_desc sbs_default_flesh_desc(void);

/* Factors are finite and not negative. */
typedef struct sbs_flesh_options {
  double bending; /* default 0.385 */
  double hold;    /* default 0.07 */
  double crease;  /* default 2.6 */
  double margin;  /* the share of its distance from a plane that a vertex keeps, up to 1; default 0.42 */
  double thinner; /* default 2.9 */
  double thicker; /* default 3.8 */
} sbs_flesh_options;

SBS_API sbs_flesh_options sbs_default_flesh_options(void);

/* The flesh of a character. Immutable. */
typedef struct sbs_flesh sbs_flesh;

/*
 * Prepares the flesh of a character: O(V^1.5) time.
 *
 *   desc       may be released afterwards
 *   options    or NULL for the defaults
 *   allocator  or NULL for malloc and free
 *   flesh      receives the result; release it by sbs_flesh_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, NOT_FINITE, JOINT_INDEX, VERTEX_INDEX, PARENT, NO_CONVERGENCE (the matrix
 * can't be factored), OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_flesh_new(const sbs_flesh_desc *desc, const sbs_flesh_options *options,
                                 const sbs_allocator *allocator, sbs_flesh **flesh, sbs_fault *fault);

/* Releases flesh. NULL does nothing. No other thread may be using it. */
SBS_API void sbs_flesh_free(sbs_flesh *flesh);

/* How many vertices it moves, seams counted once. 0 for NULL. */
SBS_API size_t sbs_flesh_free_count(const sbs_flesh *flesh);

/* Steps, by default for pictures; 8 are enough for playback, and 4 for a preview. */
#define SBS_FLESH_STEPS 12

/* The most steps that a call takes. */
#define SBS_FLESH_MOST_STEPS 1000

/*
 * Relaxes skin that was deformed in a pose. Vertices that nothing bends stay about where they are; vertices that can't
 * be moved, as in a pose beyond all bounds, keep their bits.
 *
 *   pose              that of the skin
 *   steps             1 to SBS_FLESH_MOST_STEPS
 *   amount            in [0, 1]: how much of the way vertices go
 *   scalar            of positions
 *   positions         (V, 3) deformed by any method, changed in place
 *   positions_stride  bytes from vertex to vertex; 0: packed
 *   normals           (V, 3) or NULL, of the same type, changed in place: turned as the surface around a vertex is
 *   normals_stride    as positions_stride
 *   threads           0: as sbs_set_threads says. Results do not depend on it
 *   fault             or NULL
 *
 * Errors: NULL, OPTION, STRIDE, NEGATIVE (threads), NOT_FINITE, TOO_LARGE, NOT_AFFINE, OUT_OF_MEMORY; CANCELLED.
 * Nothing is changed then.
 */
SBS_API sbs_status sbs_flesh_relax(const sbs_flesh *flesh, const sbs_pose *pose, size_t steps, double amount,
                                   sbs_scalar scalar, void *positions, size_t positions_stride, void *normals,
                                   size_t normals_stride, int threads, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
