/* SPDX-License-Identifier: MIT */
/* The rotation centers of joint sets (Kavan & Zara 2005, section 4), LANES sets of one size at once. */
#include <float.h>
#include <string.h>

#include "pose/batches.h"
#include "pose/center.h"
#include "pose/set_lanes.h"

/* How many units of rounding apart the images of a child joint's position may be for it to be the center. */
#define TRIVIAL_ROUNDING 16.0

typedef struct set_batch {
  const sbs_centers_args *args;
  set_lanes sets;
} set_batch;

SBS_INLINE const sbs_joint *batch_joint(const set_batch *batch, size_t k, size_t l) {
  return batch->args->joints + batch->sets.members[l][k];
}

/* One by one: gcc copies all of them by half vectors, for which a load of whole ones has to wait. */
SBS_INLINE void copy_columns(const sbs_vec4 from[3], sbs_vec4 to[3]) {
  for (int j = 0; j < 3; j++) to[j] = from[j];
}

/*
 * Joint k of set l as the rigid [R | t] that carries f to where the joint does, and R^T t. Of a joint A that stretches,
 * t is A's and (A - R) f.
 */
SBS_INLINE void get_rigid(const set_batch *batch, size_t k, size_t l, sbs_vec4 m[5]) {
  const sbs_joint *joint = batch_joint(batch, k, l);
  const sbs_centers_args *args = batch->args;
  copy_columns(joint->moving, m);
  m[3] = joint->translation;
  m[4] = joint->turned_back;
  if (!batch->sets.stretched || !(args->kinds[batch->sets.members[l][k]] & SBS_JOINT_NONRIGID)) return;
  copy_columns(args->stretches[batch->sets.members[l][k]].rotation, m);
  m[3] += sbs_vec4_apply(joint->moving, batch->sets.origins[l]) - sbs_vec4_apply(m, batch->sets.origins[l]);
  for (int j = 0; j < 3; j++) {
    const sbs_vec4 products = m[j] * m[3];
    m[4][j] = products[0] + products[1] + products[2];
  }
}

/* [R | p] of joint k of every set, p = R f + t. */
SBS_INLINE void read_joint(const set_batch *batch, size_t k, lanes m[12]) {
  sbs_vec4 columns[5][LANES];
  for (size_t l = 0; l < LANES; l++) {
    sbs_vec4 of_lane[5];
    get_rigid(batch, k, l, of_lane);
    for (int j = 0; j < 4; j++) columns[j][l] = of_lane[j];
  }
  for (int j = 0; j < 4; j++) transpose_vectors(columns[j], m + 3 * j);
  add_moved_lanes(m, batch->sets.point, m + 9);
}

/* Sets of a joint and its parent, whose center may be known, stand together in the order. */
SBS_INLINE int has_candidates(const set_batch *batch, const sbs_skin *skin) {
  return batch->sets.size == 2 && skin->joint_positions && !batch->args->solves_all &&
         skin->set_children[batch->sets.set[batch->sets.count - 1]] >= 0;
}

/* [A | t] of joint k of every set, as given. */
SBS_INLINE void read_given(const set_batch *batch, size_t k, lanes m[12]) {
  for (int j = 0; j < 4; j++) {
    const sbs_vec4 *columns[LANES];
    for (size_t l = 0; l < LANES; l++)
      columns[l] = j < 3 ? batch_joint(batch, k, l)->given + j : &batch_joint(batch, k, l)->translation;
    transpose_lanes(columns, m + 3 * j);
  }
}

/*
 * A set of a joint and its parent turns about the position of the joint, if both move it alike. Not so if the joint
 * slides against its parent, as in many animations. Other sets have no candidate, which is NaN.
 */
