/* SPDX-License-Identifier: MIT */
#ifndef SBS_TWIST_TWIST_H
#define SBS_TWIST_TWIST_H

#include "base/algebra.h"
#include "base/isa.h"
#include "base/scalar.h"
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
  sbs_isa isa; /* of the functions for poses */
  size_t joint_count;
  size_t bone_count;
  size_t frames; /* per bone */
  int smooth;
  sbs_twist_bone *bones;
  int32_t *bone_of_joint; /* (joint_count) -1 where there is none */
};

/* The part of the twist in a unit quaternion: below this, rounding alone would decide its direction. */
#define SBS_NO_TWIST 1e-12

/* A twist of no bones is none: NULL, as for NULL. */
static inline const sbs_twist *sbs_twist_with_bones(const sbs_twist *twist) {
  return twist && twist->bone_count ? twist : NULL;
}

sbs_status sbs_twist_copy(const sbs_twist *twist, const sbs_allocator *allocator, sbs_twist **copy);

/* Bytes of the copied arrays. */
size_t sbs_twist_memory(const sbs_twist *twist);

/* Whether two twists, either of which may be NULL, are of the same bones. */
int sbs_twist_equal(const sbs_twist *a, const sbs_twist *b);

/* The number of a bone's first frame among all joints. */
static inline size_t sbs_twist_first_frame(const sbs_twist *twist, size_t bone) {
  return twist->joint_count + bone * twist->frames;
}

/* The point that tells where along bones a vertex is. */
static inline sbs_vec3 sbs_twist_point(const sbs_skin_desc *desc, size_t vertex) {
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : 3 * sbs_scalar_size(desc->scalar);
  const void *positions = desc->twist_positions ? desc->twist_positions : desc->rest_positions;
  const void *position = (const char *)positions + vertex * stride;
  return (sbs_vec3){sbs_scalar_get(position, desc->scalar, 0), sbs_scalar_get(position, desc->scalar, 1),
                    sbs_scalar_get(position, desc->scalar, 2)};
}

/* Where along a bone a point is, 0 to 1; `slope`, unless NULL, receives the derivative by the point. */
double sbs_twist_share_at(const sbs_twist *twist, const sbs_twist_bone *bone, sbs_vec3 point, double slope[3]);

/* The frame below a share, and how far above it that is, 0 to 1. */
size_t sbs_twist_frame_below(const sbs_twist *twist, double share, double *above);

/*
 * Finds parents and positions of the frames, for a skin: then rotation centers of two frames of one bone, and of a limb
 * and its parent, are known without a solve. A frame's parent is the frame before it. That of the first is the last
 * frame of the parent's bone, or the parent. The parent of joints at the tail of a bone is its last frame.
 *
 *   parents              (J) or NULL; then new_parents must be NULL, too
 *   joint_positions      (J, 3)
 *   new_parents          (J') or NULL
 *   new_joint_positions  (J', 3); that of a frame is halfway between its place on the bone and that of the one before
 *
 * Errors: NOT_FINITE, TOO_LARGE, PARENT, OUT_OF_MEMORY.
 */
sbs_status sbs_twist_joints(const sbs_twist *twist, const int32_t *parents, const double *joint_positions,
                            int32_t *new_parents, double *new_joint_positions, sbs_fault *fault);

/*
 * Shares the weight of a joint among the two frames that a point on its bone is between. A joint without a bone keeps
 * it, and the second weight is 0.
 */
void sbs_twist_spread(const sbs_twist *twist, int32_t joint, double weight, sbs_vec3 point, int32_t joints[2],
                      double weights[2]);

/* The arguments of sbs_twist_influences. */
sbs_status sbs_twist_check_influences(const sbs_twist *twist, size_t vertex_count, sbs_scalar scalar,
                                      const void *rest_positions, size_t stride, size_t columns,
                                      const int32_t *joint_indices, sbs_scalar weight_scalar, const void *joint_weights,
                                      const double *shares, sbs_fault *fault);

#endif
