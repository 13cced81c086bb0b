/* SPDX-License-Identifier: MIT */
#ifndef SBS_BLENDING_BONES_H
#define SBS_BLENDING_BONES_H

#include "base/algebra.h"
#include "sbs/blending.h"

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

#endif
