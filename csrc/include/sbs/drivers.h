/* SPDX-License-Identifier: MIT */
/*
 * libsbs: drivers, which find weights of poses from skinning matrices: how near joints are to each of the poses. They
 * drive the shapes of sbs/shapes.h, or anything else. Conventions, threads and errors are those of sbs.h.
 *
 * COORDINATES. The rotation of joint j relative to the joint p that it turns against, as the rest pose sees it, is
 * R_p^T R_j, and 1 at rest. It is a twist about the bone, and then a swing about an axis across it. A joint's
 * coordinates are three numbers in radians, in the axes of the rest pose: the rotation vector of the swing, the twist
 * angle times the direction of the bone, or their sum, which are at right angles. Those of a driver x are those of all
 * its joints, one after the other. All are 0 at rest.
 *
 * WEIGHTS. Pose k, at the coordinates x_k, has the function
 *
 *     f_k(x) = min(s, |x_k|) cos^2 a,    s = |x| cos a,
 *
 * a being the angle between x and x_k; where its cosine is negative, f_k is 0. So it rises evenly from the rest pose to
 * the pose, is constant beyond, and fades out to 0 in directions at right angles: an elbow that bends the other way has
 * nothing of the shape, one that bends further all of it. Weights are the combinations of the functions of a driver
 * that are 1 at one pose and 0 at the others,
 *
 *     w = F^-T f(x),    F_ik = f_k(x_i),
 *
 * so that of poses in one direction each fades in from the one before, and out to the next. Corners of f_k are rounded
 * by d = 0.05, or a quarter of the least |x_k| of the driver if that is less: s by s^2 / (4 d) up to 2 d and s - d
 * beyond, the minimum of v and u by v - (v - u + d)^2 / (4 d) where they differ by less than d. Weights are 0 at rest,
 * and have continuous derivatives but where a joint is half a turn from rest. Rounding leaves them some hundredths
 * below 0 and above 1 beside poses and beyond the last.
 *
 * Radial basis functions, which other programs use, were not taken: they give a pose part of its weight on the other
 * side of the rest pose, and fade out beyond it. Ramps that are smooth all along, 3 t^2 - 2 t^3, swing to -0.4 between
 * three poses of one direction, where these stay above -0.03.
 */
#ifndef SBS_DRIVERS_H
#define SBS_DRIVERS_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What of a rotation drives. */
typedef enum sbs_driver_part {
  SBS_DRIVER_SWING = 0,
  SBS_DRIVER_TWIST = 1,
  SBS_DRIVER_BOTH = 2
} sbs_driver_part;

/* Joints whose rotations drive, and their poses. N is driver_offsets[D], the number of joints of all drivers. */
typedef struct sbs_drivers_desc {
  size_t joint_count;           /* J of the skeleton; 0 is SBS_ERROR_EMPTY */
  size_t driver_count;          /* D; 0 is SBS_ERROR_EMPTY */
  const size_t *driver_offsets; /* (D + 1) where the joints of each driver start; from 0 on, strictly ascending */
  const int32_t *joints;        /* (N) in [0, J) */
  const int32_t *parents;       /* (N) the joint that each turns against, in [-1, J); -1: the model */
  const double *axes;           /* (N, 3) the direction of each joint's bone at bind, of any length but 0 */
  const sbs_driver_part *parts; /* (D) or NULL: SBS_DRIVER_SWING */

  size_t pose_count;           /* P; 0 is SBS_ERROR_EMPTY */
  const int32_t *pose_drivers; /* (P) the driver of each pose, in [0, D) */
  /*
   * Of each pose, one after the other, three numbers for each joint of its driver, as sbs_drivers_coordinates finds
   * them. Two poses of a driver that are too near each other, or one too near the rest pose, are SBS_ERROR_OPTION.
   */
  const double *coordinates;
} sbs_drivers_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_drivers_desc sbs_default_drivers_desc(void);

/* Joints that drive and their poses. Immutable. */
typedef struct sbs_drivers sbs_drivers;

/*
 * Makes drivers. O(P n^2) time for n poses of a driver.
 *
 *   desc       may be released afterwards
 *   allocator  or NULL for malloc and free
 *   drivers    receives the result; release it by sbs_drivers_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, JOINT_INDEX, PARENT (out of range, or the joint itself), OPTION,
 * OUT_OF_MEMORY.
 */
SBS_API sbs_status sbs_drivers_new(const sbs_drivers_desc *desc, const sbs_allocator *allocator, sbs_drivers **drivers,
                                   sbs_fault *fault);

/* Releases drivers. NULL does nothing. No other thread may be using them. */
SBS_API void sbs_drivers_free(sbs_drivers *drivers);

/* P; 0 for NULL. */
SBS_API size_t sbs_drivers_pose_count(const sbs_drivers *drivers);

/*
 * Finds the coordinates of all drivers in a pose, from the rotations R if joints are not rigid (see sbs_pose).
 *
 *   pose         of J joints
 *   coordinates  (N, 3)
 *   fault        or NULL
 *
 * Errors: those of a pose (sbs_skin_deform), TOO_LARGE beyond SBS_LARGEST, NO_CONVERGENCE, INTERNAL.
 */
SBS_API sbs_status sbs_drivers_coordinates(const sbs_drivers *drivers, const sbs_pose *pose, double *coordinates,
                                           sbs_fault *fault);

/*
 * Finds the weights of all poses in several frames.
 *
 *   poses    of J joints, `frame_count` times
 *   weights  (frame_count, P)
 *   fault    or NULL
 *
 * Errors: as sbs_drivers_coordinates, and CANCELLED.
 */
SBS_API sbs_status sbs_drivers_weights(const sbs_drivers *drivers, size_t frame_count, const sbs_pose *poses,
                                       double *weights, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
