/* SPDX-License-Identifier: MIT */
/* The rotation centers of joint sets (Kavan & Zara 2005, section 4), LANES sets of one size at once. */
#include <float.h>
#include <string.h>

#include "pose/batches.h"
#include "pose/center.h"
#include "pose/lanes.h"

/* How many units of rounding apart the images of a child joint's position may be for it to be the center. */
#define TRIVIAL_ROUNDING 16.0

/* Joints of a set whose matrices are kept between the passes over them; of larger sets they are read again. */
#define KEPT_JOINTS 8

/* LANES joint sets of the same size. */
typedef struct set_batch {
  const sbs_centers_args *args;
  const int32_t *members[LANES]; /* the joints of each set */
  size_t set[LANES];
  size_t size;
  size_t count;       /* lanes in use; the others repeat the last */
  int stretched;      /* whether one of the sets has a joint that is not rigid */
  lanes reference[3]; /* f (pose/center.h) */
  lanes kept[KEPT_JOINTS][12];
} set_batch;

/* Reads the matrix [A | t] of joint k of every set: as given, or what the rotation methods move points by. */
SBS_INLINE void read_matrix(const set_batch *batch, size_t k, int given, lanes m[12]) {
  const sbs_vec4 *columns[4][LANES];
  for (size_t l = 0; l < LANES; l++) {
    const sbs_joint *joint = batch->args->joints + batch->members[l][k];
    for (int j = 0; j < 3; j++) columns[j][l] = (given ? joint->given : joint->moving) + j;
    columns[3][l] = &joint->translation;
  }
  for (int j = 0; j < 4; j++) transpose_lanes(columns[j], m + 3 * j);
}

