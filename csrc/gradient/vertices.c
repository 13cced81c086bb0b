/* SPDX-License-Identifier: MIT */
/*
 * The gradient by vertices, and from there to the rows of joints (gradient/run.h), LANES vertices at once, in double.
 * With g the gradient by v', a formula gives the gradient by the sums of rows, `by`; a row gets that times its weight,
 * and a weight the product of `by` and the row. docs/fitting.md derives the formulas.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "deform/options.h"
#include "gradient/run.h"
#include "kernels/wide.h"

typedef struct vertices {
  const sbs_gradient_run *run;
  wide in;
  size_t width;
  lanes *rows;       /* (influences, width) of each influence; quaternions with the signs that they are blended with */
  lanes *turns;      /* (influences) weights with these signs */
  lanes *by_weights; /* (influences), or NULL: not wanted */
  lanes x[3], n[3];  /* at rest; n is of unit length */
  lanes g[3], h[3];  /* the gradient by the position, and by the normal */
  lanes amount;      /* how much of the method, the rest being linear */
  lane_mask always_linear; /* whatever the amount: vertices that are their own centers, or of one joint */
  lanes f[3], z[3];        /* pose/center.h */
  lanes sum[SBS_BY_MOST], by[SBS_BY_MOST];
  lanes by_x[3], by_n[3], by_f[3], by_z[3], by_amount;
} vertices;

static void clear_lanes(lanes to[3]) {
  to[0] = to[1] = to[2] = NO_LANES;
}

SBS_INLINE void add_scaled_lanes(lanes sum[3], lanes scale, const lanes v[3]) {
  for (int i = 0; i < 3; i++) sum[i] += scale * v[i];
}

/* m += a b^T, by columns */
SBS_INLINE void add_outer(lanes *m, const lanes a[3], const lanes b[3]) {
  for (int j = 0; j < 3; j++) add_scaled_lanes(m + 3 * j, b[j], a);
}

/* The gradient by v, given that by v / |v|; none where v is nothing. */
static void before_unit(const lanes v[3], lanes g[3]) {
  const lanes square = dot_lanes(v, v);
  const lane_mask none = (lane_mask)(square <= splat_lanes(DBL_MIN));
  const lanes per_length = 1.0 / lane_square_root(select_lanes(none, splat_lanes(1.0), square));
  const lanes along = dot_lanes(g, v) * per_length * per_length;
  for (int i = 0; i < 3; i++) g[i] = select_lanes(none, NO_LANES, per_length * (g[i] - along * v[i]));
}

static void make_unit(const lanes v[3], lanes unit[3]) {
  const lanes per_length = 1.0 / lane_square_root(dot_lanes(v, v) + splat_lanes(DBL_MIN));
  for (int i = 0; i < 3; i++) unit[i] = per_length * v[i];
}

/* --------------------------------------------------------------------------------------------------------- rows -- */

/* The columns of (A, p) / 2, each times the quaternion. */
static void multiply_columns(const lanes *row, lanes products[16]) {
  const lanes *q = row + SBS_BY_QUATERNION;
  for (int j = 0; j < 4; j++) {
    const lanes *c = row + 3 * j;
    lanes *product = products + 4 * j, across[3];
    cross_lanes(c, q + 1, across);
    product[0] = -0.5 * dot_lanes(c, q + 1);
    for (int i = 0; i < 3; i++) product[1 + i] = 0.5 * (q[0] * c[i] + across[i]);
  }
}

