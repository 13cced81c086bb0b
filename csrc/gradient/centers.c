/* SPDX-License-Identifier: MIT */
/*
 * The gradient by way of the centers of joint sets: LANES sets of one size at once, in double. A center z solves N z =
 * weight sum D_k^T (mean p - p_k), N = weight sum D_k^T D_k + damping, D_k = R_k - M, p_k = C_k f (pose/center.h). With
 * lambda = N^-1 by_z, the other gradients are of -lambda . (N z - ...) with z fixed; docs/fitting.md.
 */
#include <float.h>
#include <string.h>

#include "gradient/run.h"
#include "pose/set_lanes.h"

/* Joints of a set whose rows are kept; of larger sets they are computed again. */
#define KEPT_ROWS 8

/* The loss of float32 in normal equations that is allowed, in the direction in which the center matters least. */
#define UNNOTICED 1e-6

/* LANES sets of one size, and the equations of their centers: pose/center.h. */
typedef struct batch {
  const sbs_gradient_run *run;
  set_lanes sets;
  double weight;
  lanes mean[12]; /* of R_i, then of C_i f */
  lanes kept[KEPT_ROWS][12];
  factors normal; /* of the equations, damped */
  lanes loss;     /* of the normal equations, relative */
} batch;

/* [A | t], which moves points, of joint k of every set. */
SBS_INLINE void read_moving(const batch *b, size_t k, lanes m[12]) {
  const sbs_vec4 *columns[4][LANES];
  for (size_t l = 0; l < LANES; l++) {
    const sbs_joint *joint = b->run->posed.joints + b->sets.members[l][k];
    for (int j = 0; j < 3; j++) columns[j][l] = joint->moving + j;
    columns[3][l] = &joint->translation;
  }
  for (int j = 0; j < 4; j++) transpose_lanes(columns[j], m + 3 * j);
}

/* R and C f of joint k of every set. */
SBS_INLINE void read_joint(const batch *b, size_t k, lanes m[12]) {
  read_moving(b, k, m);
  add_moved_lanes(m, b->sets.point, m + 9);
  if (!b->sets.stretched) return;
  const sbs_vec4 *columns[3][LANES];
  for (size_t l = 0; l < LANES; l++) {
    const sbs_vec4 *rotation = sbs_posed_rotation(&b->run->posed, (size_t)b->sets.members[l][k]);
    for (int j = 0; j < 3; j++) columns[j][l] = rotation + j;
  }
  for (int j = 0; j < 3; j++) transpose_lanes(columns[j], m + 3 * j);
}

/* R_k - mean R, and C_k f - its mean */
SBS_INLINE void get_row(const batch *b, size_t k, lanes d[12]) {
  if (k < KEPT_ROWS) {
    memcpy(d, b->kept[k], 12 * sizeof *d);
    return;
  }
  read_joint(b, k, d);
  for (int i = 0; i < 12; i++) d[i] -= b->mean[i];
}

static SBS_CALLED void find_equations(batch *b) {
  const lanes zero = NO_LANES;
  const double share = 1.0 / (double)b->sets.size, damping = b->run->options->damping;
  for (int i = 0; i < 12; i++) b->mean[i] = zero;
  for (size_t k = 0; k < b->sets.size; k++) {
    lanes other[12], *row = k < KEPT_ROWS ? b->kept[k] : other;
    read_joint(b, k, row);
    for (int i = 0; i < 12; i++) b->mean[i] += row[i];
  }
  for (int i = 0; i < 12; i++) b->mean[i] *= share;
  for (size_t k = 0; k < b->sets.size && k < KEPT_ROWS; k++) {
    for (int i = 0; i < 12; i++) b->kept[k][i] -= b->mean[i];
  }
  lanes normal[6] = {zero, zero, zero, zero, zero, zero};
  for (size_t k = 0; k < b->sets.size; k++) {
    lanes d[12], gram[6];
    get_row(b, k, d);
    gram_matrix(d, gram);
    for (int i = 0; i < 6; i++) normal[i] += b->weight * gram[i];
  }
  b->loss = DBL_EPSILON / damping * (normal[0] + normal[3] + normal[5]);
  add_to_diagonal(normal, damping);
  b->normal = factorize(normal);
}

/*
 * Solves N x = right. Refined by residuals from the rows, for forming normal equations loses the part `loss`: each step
 * takes that back once more.
 */
static SBS_CALLED void solve(const batch *b, const lanes right[3], lanes x[3]) {
  static const double largest_loss[3] = {1e-14, 1e-7, 1e-7}; /* up to which the steps before are enough */
  const double damping = b->run->options->damping;
  const double unnoticed = b->run->skin->scalar == SBS_FLOAT32 ? UNNOTICED : 0.0;
  x[0] = x[1] = x[2] = NO_LANES;
  add_solution(&b->normal, right, x);
  for (int step = 0; step < 3; step++) {
    const lane_mask wanting = (lane_mask)(b->loss > fmax(largest_loss[step], unnoticed));
    if (!any_lane(wanting)) return;
    lanes residual[3];
    for (int i = 0; i < 3; i++) residual[i] = right[i] - damping * x[i];
    for (size_t k = 0; k < b->sets.size; k++) {
      lanes d[12], moved[3], back[3] = {NO_LANES, NO_LANES, NO_LANES};
      get_row(b, k, d);
      apply_lanes(d, x, moved);
      add_transposed_lanes(d, moved, back);
      for (int i = 0; i < 3; i++) residual[i] -= b->weight * back[i];
    }
    lanes more[3] = {NO_LANES, NO_LANES, NO_LANES};
    add_solution(&b->normal, residual, more);
    for (int i = 0; i < 3; i++) x[i] += select_lanes(wanting, more[i], NO_LANES);
  }
}

