/* SPDX-License-Identifier: MIT */
/*
 * libsbs: drivers, which find weights of poses from skinning matrices: how near joints are to each of the poses. They
 * drive the shapes of sbs/shapes.h, or anything else. Conventions, threads and errors are as in sbs.h.
 *
 * COORDINATES. The rotation of joint j relative to the joint p that it turns against, as the rest pose sees it, is
 * R_p^T R_j, and 1 at rest. It is a twist about the bone, and then a swing about an axis across it. A joint's
 * coordinates are three numbers in radians, in the axes of the rest pose: the rotation vector of the swing, the twist
 * angle times the direction of the bone, or their sum, which are at right angles. The coordinates x of a driver are
 * those of all its joints, one after the other. All are 0 at rest.
 *
 * WEIGHTS. Let c_k(x) be the squared cosine of the angle between x and pose k, at the coordinates x_k; 0 beyond a right
 * angle. The ramp h is 0 below 0, 128 t^2 / 15 up to 1/16, (32 t - 1) / 30 up to 1/2, and 1 - h(1 - t) beyond: a line
 * with round ends. All poses of a driver together are reached by
 *
 *     s(x) = sum_k h(<x, x_k> / |x_k|^2) c_k(x),
 *
 * so a shape rises evenly from the rest pose to its pose, is constant beyond, and fades out to 0 in directions at right
 * angles: an elbow that bends the other way has nothing of the shape, one that bends further all of it. The poses share
 * this sum by
 *
 *     q_k = c_k / (1 + sqrt(sum_j (u_kj / (1 - u_kj))^2)),
 *     u_kj = h(<x - x_k, x_j - x_k> / |x_j - x_k|^2) (c_j + c_j(x_k) (1 - c_j)),
 *
 * the sum being over all other poses of the driver, and q_k 0 if a u_kj is 1. So each fades out to its neighbors; of
 * poses in one direction each comes in from the one before. As s counts poses of nearly one direction several times, it
 * is divided by its values at the poses:
 *
 *     w_k = l(s sum_i q_i / sum_i (s(x_i) q_i)) q_k / sum_i q_i,
 *
 * where l(t) is t up to 1, t - (t - 1)^2 / 0.4 up to 1.2, and 1.1 beyond.
 *
 * A weight is 1 at its own pose, 0 at the others and at rest, and nowhere negative; the sum of those of a driver is at
 * most 1.1, however many poses there are, and however near each other. Weights have continuous derivatives, but where a
 * joint is half a turn from rest: its coordinates jump to the other side there, and weights with them.
 *
 * Combinations of radial basis functions or others, which are 1 at one pose and 0 at others, were not taken: between
 * and around poses that are near each other they swing far below 0 and above 1.
 */
#ifndef SBS_DRIVERS_H
#define SBS_DRIVERS_H

#include <sbs/sbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The part of a rotation that drives. */
typedef enum sbs_driver_part {
  SBS_DRIVER_SWING = 0,
  SBS_DRIVER_TWIST = 1,
  SBS_DRIVER_BOTH = 2
} sbs_driver_part;

/* The most poses of a driver. */
#define SBS_DRIVER_MOST_POSES 2048

/* Joints whose rotations drive, and their poses. N is driver_offsets[D], the number of joints of all drivers. */
typedef struct sbs_drivers_desc {
  size_t joint_count;           /* J of the skeleton; 0 is SBS_ERROR_EMPTY */
  size_t driver_count;          /* D; 0 is SBS_ERROR_EMPTY */
  const size_t *driver_offsets; /* (D + 1) where the joints of each driver start; from 0 on, strictly ascending */
  const int32_t *joints;        /* (N) in [0, J); one twice in a driver is SBS_ERROR_OPTION */
  const int32_t *parents;       /* (N) the joint that each turns against, in [-1, J); -1: the model */
  const double *axes;           /* (N, 3) the direction of each joint's bone at bind, of any length but 0 */
  const sbs_driver_part *parts; /* (D) or NULL: SBS_DRIVER_SWING */

  size_t pose_count;           /* P; 0 is SBS_ERROR_EMPTY */
  const int32_t *pose_drivers; /* (P) the driver of each pose, in [0, D); up to SBS_DRIVER_MOST_POSES of one */
  /*
   * Of each pose, one after the other, three numbers for each joint of its driver, as sbs_drivers_coordinates finds
   * them. A pose nearer than 0.001 to another of its driver, or to the rest pose, is SBS_ERROR_OPTION.
   */
  const double *coordinates;
} sbs_drivers_desc;

/* A description with everything zero or NULL. */
SBS_API sbs_drivers_desc sbs_default_drivers_desc(void);

/* Joints that drive and their poses. Immutable. */
typedef struct sbs_drivers sbs_drivers;

/*
 * Makes drivers. O(n^2) time and memory for n poses of a driver: 2,048 take 32 MB, and their weights in a pose some
 * tens of milliseconds.
 *
 *   desc       may be released afterwards
 *   allocator  or NULL for malloc and free
 *   drivers    receives the result; release it by sbs_drivers_free
 *   fault      or NULL
 *
 * Errors: NULL, EMPTY, TOO_LARGE, NOT_FINITE, JOINT_INDEX, PARENT (out of range, or the joint itself), OPTION,
 * OUT_OF_MEMORY, CANCELLED.
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
 * Errors: as of a pose (sbs_skin_deform), TOO_LARGE beyond SBS_LARGEST; NO_CONVERGENCE and INTERNAL, which no known
 * input causes, after which coordinates are written in part.
 */
SBS_API sbs_status sbs_drivers_coordinates(const sbs_drivers *drivers, const sbs_pose *pose, double *coordinates,
                                           sbs_fault *fault);

/*
 * Finds the weights of all poses in several frames, one after the other.
 *
 *   poses    of J joints, `frame_count` times
 *   weights  (frame_count, P)
 *   fault    or NULL
 *
 * Errors: as sbs_drivers_coordinates, OUT_OF_MEMORY; CANCELLED. After that and after NO_CONVERGENCE or INTERNAL, the
 * weights of the frames before are written, and no others.
 */
SBS_API sbs_status sbs_drivers_weights(const sbs_drivers *drivers, size_t frame_count, const sbs_pose *poses,
                                       double *weights, sbs_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
