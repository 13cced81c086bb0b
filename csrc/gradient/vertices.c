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
  lanes *rows;             /* (influences, width) of each influence */
  lanes *signs;            /* (influences) -1 for quaternions in the other hemisphere than the heaviest joint's */
  lanes *turns;            /* (influences) weights of quaternions, and of products with one: with these signs */
  lanes *by_weights;       /* (influences + 1), or NULL: not wanted */
  lanes x[3], n[3];        /* at rest; n is of unit length */
  lanes g[3], h[3];        /* the gradient by the position, and by the normal */
  int is_finite;           /* g and h; else a weight of 0 has to keep them from a joint */
  lanes amount;            /* how much of the method, the rest being linear */
  lane_mask is_moved;      /* vertices without weights stay where they are */
  lane_mask always_linear; /* whatever the amount: vertices that are their own centers, or of one joint */
  lanes f[3], z[3];        /* pose/center.h */
  lanes sum[SBS_BY_MOST], by[SBS_BY_MOST];
  lanes by_x[3], by_n[3], by_f[3], by_z[3], by_amount;
} vertices;

typedef float four_floats __attribute__((vector_size(4 * sizeof(float)), may_alias, aligned(sizeof(float))));
typedef double four_doubles __attribute__((vector_size(4 * sizeof(double)), may_alias, aligned(sizeof(double))));

SBS_INLINE sbs_vec4 read_four(const void *from, sbs_scalar scalar, size_t first) {
  if (scalar == SBS_FLOAT64) return *(const four_doubles *)(const void *)((const double *)from + first);
  return __builtin_convertvector(*(const four_floats *)(const void *)((const float *)from + first), sbs_vec4);
}

SBS_INLINE void write_four(void *to, sbs_scalar scalar, size_t first, sbs_vec4 numbers) {
  if (scalar == SBS_FLOAT64) {
    *(four_doubles *)(void *)((double *)to + first) = numbers;
  } else {
    *(four_floats *)(void *)((float *)to + first) = __builtin_convertvector(numbers, four_floats);
  }
}

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

/* Of vertices that share their joints all lanes are the same, in the whole block. */
static void load_rows(vertices *v) {
  const sbs_gradient_rows *rows = &v->run->rows;
  const sbs_posed *posed = v->in.posed;
  const sbs_vec4 *normals = posed->is_taken_apart ? posed->stretches->normal : posed->joints->moving;
  const size_t normal_stride = posed->is_taken_apart ? STRETCH_VECTORS : JOINT_VECTORS;
  for (size_t k = 0; k < v->in.count; k++) {
    lanes *row = v->rows + k * v->width;
    read_moving(&v->in, k, row + SBS_BY_MATRIX);
    if (posed->request.rotations) read_quaternion(&v->in, k, row + SBS_BY_QUATERNION);
    if (rows->rotation) read_vectors(&v->in, k, posed->stretches->rotation, STRETCH_VECTORS, 3, row + rows->rotation);
    if (rows->stretch) read_vectors(&v->in, k, posed->stretches->stretch, STRETCH_VECTORS, 3, row + rows->stretch);
    if (rows->normal) read_vectors(&v->in, k, normals, normal_stride, 3, row + rows->normal);
    if (rows->inverse) read_vectors(&v->in, k, posed->stretches->inverse, STRETCH_VECTORS, 3, row + rows->inverse);
    for (size_t i = rows->unused; i < rows->products; i++) row[i] = NO_LANES;
    if (rows->products < v->width) multiply_columns(row, row + rows->products);
  }
}

static void find_signs(vertices *v) {
  lanes heaviest[4];
  read_heaviest(&v->in, heaviest);
  for (size_t k = 0; k < v->in.count; k++) {
    const lane_mask is_other = is_in_other_hemisphere(heaviest, v->rows + k * v->width + SBS_BY_QUATERNION);
    v->signs[k] = select_lanes(is_other, splat_lanes(-1.0), splat_lanes(1.0));
    v->turns[k] = v->signs[k] * v->in.weights[k];
  }
}

/* Whether numbers of rows, four from `at` on, are quaternions or products with one. */
SBS_INLINE int is_turning(const vertices *v, size_t at) {
  return at == SBS_BY_QUATERNION ? v->run->posed.request.rotations : at >= v->run->rows.products;
}

