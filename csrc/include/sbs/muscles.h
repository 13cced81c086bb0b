/* SPDX-License-Identifier: MIT */
/*
 * libsbs: muscles of constant volume, and skin that covers them. Conventions, threads and errors are as in sbs.h.
 *
 * A muscle is a belly between two tendons along a path, the Bezier curve of two to four points that move with joints.
 * Its volume stays: a belly that a pose shortens becomes thicker. Skin that was deformed by any method is moved so that
 * it keeps its distance from the belly. docs/muscles.md has the formulas. A character that matrices scale as a whole
 * has muscles of its size. In the bind pose without activation nothing moves, to the last bit; results depend on the
 * pose alone.
 *
 *   bind  sbs_muscles_new
 *   pose  sbs_skin_deform, then sbs_muscles_cover on its results
 */
#ifndef SBS_MUSCLES_H
#define SBS_MUSCLES_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most points of a path: origin, two via points, insertion. */
#define SBS_MUSCLE_POINTS 4

/* The largest number of a muscle but for its direction, as skin is moved in single precision. */
#define SBS_MUSCLE_LARGEST 1e7

typedef struct sbs_muscle {
  size_t point_count;                  /* 2 to SBS_MUSCLE_POINTS */
  int32_t joints[SBS_MUSCLE_POINTS];   /* of each point, in [0, J) */
  double points[SBS_MUSCLE_POINTS][3]; /* at bind, in the space of the mesh; origin first, insertion last */
  double radius;                       /* the largest of the belly, above 0 */
  size_t profile_count;                /* 0: fusiform, (4 u (1 - u))^1.5; else from 2 */
  const double *profile; /* (profile_count) radii as shares of the largest in [0, 1], at equal steps along the belly */
  double tendons[2];     /* shares of the path at bind that are tendon, at origin and insertion; sum below 1 */
  double flattening;     /* width over thickness of the sections, from 1 */
  double thin_direction[3]; /* at bind, not 0 nor along the path if flattening is above 1: in which sections are thin */
  int32_t thin_joint;       /* that turns the direction, in [0, J) */
  double contraction;       /* the share by which full activation shortens the belly, in [0, 1) */
  double most_growth;       /* the limit of k, from 1; where it is met the belly loses volume */
  double reach;             /* how far from its surface skin is moved, above 0; with share 1 to half of that */
  size_t covered_count;     /* 0: the joints of the points alone */
  const int32_t *covered;   /* (covered_count) the joints whose skin it moves, in [0, J) */
} sbs_muscle;

/* Two points, all zero, with contraction 0.2, most_growth 2, flattening 1. Points, radius and reach are to be set. */
SBS_API sbs_muscle sbs_default_muscle(void);

typedef struct sbs_muscles_desc {
  size_t joint_count;           /* J; 0 is SBS_ERROR_EMPTY */
  size_t muscle_count;          /* M; 0 is SBS_ERROR_EMPTY */
  const sbs_muscle *muscles;    /* (M) */
  size_t vertex_count;          /* V; may be 0: then muscles can be measured only */
  sbs_scalar scalar;            /* of rest positions and normals; deformed ones may have another */
  const void *rest_positions;   /* (V, 3), finite */
  const void *rest_normals;     /* (V, 3) or NULL: then skin may face any way, and normals can't be moved */
  size_t triangle_count;        /* T; may be 0: then normals don't follow where shares fall */
  const int32_t *triangles;     /* (T, 3) vertices, in [0, V) */
  size_t influences_per_vertex; /* K */
  const int32_t *joint_indices; /* (V, K) or NULL: all skin near a muscle covers it */
  sbs_scalar weight_scalar;     /* of joint_weights */
  const void *joint_weights;    /* (V, K), repaired as by sbs_skin_new */
} sbs_muscles_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_muscles_desc sbs_default_muscles_desc(void);

/* Muscles of a character. Immutable. */
typedef struct sbs_muscles sbs_muscles;

