/* SPDX-License-Identifier: MIT */
/*
 * The centers of joint sets, and the gradient by way of them: LANES sets of one size at once, in double. As in
 * pose/solve_centers.c, but a joint and its parent have a center that is solved, too. docs/fitting.md derives it.
 */
#include <float.h>
#include <string.h>

#include "gradient/run.h"
#include "pose/set_lanes.h"

/* Joints of a set whose rows are kept; of larger sets they are computed again. */
#define KEPT_ROWS 8

/* Of float32: what the normal equations may lose, which is in the direction in which the center matters least. */
#define UNNOTICED 1e-6

/* LANES sets of one size, and the equations of their centers: pose/center.h. */
typedef struct batch {
  const sbs_gradient_run *run;
  set_lanes sets;
  double weight;
  lanes mean[12]; /* of R_i, then of C_i f */
  lanes kept[KEPT_ROWS][12];
  factors normal; /* of the equations, damped */
  lanes right[3]; /* of the center itself */
  lanes loss;     /* of the normal equations, relative */
} batch;

/* What moves points: [A | t] of joint k of every set. */
SBS_INLINE void read_moving(const batch *of, size_t k, lanes m[12]) {
  const sbs_vec4 *columns[4][LANES];
  for (size_t l = 0; l < LANES; l++) {
    const sbs_joint *joint = of->run->joints + of->sets.members[l][k];
    for (int j = 0; j < 3; j++) columns[j][l] = joint->moving + j;
    columns[3][l] = &joint->translation;
  }
  for (int j = 0; j < 4; j++) transpose_lanes(columns[j], m + 3 * j);
}

/* R and C f of joint k of every set. */
SBS_INLINE void read_joint(const batch *of, size_t k, lanes m[12]) {
  const sbs_gradient_run *run = of->run;
  read_moving(of, k, m);
  add_moved_lanes(m, of->sets.point, m + 9);
  if (!of->sets.stretched) return;
  const sbs_vec4 *columns[3][LANES];
  for (size_t l = 0; l < LANES; l++) {
    const int32_t joint = of->sets.members[l][k];
    const sbs_vec4 *turning = sbs_turning(run->joints + joint, run->kinds[joint], run->stretches + joint);
    for (int j = 0; j < 3; j++) columns[j][l] = turning + j;
  }
  for (int j = 0; j < 3; j++) transpose_lanes(columns[j], m + 3 * j);
}

/* R_k - mean R, and C_k f - its mean */
SBS_INLINE void get_row(const batch *of, size_t k, lanes d[12]) {
  if (k < KEPT_ROWS) {
    memcpy(d, of->kept[k], 12 * sizeof *d);
    return;
  }
  read_joint(of, k, d);
  for (int i = 0; i < 12; i++) d[i] -= of->mean[i];
}

SBS_INLINE void next_batch(const sbs_gradient_run *run, const int32_t *order, size_t begin, size_t end, batch *of) {
  of->run = run;
  next_sets(run->skin, run->kinds, order, begin, end, &of->sets);
  of->weight = 2.0 / ((double)of->sets.size - 1.0);
}

static SBS_CALLED void find_equations(batch *of) {
  const lanes zero = NO_LANES;
  const double share = 1.0 / (double)of->sets.size, damping = of->run->options->damping;
  for (int i = 0; i < 12; i++) of->mean[i] = zero;
  for (size_t k = 0; k < of->sets.size; k++) {
    lanes other[12], *row = k < KEPT_ROWS ? of->kept[k] : other;
    read_joint(of, k, row);
    for (int i = 0; i < 12; i++) of->mean[i] += row[i];
  }
  for (int i = 0; i < 12; i++) of->mean[i] *= share;
  for (size_t k = 0; k < of->sets.size && k < KEPT_ROWS; k++) {
    for (int i = 0; i < 12; i++) of->kept[k][i] -= of->mean[i];
  }
  lanes normal[6] = {zero, zero, zero, zero, zero, zero};
  for (int i = 0; i < 3; i++) of->right[i] = zero;
  for (size_t k = 0; k < of->sets.size; k++) {
    lanes d[12], gram[6];
    get_row(of, k, d);
    gram_matrix(d, gram);
    for (int i = 0; i < 6; i++) normal[i] += of->weight * gram[i];
    for (int j = 0; j < 3; j++) of->right[j] -= of->weight * dot_lanes(d + 3 * j, d + 9);
  }
  of->loss = DBL_EPSILON / damping * (normal[0] + normal[3] + normal[5]);
  add_to_diagonal(normal, damping);
  of->normal = factorize(normal);
}

