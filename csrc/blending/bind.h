/* SPDX-License-Identifier: MIT */
/* The steps of sbs_blending_bind: bones, the joint of each vertex, and the zones in which t goes from 0 to 1. */
#ifndef SBS_BLENDING_BIND_H
#define SBS_BLENDING_BIND_H

#include "base/algebra.h"
#include "sbs/blending.h"
#include "sbs/mesh.h"

/* Checks a description, and that the result has all its arrays. */
sbs_status sbs_blending_validate(const sbs_blending_desc *desc, const sbs_blending *binding,
                                 const sbs_allocator *allocator, sbs_fault *fault);

/* The bone that starts at a joint, for bones blending. */
typedef struct sbs_bone {
  sbs_vec3 head, tail;  /* in the space of the mesh */
  sbs_vec3 direction;   /* n, in the joint's own axes; zero where there is no bone */
  double along[4];      /* the row vector n^T A(j)^-1: times (v, 1) it is t' */
  double before, after; /* lengths of the bone from the parent and of this one, in the joint's unit of length */
  int blendable;        /* whether the joint has a parent and a bone */
} sbs_bone;

/* Finds the bones (J) of a valid description. */
sbs_status sbs_bones_find(const sbs_blending_desc *desc, const sbs_allocator *allocator, sbs_bone *bones);

/* t' = <A(j)^-1 v, n>: how far along a bone a point is (Kavan & Zara 2003, section 3). */
static inline double sbs_bone_along(const sbs_bone *bone, sbs_vec3 point) {
  return point.x * bone->along[0] + point.y * bone->along[1] + point.z * bone->along[2] + bone->along[3];
}

/* The heaviest joint among the influences of each vertex, of equal ones the lowest; -1 if it has none. */
sbs_status sbs_attach_heaviest(const sbs_influences_table *influences, const sbs_allocator *allocator,
                               int32_t *attachment);

/* The joint whose bone is nearest to each vertex, of equal ones the lowest. */
sbs_status sbs_attach_nearest(const sbs_bone *bones, size_t joint_count, const sbs_mesh_desc *mesh,
                              int32_t *attachment);

/*
 * Moves vertices around a joint from its parent to the joint, in place.
 *
 *   parents  (J)
 *   active   (J) whether a joint is blended
 *   t_min    (J) where zones begin
 *   radii    (J) of the limbs
 */
sbs_status sbs_attach_onward(const sbs_bone *bones, const int32_t *parents, size_t joint_count,
                             const unsigned char *active, const double *t_min, const double *radii,
                             const sbs_mesh_desc *mesh, const sbs_allocator *allocator, int32_t *attachment);

/*
 * The radius of the limb at each joint, (J): the median distance from the bone's line of the vertices that are attached
 * to the joint or its parent and lie between the middles of their bones. A quarter of the bone if there are none, or if
 * the median is 0.
 */
sbs_status sbs_zones_radii(const sbs_blending_desc *desc, const sbs_bone *bones, const sbs_mesh_desc *mesh,
                           const int32_t *attachment, const sbs_allocator *allocator, double *radii);

/* The ends of the zones, (J) each: the given ones, or by the radii. They may be the arrays of the description. */
void sbs_zones_ends(const sbs_blending_desc *desc, const sbs_bone *bones, const double *radii, double *t_min,
                    double *t_max);

#endif