SBS_INLINE lane_mask try_trivial(const set_batch *batch, const sbs_centers_args *args, lanes z[3]) {
  const sbs_skin *skin = args->skin;
  lanes position[3] = {NO_LANES, NO_LANES, NO_LANES};
  for (size_t l = 0; l < LANES; l++) {
    const int32_t child = skin->set_children[batch->sets.set[l]];
    for (int i = 0; i < 3; i++) LANE(position[i], l) = child < 0 ? NAN : skin->joint_positions[3 * child + i];
  }
  lanes moved[2][12], gap[3], size = lane_square_root(dot_lanes(position, position));
  memset(moved, 0, sizeof moved); /* gcc warns otherwise, as it does not see that all lanes are filled */
  for (size_t k = 0; k < 2; k++) {
    read_given(batch, k, moved[k]);
    size += lane_square_root(dot_lanes(moved[k] + 9, moved[k] + 9));
    add_moved_lanes(moved[k], position, moved[k] + 9);
  }
  for (int i = 0; i < 3; i++) {
    gap[i] = moved[0][9 + i] - moved[1][9 + i];
    z[i] = position[i] - batch->sets.point[i];
  }
  return lane_square_root(dot_lanes(gap, gap)) <= TRIVIAL_ROUNDING * args->epsilon * size;
}

/*
 * Kavan & Zara 2005, section 4, the least squares D r_c = e, damped:
 * z = argmin weight sum_i |D_i z - e_i|^2 + damping |z|^2 by the normal equations. With D_i = R_i - M, e_i = mean p
 * - p_i, M = mean R, they need nothing but sums over the joints, as R_i^T R_i = 1 and p_i = R_i f + t_i:
 *
 *     sum D_i^T D_i = n (1 - M^T M) = n G     sum D_i^T e_i = n (M^T mean t - mean R^T t - G f)
 *
 * That loses 3 n weight eps / damping of the result: some 1e-7 for a damping of 1e-8. Steps of refinement, with
 * residuals from the D_i themselves, take that back, each the same factor again: one or two for that damping, more
 * for smaller ones. Nearly coaxial joints, such as in a finger, need it. A skin of float32 takes no step for a
 * loss of a few of its own roundings, which is in the direction in which the center matters least. Returns where all
 * that would not be enough.
 */
SBS_INLINE lane_mask solve_damped(const set_batch *batch, double damping, lanes z[3]) {
  const double joints = (double)batch->sets.size, weight = 2.0 * joints / (joints - 1.0);
  const double unnoticed = batch->args->skin->scalar == SBS_FLOAT32 ? 1e-6 : 0.0;
  const lanes zero = NO_LANES;
  sbs_vec4 sums[5][LANES];
  for (size_t l = 0; l < LANES; l++) {
    sbs_vec4 sum[5];
    get_rigid(batch, 0, l, sum);
    for (size_t k = 1; k < batch->sets.size; k++) {
      sbs_vec4 m[5];
      get_rigid(batch, k, l, m);
      for (int j = 0; j < 5; j++) sum[j] += m[j];
    }
    for (int j = 0; j < 5; j++) sums[j][l] = sum[j] * (1.0 / joints);
  }
  lanes mean[15], normal[6], right[3]; /* M, mean t and mean R^T t */
  for (int j = 0; j < 5; j++) transpose_vectors(sums[j], mean + 3 * j);
  gram_matrix(mean, normal);
  for (int i = 0; i < 6; i++) normal[i] = -normal[i];
  add_to_diagonal(normal, 1.0); /* before they are scaled, as most of it cancels */
  for (int i = 0; i < 6; i++) normal[i] *= weight;
  const lanes *f = batch->sets.point;
  right[0] = normal[0] * f[0] + normal[1] * f[1] + normal[2] * f[2];
  right[1] = normal[1] * f[0] + normal[3] * f[1] + normal[4] * f[2];
  right[2] = normal[2] * f[0] + normal[4] * f[1] + normal[5] * f[2];
  for (int j = 0; j < 3; j++) right[j] = weight * (dot_lanes(mean + 3 * j, mean + 9) - mean[12 + j]) - right[j];
  add_to_diagonal(normal, damping);
  const factors by = factorize(normal);
  z[0] = z[1] = z[2] = zero;
  add_solution(&by, right, z);

  const double loss = DBL_EPSILON / damping * 3.0 * weight;
  add_moved_lanes(mean, f, mean + 9); /* mean p */
  for (int step = 0; step < 4; step++) {
    static const double largest_loss[4] = {0.0, 1e-7, 1e-5, 1e-4}; /* up to which the steps before are enough */
    if (!(loss > fmax(largest_loss[step], unnoticed))) break;
    for (int j = 0; j < 3; j++) right[j] = zero;
    for (size_t k = 0; k < batch->sets.size; k++) {
      lanes d[12]; /* D, then -e */
      read_joint(batch, k, d);
      for (int i = 0; i < 12; i++) d[i] -= mean[i];
      add_moved_lanes(d, z, d + 9); /* the residual */
      for (int j = 0; j < 3; j++) right[j] -= dot_lanes(d + 3 * j, d + 9);
    }
    for (int j = 0; j < 3; j++) right[j] = weight / joints * right[j] - damping * z[j];
    add_solution(&by, right, z);
  }
  return (lane_mask)(zero + loss > zero + 1e-3);
}