static void load_rows(vertices *v) {
  const sbs_gradient_rows *rows = &v->run->rows;
  const sbs_posed *posed = v->in.posed;
  const sbs_vec4 *normals = posed->is_taken_apart ? posed->stretches->normal : posed->joints->moving;
  const size_t normal_stride = posed->is_taken_apart ? STRETCH_VECTORS : JOINT_VECTORS;
  lanes heaviest[4], q[4] = {NO_LANES, NO_LANES, NO_LANES, NO_LANES};
  memcpy(heaviest, q, sizeof heaviest);
  if (posed->request.rotations) read_heaviest(&v->in, heaviest);
  for (size_t k = 0; k < v->in.count; k++) {
    lanes *row = v->rows + k * v->width;
    read_moving(&v->in, k, row + SBS_BY_MATRIX);
    if (posed->request.rotations) read_quaternion(&v->in, k, q);
    const lane_mask is_other = is_in_other_hemisphere(heaviest, q);
    for (int i = 0; i < 4; i++) row[SBS_BY_QUATERNION + i] = select_lanes(is_other, -q[i], q[i]);
    v->turns[k] = select_lanes(is_other, -v->in.weights[k], v->in.weights[k]);
    if (rows->rotation) read_vectors(&v->in, k, posed->stretches->rotation, STRETCH_VECTORS, 3, row + rows->rotation);
    if (rows->stretch) read_vectors(&v->in, k, posed->stretches->stretch, STRETCH_VECTORS, 3, row + rows->stretch);
    if (rows->normal) read_vectors(&v->in, k, normals, normal_stride, 3, row + rows->normal);
    if (rows->inverse) read_vectors(&v->in, k, posed->stretches->inverse, STRETCH_VECTORS, 3, row + rows->inverse);
    if (rows->products) multiply_columns(row, row + rows->products);
  }
}

static void sum_rows(vertices *v) {
  for (size_t i = 0; i < v->width; i++) v->sum[i] = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) {
    const lanes weight = v->in.weights[k], *row = v->rows + k * v->width;
    for (size_t i = 0; i < v->width; i++) v->sum[i] += weight * row[i];
  }
}

/* From the gradient by the sums to that by the weights. */
static void share_by_weights(vertices *v) {
  for (size_t k = 0; k < v->in.count; k++) {
    const lanes *row = v->rows + k * v->width;
    lanes along = NO_LANES;
    for (size_t i = 0; i < v->width; i++) along += v->by[i] * row[i];
    v->by_weights[k] = along;
  }
}

/* The numbers of each lane, one lane after the other. */
static void transpose_numbers(const lanes *numbers, size_t count, double *out) {
  for (size_t i = 0; i < count; i++) {
    for (size_t l = 0; l < LANES; l++) out[l * count + i] = LANE(numbers[i], l);
  }
}

static double *joint_row(const vertices *v, double *by_rows, size_t k, size_t l) {
  return by_rows + (size_t)v->in.joints[v->in.is_shared ? k : k * LANES + l] * v->width;
}

/* Adds the gradient by the sums of lane l to a row of influence k, times its weight. */
static void add_to_row(const vertices *v, const double *by, size_t k, size_t l, double *row) {
  (void)l;
  const size_t products = v->run->rows.products, before_products = products ? products : v->width;
  const double weight = LANE(v->in.weights[k], l), turn = LANE(v->turns[k], l);
  if (weight == 0.0) return;
  for (size_t i = 0; i < SBS_BY_QUATERNION; i++) row[i] += weight * by[i];
  for (size_t i = SBS_BY_QUATERNION; i < SBS_BY_OTHERS; i++) row[i] += turn * by[i];
  for (size_t i = SBS_BY_OTHERS; i < before_products; i++) row[i] += weight * by[i];
  for (size_t i = before_products; i < v->width; i++) row[i] += turn * by[i];
}

/* Adds the gradient by the sums to the rows of joints; if vertices share their joints, summed up first. */
static void add_to_rows(const vertices *v, double *by_rows) {
  const size_t width = v->width, left = v->run->skin->vertex_count - v->in.first, count = left < LANES ? left : LANES;
  double by[LANES * SBS_BY_MOST], sum[SBS_BY_MOST];
  if (v->in.first >= v->run->skin->vertex_count) return;
  transpose_numbers(v->by, width, by);
  for (size_t k = 0; k < v->in.count; k++) {
    if (!v->in.is_shared) {
      for (size_t l = 0; l < count; l++) add_to_row(v, by + l * width, k, l, joint_row(v, by_rows, k, l));
      continue;
    }
    memset(sum, 0, width * sizeof *sum);
    for (size_t l = 0; l < count; l++) add_to_row(v, by + l * width, k, l, sum);
    double *row = joint_row(v, by_rows, k, 0);
    for (size_t i = 0; i < width; i++) row[i] += sum[i];
  }
}