static void sum_rows(vertices *v) {
  for (size_t at = 0; at < v->width; at += 4) {
    const lanes *weights = is_turning(v, at) ? v->turns : v->in.weights;
    lanes sum[4] = {NO_LANES, NO_LANES, NO_LANES, NO_LANES};
    for (size_t k = 0; k < v->in.count; k++) {
      for (size_t i = 0; i < 4; i++) sum[i] += weights[k] * v->rows[k * v->width + at + i];
    }
    for (size_t i = 0; i < 4; i++) v->sum[at + i] = sum[i];
  }
}

/* From the gradient by the sums to that by the weights. */
static void share_by_weights(vertices *v) {
  for (size_t k = 0; k < v->in.count; k++) {
    v->by_weights[k] = NO_LANES;
    for (size_t at = 0; at < v->width; at += 4) {
      const lanes *by = v->by + at, *row = v->rows + k * v->width + at;
      const lanes along = by[0] * row[0] + by[1] * row[1] + by[2] * row[2] + by[3] * row[3];
      v->by_weights[k] += is_turning(v, at) ? v->signs[k] * along : along;
    }
  }
}

static double *joint_row(const vertices *v, double *by_rows, size_t k, size_t l) {
  return by_rows + (size_t)v->in.joints[v->in.is_shared ? k : k * LANES + l] * v->width;
}

SBS_INLINE void add_quad(sbs_vec4 quad, double *row) {
  sbs_vec4 sum;
  memcpy(&sum, row, sizeof sum);
  sum += quad;
  memcpy(row, &sum, sizeof sum);
}

/* Adds four numbers of each lane, times its scale, to those of the joints that influence k has, from `at` on. */
static void add_quads(const vertices *v, const sbs_vec4 quads[LANES], lanes scale, size_t k, size_t at,
                      double *by_rows) {
  if (v->in.is_shared && v->is_finite) {
    sbs_vec4 sum = {0.0};
    for (size_t l = 0; l < LANES; l++) sum += LANE(scale, l) * quads[l];
    add_quad(sum, joint_row(v, by_rows, k, 0) + at);
    return;
  }
  for (size_t l = 0; l < LANES; l++) {
    if (LANE(v->in.weights[k], l) != 0.0) add_quad(LANE(scale, l) * quads[l], joint_row(v, by_rows, k, l) + at);
  }
}

/* Adds the gradient by the sums to the rows of joints. */
static void add_to_rows(const vertices *v, double *by_rows) {
  sbs_vec4 quads[LANES];
  for (size_t i = 0; i < v->width; i += 4) {
    const lanes *weights = is_turning(v, i) ? v->turns : v->in.weights;
    transpose_from_lanes(v->by + i, quads);
    for (size_t k = 0; k < v->in.count; k++) add_quads(v, quads, weights[k], k, i, by_rows);
  }
}