/* z of each set, and the gradient by z and by f, over the set's vertices in their order. */
SBS_INLINE void sum_vertices(const batch *b, lanes z[3], lanes by_z[3], lanes by_f[3]) {
  const sbs_skin *skin = b->run->skin;
  for (int i = 0; i < 3; i++) z[i] = by_z[i] = by_f[i] = NO_LANES;
  for (size_t l = 0; l < b->sets.count; l++) {
    const size_t set = b->sets.set[l];
    double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (size_t i = skin->set_starts[set]; i < skin->set_starts[set + 1]; i++) {
      for (int k = 0; k < 6; k++) sum[k] += b->run->by_centers[skin->set_vertices[i]][k];
    }
    for (int i = 0; i < 3; i++) {
      LANE(z[i], l) = b->run->posed.centers[set][i];
      LANE(by_z[i], l) = sum[i];
      LANE(by_f[i], l) = sum[3 + i];
    }
  }
}

/* Gradients of the joints k of the sets by translations, rotations, and matrices as given. */
SBS_INLINE void give_joints(const batch *b, size_t k, const lanes by_moved[3], const lanes by_turn[3],
                            const lanes moved_arm[3]) {
  const sbs_gradient_run *run = b->run;
  lanes by_moving[3] = {NO_LANES, NO_LANES, NO_LANES};
  add_cross_lanes(by_moving, moved_arm, by_moved);
  for (size_t l = 0; l < b->sets.count; l++) {
    sbs_center_gradient *by = run->by_set_joints + run->skin->set_offsets[b->sets.set[l]] + k;
    const int rigid = !(run->posed.kinds[b->sets.members[l][k]] & SBS_JOINT_NONRIGID);
    for (int i = 0; i < 3; i++) {
      by->translation[i] = LANE(by_moved[i], l);
      by->torque[i] = LANE(by_turn[i], l) + (rigid ? LANE(by_moving[i], l) : 0.0);
    }
    for (int i = 0; i < 9; i++) by->given[i] = rigid ? 0.0 : LANE(by_moved[i % 3], l) * LANE(b->sets.point[i / 3], l);
  }
}

/*
 * f moves with the mean of the set's vertices, unless it is where joints sit. Of joints that do not stretch it is of no
 * account, as z moves the other way, by damping lambda, the part that damping leaves.
 */
SBS_INLINE void give_centroids(const batch *b, const lanes by_point[3]) {
  const sbs_skin *skin = b->run->skin;
  for (size_t l = 0; l < b->sets.count; l++) {
    const size_t set = b->sets.set[l];
    const double count = (double)(skin->set_starts[set + 1] - skin->set_starts[set]);
    const int is_fixed = skin->joint_positions && sbs_is_stretched(skin, set, b->run->posed.kinds);
    for (int i = 0; i < 3; i++) b->run->by_centroids[set][i] = is_fixed ? 0.0 : LANE(by_point[i], l) / count;
  }
}

void SBS_FOR_ISA(sbs_gradient_finish_centers)(const sbs_gradient_run *run, size_t begin, size_t end) {
  const unsigned char *kinds = run->posed.nonrigid_joints ? run->posed.kinds : NULL;
  while (begin < end) {
    batch b = {.run = run};
    lanes row[12], z[3], by_z[3], by_f[3], lambda[3], by_point[3];
    next_sets(run->skin, kinds, run->posed.request.sets, begin, end, &b.sets);
    b.weight = 2.0 / ((double)b.sets.size - 1.0);
    find_equations(&b);
    sum_vertices(&b, z, by_z, by_f);
    solve(&b, by_z, lambda);
    for (int i = 0; i < 3; i++) by_point[i] = by_f[i] - by_z[i] + run->options->damping * lambda[i];
    for (size_t k = 0; k < b.sets.size; k++) {
      lanes moving[12], turned[3], mu[3], rho[3], by_moved[3], by_turn[3] = {NO_LANES, NO_LANES, NO_LANES}, arm[3];
      get_row(&b, k, row);
      read_moving(&b, k, moving);
      apply_lanes(row, z, turned);
      apply_lanes(row, lambda, mu);
      for (int i = 0; i < 3; i++) {
        rho[i] = -b.weight * (row[9 + i] + turned[i]);
        by_moved[i] = -b.weight * mu[i];
      }
      for (int i = 0; i < 9; i++) row[i] += b.mean[i]; /* R_k */
      apply_lanes(row, z, arm);
      add_cross_lanes(by_turn, arm, by_moved);
      apply_lanes(row, lambda, arm);
      add_cross_lanes(by_turn, arm, rho);
      apply_lanes(moving, b.sets.point, arm);
      give_joints(&b, k, by_moved, by_turn, arm);
      for (int i = 0; i < 9; i++) moving[i] -= row[i]; /* A_k - R_k */
      add_transposed_lanes(moving, by_moved, by_point);
    }
    give_centroids(&b, by_point);
    begin += b.sets.count;
  }
}
