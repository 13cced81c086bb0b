/* SPDX-License-Identifier: MIT */
/*
 * libsbs: bones, the segments that joints move. A skeleton of joints says where bones begin but not where they end.
 * Bones blending, capsules and heat all use the ends defined here. Conventions, threads and errors are as in sbs.h.
 *
 * A bone goes from its joint to the child. With several children it goes to their mean, each weighted by how many
 * joints are below it, itself included. So an upper arm ends near the elbow and not halfway to a twist joint, and a
 * pelvis reaches up into the trunk and not to the middle between spine and thighs, which is next to it. Children at the
 * joint's own place do not count. If none is left, or their mean is the joint's own place, the bone continues that of
 * the parent: it goes as far again as from the parent to the joint, or, if they are at one place, as the parent's bone.
 *
 * Joints are at one place if they are nearer to each other than 1e-6 of the diagonal of the box around all joints.
 */
#ifndef SBS_BONES_H
#define SBS_BONES_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds where the bone of each joint ends. O(J) time.
 *
 *   joint_count      J; 0 is SBS_ERROR_EMPTY
 *   parents          (J) the parent of each joint, -1 for a root; in any order
 *   joint_positions  (J, 3) at bind, finite: the heads of the bones
 *   allocator        or NULL for malloc and free
 *   tails            (J, 3), in the space of the positions; equal to the head if neither children nor parents give a
 *                    direction. Must not be joint_positions
 *   fault            or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, PARENT, OUT_OF_MEMORY.
 */
SBS_API sbs_status sbs_bones_tails(size_t joint_count, const int32_t *parents, const double *joint_positions,
                                   const sbs_allocator *allocator, double *tails, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
