/* SPDX-License-Identifier: MIT */
/*
 * The gradient by vertices, and from there to the rows of joints, LANES vertices at once, in double: with g the
 * gradient by v', a formula (gradient/formulas.h) gives the gradient by the sums of rows (gradient/rows.h).
 */
#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "deform/options.h"
#include "gradient/formulas.h"

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

/* --------------------------------------------------------------------------------------------- reading, writing -- */

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