/* Adds numbers to the rows of influence k, from `at` on. */
static void add_to_influence(const vertices *v, double *by_rows, size_t k, size_t at, const lanes numbers[12]) {
  sbs_vec4 quads[LANES];
  for (size_t i = 0; i < 12; i += 4) {
    transpose_from_lanes(numbers + i, quads);
    add_quads(v, quads, splat_lanes(1.0), k, at + i, by_rows);
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

/* Reads vertices, which may be the next ones of the same block. */
static void begin_vertices(vertices *v, const sbs_gradient_run *run, int by_weights, double *work, size_t first,
                           int is_next) {
  const sbs_deform_options *options = run->options;
  const sbs_skin *skin = run->skin;
  v->run = run;
  v->width = run->rows.width;
  begin_wide(&v->in, &run->posed, first, 1, work);
  v->rows = (lanes *)(void *)(work + wide_influences_size(skin));
  v->signs = v->rows + v->in.count * v->width;
  v->turns = v->signs + v->in.count;
  v->by_weights = by_weights ? v->turns + v->in.count : NULL;
  lanes sum = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) sum += v->in.weights[k];
  v->is_moved = (lane_mask)(sum > NO_LANES);
  if (options->method == SBS_METHOD_RIGID) keep_heaviest(&v->in);
  clear_lanes(v->n);
  read_rest(&run->rest, first, run->upstream.normals != NULL, v->x, v->n);
  v->amount = splat_lanes(1.0);
  for (size_t l = 0; l < LANES && options->amount && first + l < skin->vertex_count; l++) {
    LANE(v->amount, l) = sbs_scalar_get(options->amount, options->amount_scalar, first + l);
  }
  find_centers(v);
  if (!v->in.is_shared || !is_next) load_rows(v);
  if (run->posed.request.rotations) find_signs(v);
  sum_rows(v);
}

static void read_upstream(const sbs_gradient_run *run, const void *upstream, size_t first, lanes g[3]) {
  const sbs_scalar scalar = run->skin->scalar;
  const size_t end = run->skin->vertex_count;
  sbs_vec4 vectors[LANES];
  clear_lanes(g);
  if (!upstream) return;
  for (size_t l = 0; l < LANES; l++) {
    const size_t vertex = first + l;
    vectors[l] = (sbs_vec4){0.0};
    if (vertex + 1 < end) { /* a fourth number follows */
      vectors[l] = read_four(upstream, scalar, 3 * vertex);
    } else if (vertex < end) {
      for (size_t i = 0; i < 3; i++) vectors[l][i] = sbs_scalar_get(upstream, scalar, 3 * vertex + i);
    }
  }
  transpose_vectors(vectors, g);
}

static void read_upstreams(vertices *v) {
  const sbs_gradient_run *run = v->run;
  read_upstream(run, run->upstream.positions, v->in.first, v->g);
  read_upstream(run, run->upstream.normals, v->in.first, v->h);
  const lanes all = v->g[0] + v->g[1] + v->g[2] + v->h[0] + v->h[1] + v->h[2];
  double sum = 0.0;
  for (size_t l = 0; l < LANES; l++) sum += LANE(all, l);
  v->is_finite = isfinite(sum);
}

/* Writes a vector of each vertex. */
static void write_vectors(const vertices *v, const lanes vector[3], void *to) {
  const sbs_scalar scalar = v->run->skin->scalar;
  const size_t first = v->in.first, end = v->run->skin->vertex_count;
  const lanes four[4] = {vector[0], vector[1], vector[2], NO_LANES};
  sbs_vec4 vectors[LANES];
  transpose_from_lanes(four, vectors);
  for (size_t l = 0; l < LANES && first + l < end; l++) {
    if (l + 1 < LANES && first + l + 1 < end) {
      write_four(to, scalar, 3 * (first + l), vectors[l]); /* the next vector takes the place of the fourth number */
    } else {
      for (size_t i = 0; i < 3; i++) sbs_scalar_put(to, scalar, 3 * (first + l) + i, vectors[l][i]);
    }
  }
}

/*
 * The gradient by weights as they were given, which are divided by their sum: there is none along their direction, and
 * none of a single joint.
 */
static void finish_weights(vertices *v) {
  lanes mean = NO_LANES, scale = NO_LANES;
  for (size_t l = 0; l < LANES && v->in.first + l < v->run->skin->vertex_count; l++) {
    LANE(scale, l) = v->run->options->method == SBS_METHOD_RIGID ? 0.0 : v->run->gradient->scales[v->in.first + l];
  }
  const lane_mask is_blended = (lane_mask)(scale > NO_LANES);
  for (size_t k = 0; k < v->in.count; k++) mean += v->in.weights[k] * v->by_weights[k];
  for (size_t k = 0; k < v->in.count; k++) {
    v->by_weights[k] = select_lanes(is_blended, scale * (v->by_weights[k] - mean), NO_LANES);
  }
  v->by_weights[v->in.count] = NO_LANES;
}

/* Puts the gradient by the weights of lane l. */
static void put_weights(const vertices *v, size_t l, void *to, sbs_scalar scalar, size_t first) {
  const size_t columns = v->run->gradient->columns, count = v->in.count;
  const uint16_t *slots = v->run->gradient->slots + (v->in.first + l) * columns;
  const double *by = (const double *)(const void *)v->by_weights + l; /* of each influence LANES numbers */
  for (size_t c = 0; c < columns; c++) {
    const size_t slot = slots[c] < count ? slots[c] : count; /* one more, of weights that move nothing */
    sbs_scalar_put(to, scalar, first + c, by[slot * LANES]);
  }
}

/* By normals before they were brought to unit length, which shapes may have changed. */
static void write_normals(const vertices *v) {
  const sbs_gradient_run *run = v->run;
  lanes given[3], by[3];
  clear_lanes(given);
  for (size_t l = 0; l < LANES && v->in.first + l < run->skin->vertex_count; l++) {
    double n[3];
    sbs_get_raw_normal(&run->rest, v->in.first + l, n);
    for (int i = 0; i < 3; i++) LANE(given[i], l) = n[i];
  }
  for (int i = 0; i < 3; i++) by[i] = select_lanes(v->is_moved, v->by_n[i], v->h[i]);
  before_unit(given, by);
  write_vectors(v, by, run->result.rest_normals);
}

static void write_by_centers(const vertices *v) {
  lanes numbers[8];
  sbs_vec4 front[LANES], back[LANES];
  for (int i = 0; i < 8; i++) {
    const lanes number = i < 3 ? v->by_z[i] : v->by_f[i < 6 ? i - 3 : 0];
    numbers[i] = select_lanes(v->is_moved, number, NO_LANES);
  }
  transpose_from_lanes(numbers, front);
  transpose_from_lanes(numbers + 4, back);
  for (size_t l = 0; l < LANES && v->in.first + l < v->run->skin->vertex_count; l++) {
    double *to = v->run->by_centers[v->in.first + l];
    memcpy(to, front + l, 4 * sizeof *to);
    memcpy(to + 4, back + l, 2 * sizeof *to);
  }
}

/* Writes the gradients by the vertices themselves. */
static void write_vertices(vertices *v) {
  const sbs_gradient_run *run = v->run;
  const sbs_gradient_result *result = &run->result;
  const sbs_scalar scalar = run->skin->scalar;
  const size_t first = v->in.first, end = run->skin->vertex_count, columns = run->gradient->columns;
  const int has_centers = run->options->method == SBS_METHOD_SPHERICAL && run->options->center == SBS_CENTER_OPTIMIZED;
  const lanes by_amount = select_lanes(v->is_moved, v->by_amount, NO_LANES);
  lanes by_x[3], by_f[3];
  for (int i = 0; i < 3; i++) {
    by_x[i] = select_lanes(v->is_moved, v->by_x[i], v->g[i]);
    by_f[i] = has_centers ? select_lanes(v->is_moved, v->by_f[i], NO_LANES) : NO_LANES;
  }
  if (result->rest_positions) write_vectors(v, by_x, result->rest_positions);
  if (result->centers) write_vectors(v, by_f, result->centers);
  if (result->rest_normals) write_normals(v);
  if (v->by_weights) finish_weights(v);
  if (run->by_centers) write_by_centers(v);
  for (size_t l = 0; l < LANES && first + l < end; l++) {
    if (v->by_weights) put_weights(v, l, result->joint_weights, scalar, (first + l) * columns);
    if (result->amount) sbs_scalar_put(result->amount, scalar, first + l, LANE(by_amount, l));
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
      begin_vertices(&v, run, run->result.joint_weights != NULL, work, first, first % SBS_BLOCK > 0);
      read_upstreams(&v);
      differentiate_vertices(&v, by_rows);
      write_vertices(&v);
    }
  }
}

void SBS_FOR_ISA(sbs_gradient_find_jacobian)(const sbs_gradient_run *run, double *work, size_t vertex,
                                             double *jacobian) {
  const size_t columns = run->gradient->columns, l = vertex % LANES;
  vertices v;
  begin_vertices(&v, run, 1, work, vertex - l, 0);
  clear_lanes(v.h);
  for (int axis = 0; axis < 3; axis++) {
    clear_lanes(v.g);
    v.g[axis] = splat_lanes(1.0);
    differentiate_vertices(&v, NULL);
    finish_weights(&v);
    put_weights(&v, l, jacobian, SBS_FLOAT64, (size_t)axis * columns);
  }
}
