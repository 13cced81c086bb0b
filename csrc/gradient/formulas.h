/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_FORMULAS_H
#define SBS_GRADIENT_FORMULAS_H

/*
 * The formulas of the methods, differentiated: from the gradient by positions and normals to the gradient by sums of
 * rows, rest positions, centers and amounts. docs/fitting.md derives them.
 */
#include "gradient/rows.h"

/* ----------------------------------------------------------------------------------------------------- rotations -- */

/* A blended quaternion of any length, and 2 over its square. */
typedef struct turn {
  lanes q[4], scale;
} turn;

static turn blended_turn(const vertices *v) {
  turn t;
  lanes square = NO_LANES;
  for (int i = 0; i < 4; i++) {
    t.q[i] = v->sum[SBS_BY_QUATERNION + i];
    square += t.q[i] * t.q[i];
  }
  t.scale = 2.0 / select_lanes((lane_mask)(square > NO_LANES), square, splat_lanes(1.0));
  return t;
}

/* out = Q y, or Q^T y where `side` is -1 */
static void turn_lanes(const turn *t, double side, const lanes y[3], lanes out[3]) {
  lanes across[3], twice[3];
  cross_lanes(t->q + 1, y, across);
  cross_lanes(t->q + 1, across, twice);
  for (int i = 0; i < 3; i++) out[i] = y[i] + t->scale * (side * t->q[0] * across[i] + twice[i]);
}

/*
 * Adds the gradient by the quaternion (s, u) of g . Q y = g . y + 2 T / (s, s), T = s g . (u x y) + (u . y)(u . g) -
 * (u . u)(g . y)
 */
static void add_turning(const turn *t, const lanes g[3], const lanes y[3], lanes by[4]) {
  const lanes *u = t->q + 1;
  lanes y_cross_g[3];
  cross_lanes(y, g, y_cross_g);
  const lanes by_s = dot_lanes(u, y_cross_g), uy = dot_lanes(u, y), ug = dot_lanes(u, g), gy = dot_lanes(g, y);
  const lanes sum = t->q[0] * by_s + uy * ug - dot_lanes(u, u) * gy, shrink = t->scale * t->scale * sum;
  by[0] += t->scale * by_s - shrink * t->q[0];
  for (int i = 0; i < 3; i++) {
    const lanes by_u = t->q[0] * y_cross_g[i] + ug * y[i] + uy * g[i] - 2.0 * gy * u[i];
    by[1 + i] += t->scale * by_u - shrink * u[i];
  }
}

/* ------------------------------------------------------------------------------------------------------ formulas -- */

/* v' = A x + p */
static void differentiate_linear(vertices *v) {
  add_outer(v->by + SBS_BY_MATRIX, v->g, v->x);
  for (int i = 0; i < 3; i++) v->by[SBS_BY_PLACE + i] += v->g[i];
  add_transposed_lanes(v->sum + SBS_BY_MATRIX, v->g, v->by_x);
}

/*
 * v' = l + a (Q (S (x - f) - z) + M z - A (x - f)), l = A x + p; see pose/center.h. Where joints do not stretch S is 1,
 * and A = M.
 */
static void differentiate_spherical(vertices *v) {
  const sbs_gradient_rows *rows = &v->run->rows;
  const lanes *matrix = v->sum + SBS_BY_MATRIX, *rotation = v->sum + rows->rotation, *stretch = v->sum + rows->stretch;
  const turn t = blended_turn(v);
  lanes arm[3], y[3], turned[3], moved[3], ga[3], back[3], stretched_back[3];
  for (int i = 0; i < 3; i++) {
    arm[i] = v->x[i] - v->f[i];
    ga[i] = v->amount * v->g[i];
    y[i] = rows->stretch ? NO_LANES : arm[i];
  }
  if (rows->stretch) add_moved_lanes(stretch, arm, y);
  for (int i = 0; i < 3; i++) y[i] -= v->z[i];
  turn_lanes(&t, 1.0, y, turned);
  turn_lanes(&t, -1.0, ga, back);
  apply_lanes(rotation, v->z, moved);
  for (int i = 0; i < 3; i++) moved[i] += turned[i];
  v->by_amount = dot_lanes(v->g, moved);
  apply_lanes(matrix, arm, moved);
  v->by_amount -= dot_lanes(v->g, moved);

  add_turning(&t, ga, y, v->by + SBS_BY_QUATERNION);
  add_outer(v->by + SBS_BY_MATRIX, v->g, v->x);
  for (int i = 0; i < 3; i++) {
    v->by[SBS_BY_PLACE + i] += v->g[i];
    arm[i] = -arm[i];
  }
  add_outer(v->by + SBS_BY_MATRIX, ga, arm);
  add_outer(v->by + rows->rotation, ga, v->z);
  for (int i = 0; i < 3; i++) {
    arm[i] = -arm[i];
    stretched_back[i] = rows->stretch ? NO_LANES : back[i];
  }
  if (rows->stretch) {
    add_outer(v->by + rows->stretch, back, arm);
    add_moved_lanes(stretch, back, stretched_back); /* symmetric */
  }
  add_transposed_lanes(matrix, ga, v->by_f);
  add_transposed_lanes(rotation, ga, v->by_z);
  add_transposed_lanes(matrix, v->g, v->by_x);
  for (int i = 0; i < 3; i++) {
    v->by_x[i] += stretched_back[i] - v->by_f[i];
    v->by_f[i] -= stretched_back[i];
    v->by_z[i] -= back[i];
  }
}