/*
 * Makes muscles and finds the skin that covers them.
 *
 *   desc       may be released afterwards
 *   allocator  or NULL for malloc and free
 *   muscles    receives the result; release it by sbs_muscles_free
 *   fault      or NULL. In `muscles` the first index is that of the muscle. Of a vertex that is inside a muscle the
 *              argument is "radius", the indices are muscle and vertex, and the value is how deep it is
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, JOINT_INDEX, OPTION (a number out of its range; origin and insertion at
 * one place; a path without length; a thin direction along it), RADIUS (a vertex is inside a muscle), OUT_OF_MEMORY,
 * CANCELLED. O(V M) time.
 */
SBS_API sbs_status sbs_muscles_new(const sbs_muscles_desc *desc, const sbs_allocator *allocator, sbs_muscles **muscles,
                                   sbs_fault *fault);

/* Releases muscles. NULL does nothing. No other thread may be using them. */
SBS_API void sbs_muscles_free(sbs_muscles *muscles);

/* M; 0 for NULL. */
SBS_API size_t sbs_muscles_count(const sbs_muscles *muscles);

/* How many vertices each muscle moves, (M). Returns how many all do together. NULL muscles: 0. */
SBS_API size_t sbs_muscles_covered(const sbs_muscles *muscles, size_t *counts);

/* A muscle in a pose. */
typedef struct sbs_muscle_state {
  double length;       /* of the path */
  double belly_length; /* of the belly */
  double growth;       /* k of the radii */
  double volume;       /* of the belly */
  int is_limited;      /* whether most_growth was met, and volume is lost */
} sbs_muscle_state;

/*
 * Measures muscles in a pose.
 *
 *   pose         of J joints; lengths and volumes are in the units of the bind pose
 *   activations  (M) in [0, 1] or NULL: 0
 *   states       (M)
 *   fault        or NULL
 *
 * Errors: NULL, NOT_FINITE, TOO_LARGE (SBS_LARGEST), NOT_AFFINE, OPTION (an activation out of its range).
 */
SBS_API sbs_status sbs_muscles_measure(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                                       sbs_muscle_state *states, sbs_fault *fault);

/*
 * Moves skin that was deformed in a pose so that it covers the muscles. A vertex stays where its movement is too large
 * for single precision.
 *
 *   pose              that of the skin
 *   activations       (M) in [0, 1] or NULL: 0
 *   scalar            of positions and normals
 *   positions         (V, 3) deformed by any method, changed in place
 *   positions_stride  bytes from vertex to vertex; 0: packed
 *   normals           (V, 3) or NULL, changed in place; SBS_ERROR_OPTION if there were none at bind
 *   normals_stride    as positions_stride
 *   threads           0: as sbs_set_threads says. Results do not depend on it
 *   fault             or NULL
 *
 * Errors: NULL, OPTION, STRIDE, NEGATIVE (threads), NOT_FINITE, TOO_LARGE, NOT_AFFINE, OUT_OF_MEMORY, after which
 * nothing is changed; CANCELLED.
 */
SBS_API sbs_status sbs_muscles_cover(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                                     sbs_scalar scalar, void *positions, size_t positions_stride, void *normals,
                                     size_t normals_stride, int threads, sbs_fault *fault);

/*
 * The skin that covers a muscle: its shares s and its distances d_rest at bind.
 *
 *   muscle    in [0, M); SBS_ERROR_OPTION otherwise
 *   vertices  (covered) or NULL; the vertices that it moves, in any order
 *   shares    (covered) or NULL; s of each
 *   rest      (covered) or NULL; d_rest
 *
 * Errors: NULL, OPTION.
 */
SBS_API sbs_status sbs_muscles_cover_of(const sbs_muscles *muscles, size_t muscle, int32_t *vertices, double *shares,
                                        double *rest, sbs_fault *fault);

/*
 * The belly's surface in a pose, for drawing and measuring: rings from origin to insertion.
 *
 *   muscle     in [0, M)
 *   rings      from 2
 *   sides      of each ring, from 3
 *   positions  (rings, sides, 3)
 *
 * Errors: NULL, NOT_FINITE, TOO_LARGE, NOT_AFFINE, OPTION.
 */
SBS_API sbs_status sbs_muscles_surface(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                                       size_t muscle, size_t rings, size_t sides, double *positions, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