/*
 * Solves N x = right; `about` is 1 for the center itself, whose right side is that of the rows, else 0. Refined by
 * residuals from the rows, for forming normal equations loses the part `loss`: each step takes that back once more.
 */
static SBS_CALLED void solve(const batch *of, const lanes right[3], double about, lanes x[3]) {
  static const double largest_loss[3] = {1e-14, 1e-7, 1e-7}; /* up to which the steps before are enough */
  const double damping = of->run->options->damping;
  const double unnoticed = of->run->skin->scalar == SBS_FLOAT32 ? UNNOTICED : 0.0;
  x[0] = x[1] = x[2] = NO_LANES;
  add_solution(&of->normal, right, x);
  for (int step = 0; step < 3; step++) {
    const lane_mask wanting = (lane_mask)(of->loss > fmax(largest_loss[step], unnoticed));
    if (!any_lane(wanting)) return;
    lanes residual[3];
    for (int i = 0; i < 3; i++) residual[i] = (1.0 - about) * right[i] - damping * x[i];
    for (size_t k = 0; k < of->sets.size; k++) {
      lanes d[12], moved[3], back[3] = {NO_LANES, NO_LANES, NO_LANES};
      get_row(of, k, d);
      apply_lanes(d, x, moved);
      for (int i = 0; i < 3; i++) moved[i] += about * d[9 + i];
      add_transposed_lanes(d, moved, back);
      for (int i = 0; i < 3; i++) residual[i] -= of->weight * back[i];
    }
    lanes center_step[3] = {NO_LANES, NO_LANES, NO_LANES};
    add_solution(&of->normal, residual, center_step);
    for (int i = 0; i < 3; i++) x[i] += select_lanes(wanting, center_step[i], NO_LANES);
  }
}

void SBS_FOR_ISA(sbs_gradient_find_centers)(const sbs_gradient_run *run, const int32_t *order, size_t count) {
  for (size_t begin = 0; begin < count;) {
    batch of;
    lanes z[3];
    next_batch(run, order, begin, count, &of);
    find_equations(&of);
    solve(&of, of.right, 1.0, z);
    for (size_t l = 0; l < of.sets.count; l++) {
      for (int i = 0; i < 3; i++) {
        run->centers[of.sets.set[l]][i] = LANE(of.sets.point[i], l);
        run->centers[of.sets.set[l]][3 + i] = LANE(z[i], l);
      }
    }
    begin += of.sets.count;
  }
}

/* Three numbers of what is summed up for joint k of each set, or behind the sums of all joints. */
SBS_INLINE void read_sums(const batch *of, const size_t width[LANES], size_t k, size_t at, lanes out[3]) {
  out[0] = out[1] = out[2] = NO_LANES; /* gcc warns otherwise */
  for (size_t l = 0; l < LANES; l++) {
    const double *sums = of->run->sums[of->sets.set[l]];
    for (size_t i = 0; i < 3; i++) LANE(out[i], l) = sums ? sums[k * width[l] + at + i] : 0.0;
  }
}