/*
 * v' = 2 (s e - d u + u x e) / (s, s), (d, e) = D (x, 1) the sum of products; in part, the rest is linear.
 */
static void differentiate_dual_quaternion(vertices *v) {
  const size_t products = v->run->rows.products;
  const turn t = blended_turn(v);
  const lanes *columns = v->sum + products, *u = t.q + 1, s = t.q[0], *matrix = v->sum + SBS_BY_MATRIX;
  lanes d[4], moved[3], across[3], h[3], by_d[4], rest[3], linear[3];
  for (int i = 0; i < 4; i++) {
    d[i] = columns[12 + i] + columns[i] * v->x[0] + columns[4 + i] * v->x[1] + columns[8 + i] * v->x[2];
  }
  cross_lanes(u, d + 1, across);
  for (int i = 0; i < 3; i++) {
    moved[i] = t.scale * (s * d[1 + i] - d[0] * u[i] + across[i]);
    h[i] = t.scale * v->amount * v->g[i];
    rest[i] = (1.0 - v->amount) * v->g[i];
    linear[i] = v->sum[SBS_BY_PLACE + i];
  }
  add_moved_lanes(matrix, v->x, linear);
  v->by_amount = dot_lanes(v->g, moved) - dot_lanes(v->g, linear);

  cross_lanes(h, u, across);
  by_d[0] = -dot_lanes(u, h);
  for (int i = 0; i < 3; i++) by_d[1 + i] = s * h[i] + across[i];
  cross_lanes(d + 1, h, across);
  const lanes shrink = t.scale * v->amount * dot_lanes(v->g, moved);
  lanes *by_q = v->by + SBS_BY_QUATERNION;
  by_q[0] += dot_lanes(d + 1, h) - shrink * s;
  for (int i = 0; i < 3; i++) by_q[1 + i] += across[i] - d[0] * h[i] - shrink * u[i];
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 3; j++) {
      v->by[products + (size_t)(4 * j + i)] += by_d[i] * v->x[j];
      v->by_x[j] += by_d[i] * columns[4 * j + i];
    }
    v->by[products + 12 + (size_t)i] += by_d[i];
  }
  add_outer(v->by + SBS_BY_MATRIX, rest, v->x);
  for (int i = 0; i < 3; i++) v->by[SBS_BY_PLACE + i] += rest[i];
  add_transposed_lanes(matrix, rest, v->by_x);
}

/* --------------------------------------------------------------------------------------------- weighted centers -- */

/* Of influence k: R_k - M, and where it takes the vertex, less the mean m of that. */
static void read_differences(const vertices *v, size_t k, const lanes mean[3], lanes d[9], lanes apart[3]) {
  const size_t rotation = v->run->rows.rotation;
  const lanes *row = v->rows + k * v->width;
  for (int i = 0; i < 9; i++) d[i] = row[rotation + (size_t)i] - v->sum[rotation + (size_t)i];
  for (int i = 0; i < 3; i++) apart[i] = row[SBS_BY_PLACE + i] - mean[i];
  add_moved_lanes(row + SBS_BY_MATRIX, v->x, apart);
}

/* Where the joints take the vertex: m. */
static void find_mean(const vertices *v, lanes mean[3]) {
  memcpy(mean, v->sum + SBS_BY_PLACE, 3 * sizeof *mean);
  add_moved_lanes(v->sum + SBS_BY_MATRIX, v->x, mean);
}

/* l / damping, the sum of the products of all pairs of weights. */
static lanes sum_pairs(const vertices *v) {
  lanes sum = NO_LANES, pairs = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) {
    pairs += v->in.weights[k] * sum;
    sum += v->in.weights[k];
  }
  return pairs;
}