/*
 * The same for two rotations, in closed form. E = R_a - R_b vanishes along their common axis a and stretches all that
 * is perpendicular to it alike: E^T E = s^2 (I - a a^T) with s^2 = tr(E^T E) / 2, and E^T e has no part along a.
 */
SBS_INLINE void solve_pair(const set_batch *batch, double damping, lanes z[3]) {
  sbs_vec4 columns[4][LANES];
  for (size_t l = 0; l < LANES; l++) {
    sbs_vec4 a[5], b[5];
    get_rigid(batch, 0, l, a);
    get_rigid(batch, 1, l, b);
    for (int j = 0; j < 4; j++) columns[j][l] = a[j] - b[j];
  }
  lanes e[12], square = NO_LANES;
  for (int j = 0; j < 4; j++) transpose_vectors(columns[j], e + 3 * j);
  add_moved_lanes(e, batch->sets.point, e + 9);
  for (int i = 0; i < 9; i++) square += e[i] * e[i];
  const lanes scale = -1.0 / (0.5 * square + damping);
  for (int j = 0; j < 3; j++) z[j] = scale * dot_lanes(e + 3 * j, e + 9);
}

/* Solves all lanes in the cheapest way there is for each; returns which the SVD is to solve. */
SBS_INLINE lane_mask solve(const set_batch *batch, const sbs_centers_args *args, lanes z[3]) {
  lane_mask hard = {0};
  if (batch->sets.size == 2) {
    solve_pair(batch, args->damping, z);
  } else {
    hard = solve_damped(batch, args->damping, z);
  }
  return hard;
}

sbs_centers_count SBS_FOR_ISA(sbs_find_centers)(const sbs_centers_args *args, size_t begin, size_t end) {
  sbs_centers_count count = {0, 0};
  const sbs_vec4 origin = sbs_vec4_read(args->skin->origin);
  while (begin < end) {
    set_batch batch;
    batch.args = args;
    next_sets(args->skin, args->stretches ? args->kinds : NULL, args->order, begin, end, &batch.sets);

    lane_mask trivial = {0}, hard = {0};
    lanes candidate[3] = {NO_LANES, NO_LANES, NO_LANES}, z[3] = {NO_LANES, NO_LANES, NO_LANES};
    size_t found = 0;
    if (has_candidates(&batch, args->skin)) trivial = try_trivial(&batch, args, candidate);
    for (size_t l = 0; l < batch.sets.count; l++) found += LANE(trivial, l) != 0;
    if (found < batch.sets.count) hard = solve(&batch, args, z);
    for (int i = 0; i < 3; i++) z[i] = select_lanes(trivial, candidate[i], z[i]);

    sbs_vec4 centers[LANES];
    transpose_from_lanes((const lanes[4]){z[0], z[1], z[2], NO_LANES}, centers);
    for (size_t l = 0; l < batch.sets.count; l++) {
      const int by_svd = !LANE(trivial, l) && (args->all_by_svd || LANE(hard, l));
      args->references[batch.sets.set[l]] = batch.sets.origins[l] - origin;
      args->centers[batch.sets.set[l]] = centers[l];
      args->by_svd[batch.sets.set[l]] = (unsigned char)by_svd;
      count.by_svd += (size_t)by_svd;
    }
    count.solved += batch.sets.count - found;
    begin += batch.sets.count;
  }
  return count;
}