/* Adds numbers (count) from one on to the rows of influence k. */
static void add_to_influence(const vertices *v, double *by_rows, size_t k, size_t at, size_t count,
                             const lanes *numbers) {
  double by[LANES * 12];
  transpose_numbers(numbers, count, by);
  for (size_t l = 0; l < LANES; l++) {
    if (v->in.first + l >= v->run->skin->vertex_count) return;
    if (LANE(v->in.weights[k], l) == 0.0) continue;
    double *row = joint_row(v, by_rows, k, l) + at;
    for (size_t i = 0; i < count; i++) row[i] += by[l * count + i];
  }
}

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
 * with lambda = N^-1 by_z, the gradient by anything else is that of -lambda . F, z being fixed.
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
    lanes d[9], rho[3], mu[3], by[12], by_rotation[9];
    read_differences(v, k, mean, d, rho);
    add_moved_lanes(d, v->z, rho);
    apply_lanes(d, lambda, mu);
    if (v->by_weights) v->by_weights[k] += weight * along - dot_lanes(mu, rho);
    for (int i = 0; i < 9; i++) by[i] = by_rotation[i] = NO_LANES;
    for (int i = 0; i < 3; i++) {
      by[SBS_BY_PLACE + i] = mu[i] *= -weight;
      rho[i] *= -weight;
    }
    add_outer(by, mu, v->x);
    add_outer(by_rotation, rho, lambda);
    add_outer(by_rotation, mu, v->z);
    add_transposed_lanes(row + SBS_BY_MATRIX, mu, v->by_x);
    if (!by_rows) continue;
    add_to_influence(v, by_rows, k, SBS_BY_MATRIX, 12, by);
    add_to_influence(v, by_rows, k, rotation, 9, by_rotation);
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

/* ----------------------------------------------------------------------------------------------------------- all -- */

/* Finds the gradient of all that the vertices are made of, given g and h. by_rows may be NULL. */
static SBS_CALLED void differentiate_vertices(vertices *v, double *by_rows) {
  const sbs_gradient_run *run = v->run;
  const sbs_deform_options *options = run->options;
  const double damping = sbs_weighted_damping(options);
  const int is_spherical = options->method == SBS_METHOD_SPHERICAL;
  const int is_weighted = is_spherical && options->center == SBS_CENTER_WEIGHTED;
  factors normal;
  for (size_t i = 0; i < v->width; i++) v->by[i] = NO_LANES;
  clear_lanes(v->by_x), clear_lanes(v->by_n), clear_lanes(v->by_f), clear_lanes(v->by_z);
  v->by_amount = NO_LANES;
  if (is_weighted) normal = find_weighted_center(v, damping);
  if (is_spherical) {
    differentiate_spherical(v);
  } else if (options->method == SBS_METHOD_DUAL_QUATERNION) {
    differentiate_dual_quaternion(v);
  } else {
    differentiate_linear(v);
  }
  if (run->upstream.normals) differentiate_normals(v);
  v->by_amount = select_lanes(v->always_linear, NO_LANES, v->by_amount);
  if (v->by_weights) share_by_weights(v);
  if (is_weighted) { /* f = x */
    differentiate_weighted_center(v, &normal, damping, by_rows);
    for (int i = 0; i < 3; i++) v->by_x[i] += v->by_f[i];
  }
  if (by_rows) add_to_rows(v, by_rows);
}

/*
 * The centers of vertices, as kernels/exact.c has them; f of weighted centers is the vertex. One of a single joint has
 * none: it is moved linearly, as its equations say nothing.
 */
