/* SPDX-License-Identifier: MIT */
/*
 * libsbs: bones blending. Conventions, threads and errors are as in sbs.h.
 *
 * A vertex v is attached to one joint j. How much of the joint's own rotation it follows depends on how far along the
 * bone it is:
 *
 *     t' = <A(j)^-1 v, n>                      Kavan & Zara 2003, section 3
 *     t  = (t' - t_min) / (t_max - t_min)      clamped to [0, 1]
 *     t  = 3 t^2 - 2 t^3                       with SBS_BLENDING_PROFILE_SMOOTHSTEP; not in the paper
 *
 *     A(j)   the bind matrix of the joint
 *     n      the direction of the bone in the joint's own axes, of length 1
 *     t_min  the t' up to which only the parent's rotation is applied
 *     t_max  the t' from which only the joint's own is applied
 *
 *   Kavan, L. and Zara, J. 2003. Real Time Skin Deformation with Bones Blending. WSCG Short Papers.
 *
 * In terms of v' = Q (v - c) + sum_i w_i C_i c, see sbs.h, such a vertex has the influences (parent of j, 1 - t) and
 * (j, t), Q is the spherical interpolation of both rotations, and c the position of j. So binding makes the
 * joint_indices, joint_weights and centers of an ordinary skin (sbs_skin_desc), which is deformed with the options of
 * sbs_blending_deform_options.
 *
 * ATTACHMENT. A joint should have all vertices that bend with it, on both sides of it. Unless the caller attaches them,
 * a vertex is attached to its heaviest influence, or without influences to the nearest bone. Then joints take vertices
 * over from their parents. Of the children of a vertex's joint, the one at the nearest position takes it over if that
 * child is blended, the vertex is beyond t_min, and the vertex is within twice the distance from the child to the rim
 * of its zone; the rim is at t_min along the bone and one radius of the limb beside it.
 *
 * ZONES. By default t_min and t_max are 1.2 radii of the limb to both sides of the joint, times zone_scale, but not
 * beyond the middle of the parent's bone or of its own. With a scale of 1 the inner side of a bend then turns back on
 * itself from 137 degrees, and crosses itself from 100, on a tube of a fine mesh. Smoothstep is 1.5 times as steep in
 * the middle as linear, so that it turns back from the same angle with a scale of 1.5. Both ends are distances: n is a
 * unit vector, where that of the paper is as long as the bone. The radius is the median distance from the bone's line
 * of the vertices that are attached to the joint or its parent and lie between the middles of their bones; a quarter of
 * the bone if there are none.
 *
 * Joints without a parent are rigid. So are joints without a bone: those at the same place as their parent, their
 * children and their tail, see sbs/bones.h.
 */
#ifndef SBS_BLENDING_H
#define SBS_BLENDING_H

#include <sbs/bones.h>
#include <sbs/influences.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How t grows from t_min to t_max. */
typedef enum sbs_blending_profile {
  SBS_BLENDING_PROFILE_LINEAR = 0,    /* evenly, as in the paper */
  SBS_BLENDING_PROFILE_SMOOTHSTEP = 1 /* level at both ends */
} sbs_blending_profile;

/* A mesh and its skeleton in the bind pose, in which limbs should be straight. Only read during a call. */
typedef struct sbs_blending_desc {
  size_t vertex_count; /* V; 0 is SBS_ERROR_EMPTY */
  size_t joint_count;  /* J; 0 is SBS_ERROR_EMPTY */

  sbs_scalar scalar;            /* of rest_positions; all is computed in double */
  const void *rest_positions;   /* (V, 3), finite */
  size_t rest_positions_stride; /* bytes from vertex to vertex; 0: packed */

  const int32_t *parents;              /* (J), -1 for a root; in any order */
  const double *joint_positions;       /* (J, 3), finite; at bind, in the space of the mesh */
  const double *inverse_bind_matrices; /* (J, 3, 4), finite; A(j)^-1 without its last row */
  const double *tails;                 /* (J, 3), finite; where bones end; or NULL (default): as by sbs_bones_tails */

  const double *t_min; /* (J) in the joint's own unit of length; NaN: as above; or NULL (default): all as above */
  const double *t_max; /* (J) likewise */

  const unsigned char *blended; /* (J) not 0 where a joint is blended; or NULL (default): all that can be */
  const int32_t *attachment;    /* (V) joints, -1: does not move; or NULL (default): as above */

  /*
   * Of the same vertices and joints, or NULL (default); bad weights are repaired as by sbs_skin_new. With `blended`,
   * vertices with t of 0 or 1 keep their influences, except that the weights of joint and parent are merged: at t = 0
   * the parent gets both, at t = 1 the joint.
   */
  const sbs_influences_table *influences;

  sbs_blending_profile profile; /* default LINEAR */
  double zone_scale;            /* default ends of zones are this many times as far from the joint; 0 (default): 1 */
} sbs_blending_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_blending_desc sbs_default_blending_desc(void);

/* The result, in arrays of the caller, none of them NULL. A call that fails may have written them in part. */
typedef struct sbs_blending {
  int32_t *attachment;    /* (V) the joint that each vertex is attached to; -1: none, it does not move */
  double *t;              /* (V) 1 for vertices of joints that are not blended */
  double *t_min, *t_max;  /* (J) NaN for joints that are not blended; may be the arrays of the description */
  int32_t *joint_indices; /* (V, W), W from sbs_blending_width. Parent and joint; if vertices may keep influences, all
                             are by decreasing weight (ties: the lower joint). Index 0 where the weight is 0 */
  double *joint_weights;  /* (V, W) 1 - t and t */
  double *centers;        /* (V, 3) the position of the joint at bind; the vertex itself where it has no joint or keeps
                             its influences, so that it is blended linearly */
  unsigned char *keeps;   /* (V) 1 where a vertex keeps its influences, else 0 */
} sbs_blending;

/* W, how many influences a vertex gets: 2, or the width of the given influences if it may keep them. 0 for NULL. */
SBS_API size_t sbs_blending_width(const sbs_blending_desc *desc);

/*
 * Binds a mesh by bones blending. O(V K^2 + V log V) time; O(V J) without attachment and influences, or if all joints
 * have one parent.
 *
 *   desc       the mesh
 *   allocator  or NULL for malloc and free
 *   binding    the result
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, STRIDE, NOT_FINITE, JOINT_INDEX, PARENT, OUT_OF_MEMORY, CANCELLED; OPTION for an
 * unknown profile or a negative zone_scale, with the fault in "blended" for the first blended joint that has no parent
 * or no bone, and with the fault in "t_min" (limit: t_max) for the first joint whose t_min is not below its t_max.
 */
SBS_API sbs_status sbs_blending_bind(const sbs_blending_desc *desc, const sbs_allocator *allocator,
                                     const sbs_blending *binding, sbs_fault *fault);

/* The options of sbs_skin_deform for such a skin: spherical, the average of the rotations, about the centers. */
SBS_API sbs_deform_options sbs_blending_deform_options(void);

#ifdef __cplusplus
}
#endif

#endif
