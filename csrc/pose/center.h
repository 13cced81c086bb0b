/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_CENTER_H
#define SBS_POSE_CENTER_H

#include "pose/batches.h"

/*
 * The rotation center of a joint set in a pose (Kavan & Zara 2005, section 4) is, of the points c0 + z, the one that
 * the set's joints move most alike; c0 is the set's centroid. The pairs of joints say
 *
 *     D_i z = e_i     D_i = R_i - mean R     e_i = mean p - p_i     p_i = C_i c0     for every joint i of n
 *
 * since sum_{a<b} |x_a - x_b|^2 = n sum_i |x_i - mean x|^2: with the weight 2 / (n - 1) the squares sum to the mean
 * over the pairs.
 *
 * Joints that stretch have no such point near by: A_a - A_b may be as small as the stretches, or vanish in a direction
 * in which the blended rotation does not, and points that they move alike lie anywhere, thousands of sizes away. So a
 * joint is approximated around a point f: it carries f to p_i = C_i f, stretches v - f by S_i, and turns the result by
 * R_i. The equations are the same as for rigid [R_i | p_i], as well conditioned, and
 *
 *     v' = Q (sum w_i S_i (v - f) - z) + sum w_i (R_i z + p_i)
 *
 * which is formula (9) where all S_i are 1, whatever f. The reference point f of a joint and its parent is where the
 * joint sits, which they move alike if it does not slide: there z is 0, and nothing jumps where it starts to. Of
 * other sets it is the mean of where their joints sit: a shape that was sculpted on a pose keeps its f, and so comes
 * back as it was. Only where the skin does not know is it c0.
 *
 * They are solved damped: z = argmin of those squares + damping |z|^2. pose/solve_centers.c does so for many sets at
 * once, by normal equations. Here is the singular value decomposition: the paper's way, and the way out where those
 * would lose too much.
 */

/* Whether one of a set's joints stretches, so that it matters where f is. */
static inline int sbs_is_stretched(const sbs_skin *skin, size_t set, const unsigned char *kinds) {
  unsigned all = 0;
  for (size_t k = skin->set_offsets[set]; k < skin->set_offsets[set + 1]; k++) all |= kinds[skin->set_joints[k]];
  return (all & SBS_JOINT_NONRIGID) != 0;
}

/* f - c0 of a set that is stretched; of one that is not, it is of no account and zero. */
SBS_VEC4_INLINE sbs_vec4 sbs_reference_point(const sbs_skin *skin, size_t set) {
  sbs_vec4 sum = {0.0};
  if (!skin->joint_positions) return sum;
  const double *c0 = skin->set_centroids + 3 * set;
  const int32_t child = skin->set_children[set],
                *joints = child < 0 ? skin->set_joints + skin->set_offsets[set] : &child;
  const size_t count = child < 0 ? sbs_set_size(skin, set) : 1;
  for (size_t k = 0; k < count; k++) {
    const double *p = skin->joint_positions + 3 * joints[k];
    sum += (sbs_vec4){p[0], p[1], p[2]};
  }
  return sum / (double)count - (sbs_vec4){c0[0], c0[1], c0[2]};
}

/* Doubles of workspace for sets of up to max_influences joints. */
size_t sbs_center_work_size(size_t max_influences);

/*
 *   rcond  if 0, damped as above; else of minimal length without singular values up to 1e-5, and those up to rcond
 *          times the largest
 *   work   (sbs_center_work_size)
 *   z      receives the center, relative to the reference point
 *
 * Errors: NO_CONVERGENCE, INTERNAL.
 */
sbs_status sbs_solve_center(const sbs_centers_args *args, size_t set, double rcond, double *work, sbs_vec4 *z);

/*
 * The center of a set in the space of the rest positions: z over the scale of the set's joints, from the reference
 * point on. A set of one joint or none has its centroid.
 *
 *   centers  (set_count) z of each set
 */
void sbs_rest_center(const sbs_skin *skin, size_t set, const sbs_joint *joints, const unsigned char *kinds,
                     const sbs_vec4 *centers, double center[3]);

#endif
