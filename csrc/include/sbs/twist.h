/* SPDX-License-Identifier: MIT */
/*
 * libsbs: the twist of a limb spread along its bone. A real forearm twists evenly from the elbow to the wrist; with
 * weights alone, all of the twist is between the few vertices that two joints share. Conventions, threads and errors
 * are those of sbs.h; numbers but rest positions are up to SBS_LARGEST.
 *
 * For a limb bone p with the direction n through its head, let a be the joint's own twist, that of its rotation
 * relative to its parent about n, and b that of its child's rotation relative to it, about the same n. A vertex at the
 * share t of the bone, 0 at the head and 1 at the tail, is turned about the bone, in bind space, before joint p moves
 * it:
 *
 *     C_p(t) = C_p T(-a (1 - t) + b t),    T(x) the rotation by x about the line through the head along n.
 *
 * So at the head it follows the parent's twist, at the tail the child's; the swing of p is the same along the whole
 * bone. Bones blending (Kavan and Zara 2003, section 3) also blends rotations of a joint and its parent along the bone,
 * but whole rotations, and without weights.
 *
 * HOW. A skin that is made with a twist (sbs_skin_desc) has `frames_per_bone` more joints for each bone, C_p(0) to
 * C_p(1) at equal steps, and a vertex's weight of p is shared by the two that its t is between. Any method of sbs.h
 * then blends them as it blends all joints. Nothing else is different: the matrices of a pose belong to the
 * skeleton, for sbs_skin_deform and all other functions, and influences are (V, K) as given. What the skin computes
 * with can also be had by itself, to write it to files for programs that know no twist: sbs_twist_influences and
 * sbs_twist_pose.
 *
 * Spherical blending, eq. (9) of sbs.h within the bone, blends the two on the arc: the limb keeps its radius, and the
 * rings of a straight tube turn in proportion to t up to the difference of QLERP and SLERP, 0.2 degrees for 4 frames in
 * a twist by 170. With linear blending a limb loses 1 - cos(x / 2) of its radius where two frames differ by x. Frames
 * that differ by more than half a turn are blended in the wrong direction, so a + b may be at most frames_per_bone - 1
 * half turns; without history it is at most two.
 *
 * Smooth twist is such a skin about optimized centers (centers.h, found with a sigma of 1), with an amount of 1 along
 * limbs and of .35 where bones meet: docs/twist.md has the formula.
 */
#ifndef SBS_TWIST_H
#define SBS_TWIST_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The default number of frames of a bone: they differ by at most 120 degrees, and by 57 in a twist by 170. */
#define SBS_TWIST_FRAMES 4

typedef struct sbs_twist_desc {
  size_t joint_count;      /* J of the skeleton; 0 is SBS_ERROR_EMPTY */
  size_t bone_count;       /* B; 0: no twist, of a skeleton without limbs. Then the arrays may be NULL */
  const int32_t *joints;   /* (B) the joint p of each bone, in [0, J), each once */
  const int32_t *parents;  /* (B) the joint that its own twist is relative to, in [-1, J); -1: it has no twist, a = 0 */
  const int32_t *children; /* (B) or NULL; the joint whose twist is spread along it, too, in [-1, J); -1: none, b = 0 */
  const double *heads;     /* (B, 3) at bind, finite, in the space of the mesh */
  const double *tails;     /* (B, 3), finite; within 1e-140 of the head it is SBS_ERROR_OPTION */
  size_t frames_per_bone;  /* from 2; 0: SBS_TWIST_FRAMES */
  int smooth;              /* not 0: shares are 3 t^2 - 2 t^3 in place of t */
} sbs_twist_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_twist_desc sbs_default_twist_desc(void);

/* Bones along which a twist is spread. Immutable. A skin keeps its own copy. */
typedef struct sbs_twist sbs_twist;

/*
 * Makes a twist.
 *
 *   desc       the bones; may be released afterwards
 *   allocator  or NULL for malloc and free
 *   twist      receives the result; release it by sbs_twist_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, JOINT_INDEX (a joint out of range, or one that has two bones), PARENT (a
 * parent out of range or the joint itself), OPTION, OUT_OF_MEMORY.
 */