static void find_centers(vertices *v) {
  const sbs_deform_options *options = v->run->options;
  const sbs_skin *skin = v->run->skin;
  clear_lanes(v->f);
  clear_lanes(v->z);
  v->always_linear = (lane_mask)(NO_LANES > NO_LANES);
  if (options->method != SBS_METHOD_SPHERICAL) return;
  if (options->center == SBS_CENTER_JOINT_SET) {
    read_set_centers(&v->in, v->f, v->z);
  } else if (options->center == SBS_CENTER_WEIGHTED) {
    memcpy(v->f, v->x, sizeof v->f);
    lanes sizes = NO_LANES;
    for (size_t l = 0; l < LANES; l++) {
      LANE(sizes, l) = (double)sbs_set_size(skin, (size_t)skin->set_of_vertex[v->in.first + l]);
    }
    v->always_linear = (lane_mask)(sizes < splat_lanes(2.0));
  } else {
    for (size_t i = 0; i < 3; i++) {
      const lanes center = read_lanes(skin->centers, skin->scalar, sbs_vector_index(v->in.first, i));
      v->always_linear = (lane_mask)(center != center);
      v->f[i] = select_lanes(v->always_linear, NO_LANES, center);
    }
  }
  v->amount = select_lanes(v->always_linear, NO_LANES, v->amount);
}

static void begin_vertices(vertices *v, const sbs_gradient_run *run, int by_weights, double *work, size_t first) {
  const sbs_deform_options *options = run->options;
  const sbs_skin *skin = run->skin;
  v->run = run;
  v->width = run->rows.width;
  begin_wide(&v->in, &run->posed, first, 1, work);
  v->turns = (lanes *)(void *)(work + wide_influences_size(skin));
  v->by_weights = by_weights ? v->turns + v->in.count : NULL;
  v->rows = v->turns + 2 * v->in.count;
  if (options->method == SBS_METHOD_RIGID) keep_heaviest(&v->in);
  clear_lanes(v->n);
  read_rest(&run->rest, first, run->upstream.normals != NULL, v->x, v->n);
  v->amount = splat_lanes(1.0);
  for (size_t l = 0; l < LANES && options->amount && first + l < skin->vertex_count; l++) {
    LANE(v->amount, l) = sbs_scalar_get(options->amount, options->amount_scalar, first + l);
  }
  find_centers(v);
  load_rows(v);
  sum_rows(v);
}

static void read_upstream(const sbs_gradient_run *run, const void *upstream, size_t first, lanes g[3]) {
  clear_lanes(g);
  for (size_t l = 0; l < LANES && upstream && first + l < run->skin->vertex_count; l++) {
    for (size_t i = 0; i < 3; i++) LANE(g[i], l) = sbs_scalar_get(upstream, run->skin->scalar, 3 * (first + l) + i);
  }
}

static void put_vector(const sbs_gradient_run *run, void *to, size_t vertex, const lanes v[3], size_t l) {
  (void)l; /* without vectors there is but one lane */
  for (size_t i = 0; to && i < 3; i++) sbs_scalar_put(to, run->skin->scalar, 3 * vertex + i, LANE(v[i], l));
}

static int is_weighted_lane(const vertices *v, size_t l) {
  return sbs_set_size(v->run->skin, (size_t)v->run->skin->set_of_vertex[v->in.first + l]) > 0;
}

/* The part of the gradient that all weights of a vertex share: there is none along their own direction. */
static double mean_by_weights(const vertices *v, size_t l) {
  (void)l;
  double mean = 0.0;
  for (size_t k = 0; k < v->in.count; k++) mean += LANE(v->in.weights[k], l) * LANE(v->by_weights[k], l);
  return mean;
}

/* Puts the gradient by the weights of a vertex as they were given, which are divided by their sum. */
static void put_weights(const vertices *v, size_t l, void *to, sbs_scalar scalar, size_t first) {
  const sbs_gradient *gradient = v->run->gradient;
  const size_t columns = gradient->columns, vertex = v->in.first + l;
  const uint16_t *slots = gradient->slots + vertex * columns;
  const int has_any = v->run->options->method != SBS_METHOD_RIGID &&
                      sbs_set_size(v->run->skin, (size_t)v->run->skin->set_of_vertex[vertex]) > 1;
  const double mean = mean_by_weights(v, l), scale = gradient->scales[vertex];
  for (size_t c = 0; c < columns; c++) {
    const int has_one = has_any && slots[c] < v->in.count;
    sbs_scalar_put(to, scalar, first + c, has_one ? scale * (LANE(v->by_weights[slots[c]], l) - mean) : 0.0);
  }
}

