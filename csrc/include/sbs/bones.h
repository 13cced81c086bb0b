/* SPDX-License-Identifier: MIT */
/*
 * libsbs: bones, the segments that joints move. Files of joints, which are points, do not tell where bones end; this is
 * the one definition of it here, for bones blending, capsules and heat alike. Conventions, threads and errors are those
 * of sbs.h.
 *
 * A bone goes from its joint to its child. Of several children it goes to their mean, each counted with all the joints
 * that hang on it, itself included: so an upper arm ends near the elbow and not halfway to a twist joint, and a pelvis
 * reaches up into the trunk and not to the middle between spine and thighs, which is next to itself. Children at the
 * place of the joint do not count. Where none is left, or the mean of those left is the joint's own place, the bone
 * goes on as that of the parent came: by the step from the parent, or where parent and joint are at one place by the
 * parent's own bone again.
 *
 * Joints are at one place where they are nearer to each other than 1e-6 of the diagonal of the box around all joints.
 */
#ifndef SBS_BONES_H
#define SBS_BONES_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where the bone of each joint ends. O(J) time.
 *
 *   joint_count      J; 0 is SBS_ERROR_EMPTY
 *   parents          (J) the parent of each joint, -1 for a root; in any order
 *   joint_positions  (J, 3) at bind, finite: the heads of the bones
 *   allocator        or NULL for malloc and free
 *   tails            (J, 3), in the space of the positions; equal to the head where neither children nor parents give
 *                    a direction. Not joint_positions
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