/* z as kernels/weighted.inc has it; returns the left side of its equations. */
static factors find_weighted_center(vertices *v, double damping) {
  lanes normal[6], square[6], d[9], apart[3], mean[3], right[3];
  find_mean(v, mean);
  clear_lanes(right);
  for (int i = 0; i < 6; i++) normal[i] = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) {
    read_differences(v, k, mean, d, apart);
    gram_matrix(d, square);
    for (int i = 0; i < 6; i++) normal[i] += v->in.weights[k] * square[i];
    for (int i = 0; i < 3; i++) apart[i] *= -v->in.weights[k];
    add_transposed_lanes(d, apart, right);
  }
  const lanes least = damping * sum_pairs(v) + splat_lanes(DBL_MIN);
  normal[0] += least, normal[3] += least, normal[5] += least;
  const factors by = factorize(normal);
  clear_lanes(v->z);
  add_solution(&by, right, v->z);
  return by;
}

/*
 * z depends on the weights, the joints and the vertex by F = sum w_k D_k^T (D_k z + p_k - m) + l z = 0, D_k = R_k - M:
 * with lambda = N^-1 by_z, differentiate -lambda . F, with z fixed, by whatever else it depends on.
 */
static void differentiate_weighted_center(vertices *v, const factors *normal, double damping, double *by_rows) {
  const size_t rotation = v->run->rows.rotation;
  lanes lambda[3], mean[3];
  clear_lanes(lambda);
  add_solution(normal, v->by_z, lambda);
  find_mean(v, mean);
  const lanes along = damping * dot_lanes(lambda, v->z);
  for (size_t k = 0; k < v->in.count; k++) {
    const lanes weight = v->in.weights[k], *row = v->rows + k * v->width;
    lanes d[9], rho[3], mu[3], by[12], by_rotation[12];
    read_differences(v, k, mean, d, rho);
    add_moved_lanes(d, v->z, rho);
    apply_lanes(d, lambda, mu);
    if (v->by_weights) v->by_weights[k] += weight * along - dot_lanes(mu, rho);
    for (int i = 0; i < 12; i++) by[i] = by_rotation[i] = NO_LANES;
    for (int i = 0; i < 3; i++) {
      by[SBS_BY_PLACE + i] = mu[i] *= -weight;
      rho[i] *= -weight;
    }
    add_outer(by, mu, v->x);
    add_outer(by_rotation, rho, lambda);
    add_outer(by_rotation, mu, v->z);
    add_transposed_lanes(row + SBS_BY_MATRIX, mu, v->by_x);
    if (!by_rows) continue;
    add_to_influence(v, by_rows, k, SBS_BY_MATRIX, by);
    add_to_influence(v, by_rows, k, rotation, by_rotation);
  }
}

/* ------------------------------------------------------------------------------------------------------- normals -- */

/*
 * n' along (1 - a) l + a Q e, with the unit vectors l along (R S^-1) n and e along S^-1 n. Of the linear methods it is
 * l.
 */
static void differentiate_normals(vertices *v) {
  const sbs_gradient_rows *rows = &v->run->rows;
  const lanes *matrix = v->sum + rows->normal;
  const int turns = v->run->posed.request.rotations;
  lanes moved[3], linear[3], by_linear[3];
  apply_lanes(matrix, v->n, moved);
  make_unit(moved, linear);
  memcpy(by_linear, v->h, sizeof by_linear);
  if (turns) {
    const turn t = blended_turn(v);
    lanes stretched[3], e[3], turned[3], mixed[3], by_turned[3], back[3];
    memcpy(stretched, v->n, sizeof stretched);
    if (rows->inverse) apply_lanes(v->sum + rows->inverse, v->n, stretched);
    make_unit(stretched, e);
    turn_lanes(&t, 1.0, e, turned);
    for (int i = 0; i < 3; i++) mixed[i] = linear[i] + v->amount * (turned[i] - linear[i]);
    before_unit(mixed, by_linear);
    for (int i = 0; i < 3; i++) {
      v->by_amount += by_linear[i] * (turned[i] - linear[i]);
      by_turned[i] = v->amount * by_linear[i];
      by_linear[i] *= 1.0 - v->amount;
    }
    add_turning(&t, by_turned, e, v->by + SBS_BY_QUATERNION);
    turn_lanes(&t, -1.0, by_turned, back);
    before_unit(stretched, back);
    if (rows->inverse) {
      add_outer(v->by + rows->inverse, back, v->n);
      add_transposed_lanes(v->sum + rows->inverse, back, v->by_n);
    } else {
      for (int i = 0; i < 3; i++) v->by_n[i] += back[i];
    }
  }
  before_unit(moved, by_linear);
  add_outer(v->by + rows->normal, by_linear, v->n);
  add_transposed_lanes(matrix, by_linear, v->by_n);
}

#endif
