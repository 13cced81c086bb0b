/* SPDX-License-Identifier: MIT */
/*
 * libsbs: bones blending. Conventions, threads and errors are those of sbs.h.
 *
 * A vertex v is attached to one joint j. How much of the joint's own rotation it follows depends on how far along the
 * bone it is:
 *
 *     t' = <A(j)^-1 v, n>                      Kavan & Zara 2003, section 3
 *     t  = (t' - t_min) / (t_max - t_min)      cut to 0 to 1
 *
 *     A(j)   the bind matrix of the joint
 *     n      the direction of the bone in the joint's own axes, of length 1
 *     t_min  the t' up to which the parent's rotation alone is applied
 *     t_max  the t' from which on the joint's own alone is
 *
 *   Kavan, L. and Zara, J. 2003. Real Time Skin Deformation with Bones Blending. WSCG Short Papers.
 *
 * In terms of v' = Q (v - c) + sum_i w_i C_i c, see sbs.h, such a vertex has the influences (parent of j, 1 - t) and
 * (j, t), Q is the spherical interpolation of both rotations, and c the position of j. So what is bound here is an
 * ordinary skin: its joint_indices, joint_weights and centers are those of sbs_skin_desc, and
 * sbs_blending_deform_options has the options of sbs_skin_deform that go with it.
 *
 * ATTACHMENT. All that should bend with a joint belongs to it, on both sides of it. Where the caller does not say, a
 * vertex goes with its heaviest influence, or without any to the nearest bone. Then each joint takes over from its
 * parent: of the parent's children the one whose position is nearest to a vertex gets it, if that one is blended, the
 * vertex is beyond t_min, and within twice the distance from the joint to the rim of its zone, which is at t_min along
 * the bone and one radius of the limb beside it.
 *
 * ZONES. By default t_min and t_max are 1.2 radii of the limb to both sides of the joint, with which the inner side of
 * a bend by up to 137 degrees does not fold; but not beyond the middle of the parent's bone or of the own. The radius
 * is the median distance from the line of the bone of what is attached to the joint or its parent, as far as the
 * middles of their bones; a quarter of the bone where that is nothing.
 *
 * Joints without a parent are rigid. So are those without a bone: at the place of their parent, their children and
 * their tail, see sbs/bones.h.
 */
#ifndef SBS_BLENDING_H
#define SBS_BLENDING_H

#include <sbs/bones.h>
#include <sbs/influences.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mesh and its skeleton in the bind pose, in which limbs should be stretched. Only read while a call lasts. */
typedef struct sbs_blending_desc {
  size_t vertex_count; /* V; 0 is SBS_ERROR_EMPTY */
  size_t joint_count;  /* J; 0 is SBS_ERROR_EMPTY */

  sbs_scalar scalar;            /* of rest_positions; all is computed in double */
  const void *rest_positions;   /* (V, 3), finite */
  size_t rest_positions_stride; /* bytes from vertex to vertex; 0: packed */

  const int32_t *parents;              /* (J), -1 for a root; in any order */
  const double *joint_positions;       /* (J, 3), finite; at bind, in the space of the mesh */
  const double *inverse_bind_matrices; /* (J, 3, 4), finite; A(j)^-1 without its last row */
  const double *tails; /* (J, 3), finite; where bones end; or NULL (default): as sbs_bones_tails has it */

  const double *t_min; /* (J) in the joint's own unit of length; NaN, or NULL (default) for all: as said above */
  const double *t_max; /* (J) likewise */

  const unsigned char *blended; /* (J) not 0 where a joint is blended; or NULL (default): all that can be */
  const int32_t *attachment;    /* (V) joints, -1: does not move; or NULL (default): as said above */
  const sbs_influences_table
      *influences; /* of the same vertices and joints, or NULL (default); what is bad among them is
                                          repaired as by sbs_skin_new. With `blended`, vertices keep them where t is not
                                          between 0 and 1, but that one of the pair has the weight of both: where t is 0
                                          the joint's goes to its parent, and where it is 1 the other way */
} sbs_blending_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_blending_desc sbs_default_blending_desc(void);

/* What is found. The caller's arrays, none of them NULL; written by calls that succeed, and in part by others. */
typedef struct sbs_blending {
  int32_t *attachment;    /* (V) the joint that each vertex is attached to; -1: none, it does not move */
  double *t;              /* (V) 1 for vertices of joints that are not blended */
  double *t_min, *t_max;  /* (J) NaN for joints that are not blended; may be those of the description */
  int32_t *joint_indices; /* (V, W), W as sbs_blending_width says. Parent and joint; where vertices may keep influences
                             all are by decreasing weight (ties: the lower joint); index 0 where the weight is 0 */
  double *joint_weights;  /* (V, W) 1 - t and t */
  double *centers;      /* (V, 3) the position of the joint at bind; the vertex itself where it is attached to none, or
                             keeps its influences, which makes linear blending of the formula */
  unsigned char *keeps; /* (V) 1 where a vertex keeps its influences, else 0 */
} sbs_blending;

/* How many influences a vertex gets: 2, or as many as it has where it may keep them. 0 for NULL. */
SBS_API size_t sbs_blending_width(const sbs_blending_desc *desc);

/*
 * Binds a mesh by bones blending. O(V K^2 + V log V) time, and O(V J) where there are neither attachment nor
 * influences, or all joints have one parent.
 *
 *   desc       the mesh
 *   allocator  or NULL for malloc and free
 *   binding    what is found
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, STRIDE, NOT_FINITE, JOINT_INDEX, PARENT, OUT_OF_MEMORY, CANCELLED; OPTION with the
 * fault in "blended" for the first joint there that has no parent or no bone, and with the fault in "t_min" (value: it,
 * limit: t_max) for the first joint where it is not below t_max.
 */
SBS_API sbs_status sbs_blending_bind(const sbs_blending_desc *desc, const sbs_allocator *allocator,
                                     const sbs_blending *binding, sbs_fault *fault);

/* The options with which a skin of joint_indices, joint_weights and centers is deformed: spherical, the average of the
 * rotations, about the centers. */
SBS_API sbs_deform_options sbs_blending_deform_options(void);

#ifdef __cplusplus
}
#endif

#endif
