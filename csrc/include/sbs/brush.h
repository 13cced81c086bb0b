/* SPDX-License-Identifier: MIT */
/*
 * libsbs: painting weights. Conventions and errors are those of sbs.h, influences and locked joints those of
 * influences.h.
 *
 * A brush holds a mesh and its influences. A stroke is a sequence of dabs. A dab changes the vertices within its
 * radius, which a tree finds: O(log V + touched) time. The changes of a stroke can be taken back, bit for bit.
 *
 * A brush changes with every stroke: only one thread at a time may use it.
 */
#ifndef SBS_BRUSH_H
#define SBS_BRUSH_H

#include <sbs/influences.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The change of a dab to the weight w of its joint; a is the strength times the fall-off. */
typedef enum sbs_brush_mode {
  SBS_BRUSH_ADD = 0,      /* w + a, at most 1 */
  SBS_BRUSH_SUBTRACT = 1, /* w - a, at least 0 */
  SBS_BRUSH_REPLACE = 2,  /* w + a (value - w) */
  SBS_BRUSH_SCALE = 3,    /* w (1 + a (value - 1)), at most 1 */
  SBS_BRUSH_SMOOTH = 4    /* w + a (mean - w), the mean over neighbors along edges, as they were before the dab */
} sbs_brush_mode;

/* How the effect fades with x = distance / radius in [0, 1]. */
typedef enum sbs_brush_falloff {
  SBS_BRUSH_FALLOFF_CONSTANT = 0, /* 1 */
  SBS_BRUSH_FALLOFF_LINEAR = 1,   /* 1 - x */
  SBS_BRUSH_FALLOFF_SMOOTH = 2,   /* 1 - x^2 (3 - 2 x) */
  SBS_BRUSH_FALLOFF_SPHERE = 3,   /* sqrt(1 - x^2) */
  SBS_BRUSH_FALLOFF_QUADRATIC = 4 /* (1 - x)^2 */
} sbs_brush_falloff;

/*
 * How distance from the center of a dab is measured.
 *
 *   SPACE    in a straight line
 *   SURFACE  in a straight line to the vertex that is nearest to the center, and from there along edges, by the
 *            shortest path (Dijkstra 1959). A little more than the distance along the surface, never less
 */
typedef enum sbs_brush_distance {
  SBS_BRUSH_DISTANCE_SPACE = 0,
  SBS_BRUSH_DISTANCE_SURFACE = 1
} sbs_brush_distance;

typedef struct sbs_brush_options {
  int32_t joint;                /* in [0, J); for SMOOTH also -1 (default): all joints */
  sbs_brush_mode mode;          /* default ADD */
  double radius;                /* finite, above 0; default 0, so it must be set */
  double strength;              /* in [0, 1]; default 1 */
  double value;                 /* of REPLACE, in [0, 1], and of SCALE, at least 0; default 1 */
  sbs_brush_falloff falloff;    /* default SMOOTH */
  sbs_brush_distance distance;  /* default SPACE */
  const unsigned char *locked;  /* (J) or NULL (default); a locked joint is not painted either */
  int normalize;                /* default 1: the other unlocked joints of a vertex that changes share the rest of 1; if
                                  there are none, the painted joint takes it */
  int mirror_axis;              /* 0, 1 or 2: each dab is repeated at the mirrored center; default -1: no mirror */
  double mirror_position;       /* where the mirror is on that axis, finite; default 0 */
  const int32_t *mirror_joints; /* (J) the joint that is painted there in place of each, or NULL (default): the same. A
                                   vertex within both dabs gets both at once; for the same joint, the stronger one */
} sbs_brush_options;

SBS_API sbs_brush_options sbs_default_brush_options(void);

typedef struct sbs_brush sbs_brush;

/*
 * Makes a brush for a mesh and its influences. It keeps copies of both. O(V log V) time.
 *
 *   table      the influences; the brush keeps weights as double, and each vertex's by decreasing weight
 *   mesh       positions and triangles of the same vertices
 *   limit      L, the most influences that a vertex can have, at least as many as in the table; where a stroke adds
 *              more, it drops the lightest that are neither painted nor locked
 *   allocator  or NULL for malloc and free
 *   brush      receives the new brush; release it by sbs_brush_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, OPTION, STRIDE, NOT_FINITE, JOINT_INDEX, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED.
 */
SBS_API sbs_status sbs_brush_new(const sbs_influences_table *table, const sbs_mesh_desc *mesh, size_t limit,
                                 const sbs_allocator *allocator, sbs_brush **brush, sbs_fault *fault);

/* Releases a brush. NULL does nothing. */
SBS_API void sbs_brush_free(sbs_brush *brush);

/* Copies the present influences to joint_indices (V, L) and joint_weights (V, L). Errors: NULL. */
SBS_API sbs_status sbs_brush_get_influences(const sbs_brush *brush, int32_t *joint_indices, double *joint_weights);

/* The changes of a stroke: M vertices, each once. The arrays belong to the brush and are valid until its next one. */
typedef struct sbs_brush_change {
  size_t vertex_count;              /* M */
  const int32_t *vertices;          /* (M) */
  const int32_t *old_joint_indices; /* (M, L) */
  const double *old_joint_weights;  /* (M, L) */
  const int32_t *new_joint_indices; /* (M, L) */
  const double *new_joint_weights;  /* (M, L) */
} sbs_brush_change;

/*
 * Makes dabs, one after the other. Vertices at one point change together: they get equal weights, computed from those
 * of the lowest.
 *
 *   options       with a radius; the defaults have none, so NULL is an error
 *   centers       (N, 3) finite
 *   center_count  N, may be 0
 *   change        or NULL
 *   fault         or NULL
 *
 * Errors: NULL, OPTION, NOT_FINITE, JOINT_INDEX, OUT_OF_MEMORY, CANCELLED. After an error the influences are unchanged.
 */
SBS_API sbs_status sbs_brush_stroke(sbs_brush *brush, const sbs_brush_options *options, const double *centers,
                                    size_t center_count, sbs_brush_change *change, sbs_fault *fault);

/*
 * Sets the influences of some vertices: the old ones of a stroke undo it, the new ones redo it. Undo strokes from the
 * last to the first.
 *
 *   vertices       (M), each in [0, V)
 *   joint_indices  (M, L)
 *   joint_weights  (M, L)
 *   vertex_count   M, may be 0
 *   fault          or NULL
 *
 * Errors: NULL, JOINT_INDEX, VERTEX_INDEX. After an error the influences are unchanged.
 */
SBS_API sbs_status sbs_brush_restore(sbs_brush *brush, const int32_t *vertices, const int32_t *joint_indices,
                                     const double *joint_weights, size_t vertex_count, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