SBS_API sbs_status sbs_twist_new(const sbs_twist_desc *desc, const sbs_allocator *allocator, sbs_twist **twist,
                                 sbs_fault *fault);

/* Releases a twist. NULL does nothing. No other thread may be using it. */
SBS_API void sbs_twist_free(sbs_twist *twist);

/* J', the number of joints with the frames: J + B frames_per_bone. 0 for NULL. */
SBS_API size_t sbs_twist_joint_count(const sbs_twist *twist);

/*
 * Finds influences with the frames: K of a vertex become 2 K. Bad weights are passed on, for sbs_skin_new to repair.
 * O(V K) time; a part of a mesh may be given by itself.
 *
 *   vertex_count           V; 0 does nothing
 *   scalar                 of rest_positions
 *   rest_positions         (V, 3), finite
 *   stride                 bytes from vertex to vertex; 0: packed
 *   influences_per_vertex  K; any number from 1
 *   joint_indices          (V, K), each in [0, J)
 *   weight_scalar          of joint_weights
 *   joint_weights          (V, K)
 *   shares                 (V, K) or NULL: found from positions; where along the bone each vertex is, for influences of
 *                          joints with a bone, in [0, 1]. `smooth` does not apply to them
 *   new_joint_indices      (V, 2 K), below J'; padded with index 0 and weight 0
 *   new_joint_weights      (V, 2 K)
 *   fault                  or NULL
 *
 * Errors: NULL, EMPTY, OPTION (a share out of range, an unknown scalar), STRIDE, NOT_FINITE, JOINT_INDEX, CANCELLED.
 */
SBS_API sbs_status sbs_twist_influences(const sbs_twist *twist, size_t vertex_count, sbs_scalar scalar,
                                        const void *rest_positions, size_t stride, size_t influences_per_vertex,
                                        const int32_t *joint_indices, sbs_scalar weight_scalar,
                                        const void *joint_weights, const double *shares, int32_t *new_joint_indices,
                                        double *new_joint_weights, sbs_fault *fault);

/*
 * The twist of a rotation about an axis: the angle of its quaternion without the part across the axis (swing and
 * twist). Of the angles that differ by whole turns it is the nearest to `expected`; 0 for the shorter direction. If the
 * rotation is half a turn about a perpendicular axis, the twist is not determined, and the result is `expected`.
 *
 *   quaternion  (w, x, y, z), of any length but 0 and either sign
 *   axis        (3), of length 1
 *   expected    finite
 */
SBS_API double sbs_twist_angle(const double *quaternion, const double *axis, double expected);

/*
 * Finds the twists a and b of each bone in a pose, from the rotations R if joints are not rigid (see sbs_pose).
 *
 * Without history a twist is at most half a turn, in the shorter direction: from 179 to 181 degrees it jumps to -179.
 * With history, the angles of the frame before, nothing jumps as long as no joint turns by half a turn or more from one
 * frame to the next. `previous` and `angles` may be one array, which then follows a motion.
 *
 *   pose      of J joints
 *   previous  (B, 2) or NULL, finite
 *   angles    (B, 2) a and b, radians
 *   fault     or NULL
 *
 * Errors: NULL, NOT_FINITE, TOO_LARGE, NOT_AFFINE, OPTION, CANCELLED; NO_CONVERGENCE, after which outputs are
 * undefined.
 */
SBS_API sbs_status sbs_twist_angles(const sbs_twist *twist, const sbs_pose *pose, const double *previous,
                                    double *angles, sbs_fault *fault);

/*
 * Finds the skinning matrices of all joints in a pose: first the joints of the skeleton, then the frames. Without any
 * twist the matrices of frames are exactly those of their joints.
 *
 *   pose      of J joints
 *   angles    (B, 2) or NULL, finite; NULL: as by sbs_twist_angles without history
 *   matrices  (J', 3, 4)
 *   fault     or NULL
 *
 * Errors: as sbs_twist_angles.
 */
SBS_API sbs_status sbs_twist_pose(const sbs_twist *twist, const sbs_pose *pose, const double *angles, double *matrices,
                                  sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