/* By a normal before it was brought to unit length, which shapes may have changed. */
static void put_normal(const vertices *v, size_t l) {
  const sbs_gradient_run *run = v->run;
  const lanes *by_n = is_weighted_lane(v, l) ? v->by_n : v->h;
  double n[3];
  lanes given[3], by[3];
  sbs_get_raw_normal(&run->rest, v->in.first + l, n);
  for (int i = 0; i < 3; i++) given[i] = splat_lanes(n[i]), by[i] = by_n[i];
  before_unit(given, by);
  put_vector(run, run->result.rest_normals, v->in.first + l, by, l);
}

/* Writes the gradients by the vertices themselves. Vertices without weights stay where they are. */
static void write_vertices(const vertices *v) {
  const sbs_gradient_run *run = v->run;
  const sbs_gradient_result *result = &run->result;
  const lanes none[3] = {NO_LANES, NO_LANES, NO_LANES};
  const int has_centers = run->options->method == SBS_METHOD_SPHERICAL && run->options->center == SBS_CENTER_OPTIMIZED;
  for (size_t l = 0; l < LANES && v->in.first + l < run->skin->vertex_count; l++) {
    const size_t vertex = v->in.first + l;
    const int is_moved = is_weighted_lane(v, l);
    put_vector(run, result->rest_positions, vertex, is_moved ? v->by_x : v->g, l);
    put_vector(run, result->centers, vertex, is_moved && has_centers ? v->by_f : none, l);
    if (result->rest_normals) put_normal(v, l);
    if (v->by_weights) put_weights(v, l, result->joint_weights, run->skin->scalar, vertex * run->gradient->columns);
    if (result->amount)
      sbs_scalar_put(result->amount, run->skin->scalar, vertex, is_moved ? LANE(v->by_amount, l) : 0.0);
    for (size_t i = 0; run->by_centers && i < 6; i++) {
      run->by_centers[vertex][i] = is_moved ? LANE(i < 3 ? v->by_z[i] : v->by_f[i - 3], l) : 0.0;
    }
  }
}

void SBS_FOR_ISA(sbs_gradient_differentiate)(const sbs_gradient_run *run, double *work, size_t begin, size_t end) {
  const size_t size = run->skin->joint_count * run->rows.width;
  vertices v;
  for (size_t chunk = begin; chunk < end; chunk++) {
    const size_t after = (chunk + 1) * run->chunk_blocks;
    const size_t last = after < run->skin->block_count ? after : run->skin->block_count;
    double *by_rows = run->by_rows ? run->by_rows + chunk * size : NULL;
    if (by_rows) memset(by_rows, 0, size * sizeof *by_rows);
    for (size_t first = chunk * run->chunk_blocks * SBS_BLOCK; first < last * SBS_BLOCK; first += LANES) {
      begin_vertices(&v, run, run->result.joint_weights != NULL, work, first);
      read_upstream(run, run->upstream.positions, first, v.g);
      read_upstream(run, run->upstream.normals, first, v.h);
      differentiate_vertices(&v, by_rows);
      write_vertices(&v);
    }
  }
}

void SBS_FOR_ISA(sbs_gradient_find_jacobian)(const sbs_gradient_run *run, double *work, size_t vertex,
                                             double *jacobian) {
  const size_t columns = run->gradient->columns, l = vertex % LANES;
  vertices v;
  begin_vertices(&v, run, 1, work, vertex - l);
  clear_lanes(v.h);
  for (int axis = 0; axis < 3; axis++) {
    clear_lanes(v.g);
    v.g[axis] = splat_lanes(1.0);
    differentiate_vertices(&v, NULL);
    put_weights(&v, l, jacobian, SBS_FLOAT64, (size_t)axis * columns);
  }
}
