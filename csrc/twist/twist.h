/* SPDX-License-Identifier: MIT */
#ifndef SBS_TWIST_TWIST_H
#define SBS_TWIST_TWIST_H

#include "mesh/vec3.h"
#include "sbs/twist.h"

/* A limb bone. */
typedef struct sbs_twist_bone {
  int32_t joint, parent, child;
  sbs_vec3 head;
  sbs_vec3 axis; /* n, of length 1 */
  double length;
} sbs_twist_bone;

struct sbs_twist {
  sbs_allocator allocator;
  size_t joint_count;
  size_t bone_count;
  size_t frames; /* per bone */
  int smooth;
  sbs_twist_bone *bones;
  int32_t *bone_of_joint; /* (joint_count) -1 where there is none */
};

/* The number of a bone's first frame among all joints. */
static inline size_t sbs_twist_first_frame(const sbs_twist *twist, size_t bone) {
  return twist->joint_count + bone * twist->frames;
}

#endif
