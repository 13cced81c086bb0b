/* SPDX-License-Identifier: MIT */
#ifndef SBS_GRADIENT_ROWS_H
#define SBS_GRADIENT_ROWS_H

/*
 * Vertices while they are differentiated, LANES at once, and the rows of their joints (gradient/run.h): rows are
 * summed up by weights; the gradient by a sum, times the weight, goes back to the row, and times the row to the
 * weight.
 */
#include <float.h>

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

#endif