/* By translations, rotations, and matrices as they were given: what the joints k of the sets get. */
SBS_INLINE void give_joints(const batch *of, size_t k, const lanes by_moved[3], const lanes by_turn[3],
                            const lanes moved_arm[3]) {
  const sbs_gradient_run *run = of->run;
  lanes by_moving[3] = {NO_LANES, NO_LANES, NO_LANES};
  add_cross_lanes(by_moving, moved_arm, by_moved);
  for (size_t l = 0; l < of->sets.count; l++) {
    sbs_joint_gradient *by = run->slots + run->skin->set_offsets[of->sets.set[l]] + k;
    const int rigid = !(run->kinds[of->sets.members[l][k]] & SBS_JOINT_NONRIGID);
    for (int i = 0; i < 3; i++) {
      by->translation[i] += LANE(by_moved[i], l);
      by->torque[i] += LANE(by_turn[i], l) + (rigid ? LANE(by_moving[i], l) : 0.0);
    }
    for (int i = 0; !rigid && i < 9; i++) by->given[i] += LANE(by_moved[i % 3], l) * LANE(of->sets.point[i / 3], l);
  }
}

/*
 * z gets sum_i (R_i - R_0)^T sum w_i g - R_0^T sum (Q^T - 1) g, of differences, or near joints would leave rounding;
 * l = N^-1 of that goes on to the joints, and to the centroid.
 */
void SBS_FOR_ISA(sbs_gradient_finish_centers)(const sbs_gradient_run *run, const int32_t *order, size_t count) {
  for (size_t begin = 0; begin < count;) {
    batch of;
    lanes first[12], row[12], z[3], right[3], lambda[3], by_point[3], sum[3];
    next_batch(run, order, begin, count, &of);
    find_equations(&of);
    size_t width[LANES];
    for (size_t l = 0; l < LANES; l++) {
      width[l] = sbs_gradient_sums_per_joint(run, of.sets.set[l], 0);
      for (int i = 0; i < 3; i++) LANE(z[i], l) = run->centers[of.sets.set[l]][3 + i];
    }
    get_row(&of, 0, first);
    read_sums(&of, width, of.sets.size, SBS_SUM_REST, by_point);
    read_sums(&of, width, of.sets.size, SBS_SUM_CENTER, sum);
    right[0] = right[1] = right[2] = NO_LANES;
    for (int i = 0; i < 12; i++) row[i] = first[i] + of.mean[i];
    add_transposed_lanes(row, sum, right);
    for (int i = 0; i < 3; i++) {
      right[i] = -right[i];
      by_point[i] = -by_point[i];
    }
    for (size_t k = 1; k < of.sets.size; k++) {
      get_row(&of, k, row);
      for (int i = 0; i < 9; i++) row[i] -= first[i];
      read_sums(&of, width, k, SBS_SUM_OFFSET, sum);
      add_transposed_lanes(row, sum, right);
    }
    solve(&of, right, 0.0, lambda);
    for (size_t k = 0; k < of.sets.size; k++) {
      lanes moving[12], turned[3], mu[3], rho[3], by_moved[3], by_turn[3], arm[3];
      get_row(&of, k, row);
      read_moving(&of, k, moving);
      read_sums(&of, width, k, SBS_SUM_OFFSET, by_moved);
      apply_lanes(row, z, turned);
      apply_lanes(row, lambda, mu);
      for (int i = 0; i < 3; i++) {
        rho[i] = -of.weight * (row[9 + i] + turned[i]);
        by_moved[i] -= of.weight * mu[i];
        by_turn[i] = NO_LANES;
      }
      add_transposed_lanes(moving, by_moved, by_point);
      if (!run->result.skinning_matrices) continue;
      for (int i = 0; i < 9; i++) row[i] += of.mean[i]; /* R_k */
      apply_lanes(row, z, arm);
      add_cross_lanes(by_turn, arm, by_moved);
      apply_lanes(row, lambda, arm);
      add_cross_lanes(by_turn, arm, rho);
      apply_lanes(moving, of.sets.point, arm);
      give_joints(&of, k, by_moved, by_turn, arm);
    }
    for (size_t l = 0; l < of.sets.count; l++) {
      for (int i = 0; i < 3; i++) run->by_points[of.sets.set[l]][i] = LANE(by_point[i], l);
    }
    begin += of.sets.count;
  }
}