/* a + A v */
SBS_INLINE void move_lanes(const lanes m[9], const lanes v[3], lanes a[3]) {
  for (int i = 0; i < 3; i++) a[i] += m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/* Reads the rotation R of joint k of every set. */
SBS_INLINE void read_rotation(const set_batch *batch, size_t k, lanes m[9]) {
  const sbs_centers_args *args = batch->args;
  const sbs_vec4 *columns[3][LANES];
  for (size_t l = 0; l < LANES; l++) {
    const int32_t joint = batch->members[l][k];
    const sbs_vec4 *turning = sbs_turning(args->joints + joint, args->kinds[joint], args->stretches + joint);
    for (int j = 0; j < 3; j++) columns[j][l] = turning + j;
  }
  for (int j = 0; j < 3; j++) transpose_lanes(columns[j], m + 3 * j);
}

/* [R | p] of joint k of every set, p = C f. */
SBS_INLINE void read_joint(const set_batch *batch, size_t k, lanes m[12]) {
  read_matrix(batch, k, 0, m);
  move_lanes(m, batch->reference, m + 9);
  if (batch->stretched) read_rotation(batch, k, m);
}

SBS_INLINE void get_joint(const set_batch *batch, size_t k, lanes m[12]) {
  if (k < KEPT_JOINTS) {
    memcpy(m, batch->kept[k], 12 * sizeof *m);
  } else {
    read_joint(batch, k, m);
  }
}

SBS_INLINE void keep_joints(set_batch *batch) {
  for (size_t k = 0; k < batch->size && k < KEPT_JOINTS; k++) read_joint(batch, k, batch->kept[k]);
}

/* Sets of a joint and its parent, whose center may be known, stand together in the order. */
SBS_INLINE int has_candidates(const set_batch *batch, const sbs_skin *skin) {
  return batch->size == 2 && skin->joint_positions && skin->set_children[batch->set[batch->count - 1]] >= 0;
}

/*
 * A set of a joint and its parent turns about the position of the joint, if both move it alike. Not so if the joint
 * slides against its parent, as in many animations. Other sets have no candidate, which is NaN.
 */
SBS_INLINE lane_mask try_trivial(const set_batch *batch, const sbs_centers_args *args, lanes z[3]) {
  const sbs_skin *skin = args->skin;
  lanes position[3] = {NO_LANES, NO_LANES, NO_LANES};
  for (size_t l = 0; l < LANES; l++) {
    const int32_t child = skin->set_children[batch->set[l]];
    for (int i = 0; i < 3; i++) LANE(position[i], l) = child < 0 ? NAN : skin->joint_positions[3 * child + i];
  }
  lanes moved[2][12], gap[3], size = root_of_lanes(dot_lanes(position, position));
  memset(moved, 0, sizeof moved); /* gcc warns otherwise, as it does not see that all lanes are filled */
  for (size_t k = 0; k < 2; k++) {
    read_matrix(batch, k, 1, moved[k]);
    size += root_of_lanes(dot_lanes(moved[k] + 9, moved[k] + 9));
    move_lanes(moved[k], position, moved[k] + 9);
  }
  for (int i = 0; i < 3; i++) {
    gap[i] = moved[0][9 + i] - moved[1][9 + i];
    z[i] = position[i] - batch->reference[i];
  }
  return root_of_lanes(dot_lanes(gap, gap)) <= TRIVIAL_ROUNDING * args->epsilon * size;
}

/*
 * Symmetric positive definite matrices (00, 11, 22, 01, 02, 12) as L D L^T; stable without pivoting, however ill-
 * conditioned.
 */
typedef struct factors {
  lanes l10, l20, l21;
  lanes inverse[3]; /* of D */
} factors;

SBS_INLINE factors factorize(const lanes n[6]) {
  factors f;
  f.inverse[0] = 1.0 / n[0];
  f.l10 = n[3] * f.inverse[0];
  f.l20 = n[4] * f.inverse[0];
  f.inverse[1] = 1.0 / (n[1] - f.l10 * n[3]);
  const lanes rest = n[5] - f.l20 * n[3];
  f.l21 = rest * f.inverse[1];
  f.inverse[2] = 1.0 / (n[2] - f.l20 * n[4] - f.l21 * rest);
  return f;
}

SBS_INLINE void add_solution(const factors *f, const lanes right[3], lanes z[3]) {
  const lanes y1 = right[1] - f->l10 * right[0];
  const lanes y2 = right[2] - f->l20 * right[0] - f->l21 * y1;
  const lanes x2 = y2 * f->inverse[2];
  const lanes x1 = y1 * f->inverse[1] - f->l21 * x2;
  z[0] += right[0] * f->inverse[0] - f->l10 * x1 - f->l20 * x2;
  z[1] += x1;
  z[2] += x2;
}

/* Row k of the equations (pose/center.h): D, then -e. */
SBS_INLINE void get_row(const set_batch *batch, size_t k, const lanes mean[12], lanes d[12]) {
  get_joint(batch, k, d);
  for (int i = 0; i < 12; i++) d[i] -= mean[i];
}

/*
 * Kavan & Zara 2005, section 4, the least squares D r_c = e, damped:
 * z = argmin weight sum_i |D_i z - e_i|^2 + damping |z|^2 by the normal equations. Forming them loses eps trace /
 * damping of the result: 4e-8 for a damping of 1e-8. Steps of refinement, with residuals from the D_i themselves, take
 * that back, each the same factor again: one for that damping, more for smaller ones. Nearly coaxial joints, such as
 * those of a finger, need it. A skin of float32 takes no step for a loss of a few of its own roundings, which is in the
 * direction in which the center matters least. Returns where all that would not be enough.
 */
SBS_INLINE lane_mask solve_damped(const set_batch *batch, double damping, lanes z[3]) {
  const size_t rows = batch->size;
  const double weight = 2.0 / ((double)batch->size - 1.0);
  const double share = 1.0 / (double)batch->size;
  const double unnoticed = batch->args->skin->scalar == SBS_FLOAT32 ? 1e-6 : 0.0;
  const lanes zero = NO_LANES;
  lanes mean[12];
  memcpy(mean, batch->kept[0], sizeof mean);
  for (size_t k = 1; k < batch->size; k++) {
    lanes m[12];
    get_joint(batch, k, m);
    for (int i = 0; i < 12; i++) mean[i] += m[i];
  }
  for (int i = 0; i < 12; i++) mean[i] *= share;

  lanes normal[6] = {zero, zero, zero, zero, zero, zero}, right[3] = {zero, zero, zero};
  for (size_t k = 0; k < rows; k++) {
    lanes d[12], gram[6];
    get_row(batch, k, mean, d);
    gram_of(d, gram);
    for (int i = 0; i < 6; i++) normal[i] += gram[i];
    for (int j = 0; j < 3; j++) right[j] -= dot_lanes(d + 3 * j, d + 9);
  }
  for (int i = 0; i < 6; i++) normal[i] *= weight;
  for (int i = 0; i < 3; i++) right[i] *= weight;
  const lanes loss = DBL_EPSILON / damping * (normal[0] + normal[1] + normal[2]);
  for (int i = 0; i < 3; i++) normal[i] += damping;
  const factors f = factorize(normal);
  z[0] = z[1] = z[2] = zero;
  add_solution(&f, right, z);

  for (int step = 0; step < 4; step++) {
    static const double largest_loss[4] = {0.0, 1e-7, 1e-5, 1e-4}; /* up to which the steps before are enough */
    const lane_mask wanting = (lane_mask)(loss > fmax(largest_loss[step], unnoticed));
    if (!any_lane(wanting)) break;
    for (int j = 0; j < 3; j++) right[j] = zero;
    for (size_t k = 0; k < rows; k++) {
      lanes d[12];
      get_row(batch, k, mean, d);
      move_lanes(d, z, d + 9); /* the residual */
      for (int j = 0; j < 3; j++) right[j] -= dot_lanes(d + 3 * j, d + 9);
    }
    lanes better[3];
    memcpy(better, z, sizeof better);
    for (int j = 0; j < 3; j++) right[j] = weight * right[j] - damping * z[j];
    add_solution(&f, right, better);
    for (int j = 0; j < 3; j++) z[j] = select_lanes(wanting, better[j], z[j]);
  }
  return (lane_mask)(loss > 1e-3);
}

/*
 * The same for two rotations, in closed form. E = R_a - R_b vanishes along their common axis a and stretches all that
 * is perpendicular to it alike: E^T E = s^2 (I - a a^T) with s^2 = tr(E^T E) / 2, and E^T e has no part along a.
 */
SBS_INLINE void solve_pair(const set_batch *batch, double damping, lanes z[3]) {
  lanes e[12], square = NO_LANES;
  for (int i = 0; i < 12; i++) e[i] = batch->kept[0][i] - batch->kept[1][i];
  for (int i = 0; i < 9; i++) square += e[i] * e[i];
  const lanes scale = -1.0 / (0.5 * square + damping);
  for (int j = 0; j < 3; j++) z[j] = scale * dot_lanes(e + 3 * j, e + 9);
}

/* The next sets of one size, at most LANES of them. */
SBS_INLINE void next_batch(const sbs_centers_args *args, size_t begin, size_t end, set_batch *batch) {
  const sbs_skin *skin = args->skin;
  batch->args = args;
  batch->stretched = 0;
  batch->size = sbs_set_size(skin, (size_t)args->order[begin]);
  batch->count = 0;
  for (size_t l = 0; l < LANES; l++) {
    if (begin + l < end && batch->count == l && sbs_set_size(skin, (size_t)args->order[begin + l]) == batch->size) {
      batch->count = l + 1;
    }
    const size_t set = (size_t)args->order[begin + (l < batch->count ? l : batch->count - 1)];
    batch->set[l] = set;
    batch->members[l] = skin->set_joints + skin->set_offsets[set];
    sbs_vec4 apart = {0.0};
    if (args->stretches && sbs_is_stretched(skin, set, args->kinds)) {
      batch->stretched = 1;
      apart = sbs_reference_point(skin, set);
    }
    for (size_t i = 0; i < 3; i++) LANE(batch->reference[i], l) = skin->set_centroids[3 * set + i] + apart[i];
  }
}

/* Solves all lanes in the cheapest way there is for each; returns which the SVD is to solve. */
SBS_INLINE lane_mask solve(const set_batch *batch, const sbs_centers_args *args, lanes z[3]) {
  lane_mask hard = {0};
  if (batch->size == 2) {
    solve_pair(batch, args->damping, z);
  } else {
    hard = solve_damped(batch, args->damping, z);
  }
  return hard;
}

sbs_centers_count SBS_FOR_ISA(sbs_find_centers)(const sbs_centers_args *args, size_t begin, size_t end) {
  sbs_centers_count count = {0, 0};
  while (begin < end) {
    set_batch batch;
    next_batch(args, begin, end, &batch);
    keep_joints(&batch);

    lane_mask trivial = {0}, hard = {0};
    lanes candidate[3] = {NO_LANES, NO_LANES, NO_LANES}, z[3] = {NO_LANES, NO_LANES, NO_LANES};
    size_t found = 0;
    if (has_candidates(&batch, args->skin)) trivial = try_trivial(&batch, args, candidate);
    for (size_t l = 0; l < batch.count; l++) found += LANE(trivial, l) != 0;
    if (found < batch.count) hard = solve(&batch, args, z);
    for (int i = 0; i < 3; i++) z[i] = select_lanes(trivial, candidate[i], z[i]);

    for (size_t l = 0; l < batch.count; l++) {
      const int by_svd = !LANE(trivial, l) && (args->all_by_svd || LANE(hard, l));
      args->centers[batch.set[l]] = (sbs_vec4){LANE(z[0], l), LANE(z[1], l), LANE(z[2], l), 0.0};
      args->by_svd[batch.set[l]] = (unsigned char)by_svd;
      count.by_svd += (size_t)by_svd;
    }
    count.solved += batch.count - found;
    begin += batch.count;
  }
  return count;
}
