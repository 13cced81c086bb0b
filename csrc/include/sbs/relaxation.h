/* SPDX-License-Identifier: MIT */
/*
 * libsbs: relaxation of a patch of a posed mesh, for correctives that are drafted. Conventions and errors are as in
 * sbs.h; all is done by the calling thread.
 *
 * Around a joint that is bent, vertices go where flesh would: some vertices are free, all others are held where they
 * are. Free ones minimize the energy
 *
 *     E = sum_t A_t / A (tr G (1 + 1 / (det G + 0.001)) - 4)        strain of the triangles
 *       + bending sum_e 3 l^2 / (A_1 + A_2) (angle - angle0)^2      angles between two triangles
 *       + volume / 2 sum_p ((V_p - V0_p) / V0_p)^2                  volumes of parts
 *       + crease sum_v a_v / A depth^2                              beyond a plane that a vertex is to stay before
 *       + sum_v a_v / A k (d - d0)^2                                distances to bones
 *
 * G being F^T F for the gradient F of the deformation of a triangle (symmetric Dirichlet energy; Smith and Schaefer
 * 2015), A_t its area at rest, a_v a third of those around a vertex, A the sum over the triangles that have a free
 * vertex, k the option `thinner` where d < d0, else `thicker`. The bending is that of discrete shells (Grinspun et al.
 * 2003). Lengths are in units of `size`. L-BFGS with 20 pairs looks for the minimum (Liu and Nocedal 1989); the energy
 * never rises, and triangles may be folded where it begins.
 *
 *   Grinspun, E., Hirani, A. N., Desbrun, M. and Schroeder, P. 2003. Discrete Shells. Symposium on Computer Animation.
 *   Liu, D. C. and Nocedal, J. 1989. On the Limited Memory BFGS Method for Large Scale Optimization. Mathematical
 *   Programming 45.
 *   Smith, J. and Schaefer, S. 2015. Bijective Parameterization with Free Boundaries. ACM Transactions on Graphics
 *   34(4).
 */
#ifndef SBS_RELAXATION_H
#define SBS_RELAXATION_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A patch of a mesh. Only read during a call. All numbers are finite and up to SBS_LARGEST. Its triangles are all that
 * have a free vertex, and their neighbors over edges, for the angles there.
 */
typedef struct sbs_relaxation_desc {
  size_t vertex_count;                /* V; 0 is SBS_ERROR_EMPTY */
  size_t triangle_count;              /* T; 0 is SBS_ERROR_EMPTY */
  const double *rest_positions;       /* (V, 3) */
  const double *positions;            /* (V, 3) where the vertices are in the pose; free ones begin there */
  const int32_t *triangles;           /* (T, 3) in [0, V), turning the same way; no strain without area */
  const unsigned char *free_vertices; /* (V) not 0: the vertex moves */
  double size;                        /* positive: about the radius of the limb */

  /* Parts whose volume is kept: cones from an apex to their triangles that have a free vertex. */
  size_t part_count;             /* P */
  const int32_t *triangle_parts; /* (T) in [-1, P); -1: of none */
  const double *apexes;          /* (P, 3) in the pose */
  const double *rest_volumes;    /* (P) V0; a part of 0 is left out */
  const double *held_volumes;    /* (P) or NULL: volumes beside the cones */

  /* Planes n x + d = 0 of vertices, n of length 1: they are to stay where n x + d >= 0. n = 0: no plane. */
  const double *planes; /* (V, 4): n and d; or NULL */

  /* Bones that vertices keep their distance to, the nearer of two. */
  size_t bone_count;           /* B */
  const double *bones;         /* (B, 2, 3) heads and tails in the pose */
  const int32_t *vertex_bones; /* (V, 2) in [-1, B); -1: none */
  const double *distances;     /* (V) d0; 0: any */
} sbs_relaxation_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_relaxation_desc sbs_default_relaxation_desc(void);

/* Factors are not negative. The defaults are for a hinge, as an elbow. */
typedef struct sbs_relaxation_options {
  double bending;          /* default 0.0013 */
  double volume;           /* default 30 */
  double crease;           /* default 75 */
  double thinner;          /* default 3 */
  double thicker;          /* default 60 */
  size_t iterations;       /* the most; default 150 */
  sbs_allocator allocator; /* default: malloc and free */
} sbs_relaxation_options;

SBS_API sbs_relaxation_options sbs_default_relaxation_options(void);

/*
 * Finds the energy of a patch at its positions.
 *
 *   desc      the patch
 *   options   or NULL for the defaults
 *   energy    receives E
 *   gradient  (V, 3) or NULL; of E by the positions, in units of `size`; 0 of vertices that are held
 *   fault     or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE (also if E or its gradient is not finite), OPTION, NOT_FINITE, VERTEX_INDEX,
 * OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_relaxation_energy(const sbs_relaxation_desc *desc, const sbs_relaxation_options *options,
                                         double *energy, double *gradient, sbs_fault *fault);

/* How a relaxation went. */
typedef struct sbs_relaxation_report {
  double first_energy, energy; /* where it began, and of the result */
  size_t iterations;
} sbs_relaxation_report;

/*
 * Relaxes a patch. O(iterations (V + T)) time. Progress is told after each iteration.
 *
 *   desc       the patch
 *   options    or NULL for the defaults
 *   positions  (V, 3) receives them; held vertices keep their bits
 *   report     or NULL
 *   fault      or NULL
 *
 * Errors: as sbs_relaxation_energy. Then nothing is written.
 */
SBS_API sbs_status sbs_relaxation_minimize(const sbs_relaxation_desc *desc, const sbs_relaxation_options *options,
                                           double *positions, sbs_relaxation_report *report, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
