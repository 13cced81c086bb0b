/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_CENTER_H
#define SBS_POSE_CENTER_H

#include "pose/joint.h"
#include "skin/skin.h"

/*
 * The rotation center of a joint set in a pose (Kavan & Zara 2005, section 4) is, of the points c0 + z, the one that
 * the set's joints move most alike; c0 is the set's centroid. The pairs of joints say
 *
 *     D_i z = e_i     D_i = A_i - mean A     e_i = mean p - p_i     p_i = C_i c0     for every joint i of n
 *
 * since sum_{a<b} |x_a - x_b|^2 = n sum_i |x_i - mean x|^2: with the weight 2 / (n - 1) the squares sum to the mean
 * over the pairs.
 *
 * They are solved damped: z = argmin of those squares + damping |z|^2. pose/solve_centers.c does so for many sets at once, by
 * normal equations. Here is the singular value decomposition: the paper's way, and the way out where those would lose
 * too much.
 */

/* Doubles of workspace for sets of up to max_influences joints. */
size_t sbs_center_work_size(size_t max_influences);

/*
 *   damping, rcond  if rcond is 0, damped as above; else of minimal length without singular values up to 1e-5, and
 *                   those up to rcond times the largest
 *   work            (sbs_center_work_size)
 *   z               receives the center, relative to the centroid
 *
 * Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_solve_center(const sbs_skin *skin, size_t set, const sbs_joint *joints, double damping, double rcond,
                            double *work, sbs_vec4 *z);

#endif
