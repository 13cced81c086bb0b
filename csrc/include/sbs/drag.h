/* SPDX-License-Identifier: MIT */
/*
 * libsbs: weights by dragging. In a pose, a vertex is taken to where it should be, others within a radius go along, and
 * their weights follow. Conventions and errors are as in sbs.h, the brush is in brush.h.
 *
 * A vertex that should move by d gets the weights with which its method comes nearest to that,
 *
 *     w = argmin |v'(w) - (v'(w0) + d)|^2      w_i >= 0, sum w_i = 1
 *
 * by Gauss-Newton steps from its weights w0, with the derivatives of docs/fitting.md; where several weights do, those
 * that differ least from the ones before. Two or three joints can reach an arc or a curved patch
 * (docs/fitting.md); a target beside it is approached as near as possible.
 */
#ifndef SBS_DRAG_H
#define SBS_DRAG_H

#include <sbs/brush.h>
#include <sbs/twist.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sbs_drag_options {
  /*
   * How the mesh is deformed, or NULL (default): the defaults. Its method (not RIGID), rotation (QLERP), center,
   * damping and amount are read; rcond must be 0. About the center of a joint set each vertex moves as if it were
   * alone in its set.
   */
  const sbs_deform_options *deform;
  const double *centers;         /* (V, 3) finite, or NULL (default): those of SBS_CENTER_OPTIMIZED */
  const sbs_twist *twist;        /* of the same joints, by which the mesh is deformed, or NULL (default) */
  const double *twist_positions; /* (V, 3) finite, or NULL (default): the positions of the brush; as of sbs_skin_desc */

  double radius;                /* how far from the vertex others go along, at rest; finite, above 0; must be set */
  sbs_brush_falloff falloff;    /* how much of the way they go; default SMOOTH */
  sbs_brush_distance distance;  /* default SPACE */
  const unsigned char *joints;  /* (J) or NULL (default): the joints that may get weight at vertices where they have
                                   none; by default the joints of the dragged vertex */
  const unsigned char *locked;  /* (J) or NULL (default); a locked joint keeps its weights */
  int mirror_axis;              /* 0, 1 or 2: the same is done on the other side, in the mirrored pose; default -1 */
  double mirror_position;       /* where the mirror is on that axis, finite; default 0 */
  const int32_t *mirror_joints; /* (J) the joint on the other side of each, or NULL (default): the same */
  int threads;                  /* as of sbs_deform_options */
} sbs_drag_options;

SBS_API sbs_drag_options sbs_default_drag_options(void);

/*
 * Drags a vertex. It is one stroke of the brush, which sbs_brush_restore undoes bit for bit. Vertices whose unlocked
 * joints have no weight to share stay as they are.
 *
 *   options  with a radius; the defaults have none, so NULL is an error
 *   pose     of J joints. The mirror image has no twist_angles: there they are found from the matrices
 *   vertex   in [0, V)
 *   target   (3) where it should go, finite
 *   change   or NULL
 *   fault    or NULL
 *
 * Errors: NULL, OPTION (also "twist" if it is of another number of joints, and "centers" if there are none that the
 * method needs), NOT_FINITE, TOO_LARGE (SBS_LARGEST), NOT_AFFINE, JOINT_INDEX, VERTEX_INDEX, OUT_OF_MEMORY, CANCELLED,
 * NO_CONVERGENCE, INTERNAL. After an error the influences are unchanged.
 */
SBS_API sbs_status sbs_drag_vertex(sbs_brush *brush, const sbs_drag_options *options, const sbs_pose *pose,
                                   size_t vertex, const double *target, sbs_brush_change *change, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
