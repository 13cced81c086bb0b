/* SPDX-License-Identifier: MIT */
/* All methods in double: kernels/exact.h. */
#include "kernels/exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "kernels/average.h"
#include "kernels/wide.h"

/* LANES vertices. Points are relative to the skin's origin at rest, to the anchor in the pose. */
typedef struct vertices {
  const sbs_exact_args *args;
  wide in;
  lanes (*apart)[4];  /* (influences) q_i - s, then s* q_i */
  lanes amount;       /* how much of the method, the rest being linear */
  lanes reference[3]; /* f, about which joints stretch (pose/center.h) */
  lanes center[3];    /* z, from there to the rotation center */

  lanes s[4], scale;    /* the blended quaternion, and 2 / (s, s) */
  lanes covariance[10]; /* of the quaternions: ww, wx, wy, wz, xx, xy, xz, yy, yz, zz */
  lanes turn[4];        /* the average after s; 1 for QLERP */
  lanes mean[9];        /* sum w_i R_i, by columns; of weighted centers */
  lanes normal[6];
} vertices;

static int is_weighted_center(const vertices *v) {
  return v->args->method == SBS_METHOD_SPHERICAL && v->args->center == SBS_CENTER_WEIGHTED;
}

SBS_INLINE void copy_lanes(const lanes from[3], lanes to[3]) {
  for (int i = 0; i < 3; i++) to[i] = from[i];
}

SBS_INLINE void clear_lanes(lanes to[3]) {
  to[0] = to[1] = to[2] = NO_LANES;
}

/* ------------------------------------------------------------------------------------------------ sums of points -- */

/* sum w_i C_i x */
SBS_INLINE void blend_points(const vertices *v, const lanes x[3], lanes out[3]) {
  clear_lanes(out);
  for (size_t k = 0; k < v->in.count; k++) {
    lanes m[12];
    read_moving(&v->in, k, m);
    add_moved_lanes(m, x, m + 9);
    for (int i = 0; i < 3; i++) out[i] += v->in.weights[k] * m[9 + i];
  }
}

/* sum w_i M_i x of matrices in a table (read_vectors) */
SBS_INLINE void blend_matrices(const vertices *v, const sbs_vec4 *table, size_t stride, const lanes x[3],
                               lanes out[3]) {
  clear_lanes(out);
  for (size_t k = 0; k < v->in.count; k++) {
    lanes m[9], by_joint[3];
    read_vectors(&v->in, k, table, stride, 3, m);
    apply_lanes(m, x, by_joint);
    for (int i = 0; i < 3; i++) out[i] += v->in.weights[k] * by_joint[i];
  }
}

/* ----------------------------------------------------------------------------------------------------- rotations -- */

/*
 * Kavan & Zara 2005, section 4.2, of differences from the heaviest joint's quaternion q: s = q + d, d = sum w_i (q_i -
 * q), q_i in the hemisphere of q. The covariance of the quaternions is sum w_i (q_i - q) (q_i - q)^T - d d^T.
 */
SBS_INLINE void blend_rotations(vertices *v) {
  lanes q[4], d[4] = {NO_LANES, NO_LANES, NO_LANES, NO_LANES}, square = NO_LANES;
  read_heaviest(&v->in, q);
  for (int i = 0; i < 10; i++) v->covariance[i] = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) {
    const lanes weight = v->in.weights[k];
    lanes *apart = v->apart[k];
    read_quaternion(&v->in, k, apart);
    turn_to_hemisphere(q, apart);
    for (int i = 0; i < 4; i++) {
      apart[i] -= q[i];
      d[i] += weight * apart[i];
    }
    for (int i = 0, at = 0; i < 4; i++) {
      for (int j = i; j < 4; j++) v->covariance[at++] += weight * apart[i] * apart[j];
    }
  }
  for (int i = 0, at = 0; i < 4; i++) {
    for (int j = i; j < 4; j++) v->covariance[at++] -= d[i] * d[j];
    v->s[i] = q[i] + d[i];
    square += v->s[i] * v->s[i];
  }
  v->scale = 2.0 / square;
  v->turn[0] = splat_lanes(1.0);
  clear_lanes(v->turn + 1);
  if (v->args->rotation != SBS_ROTATION_AVERAGE || v->args->method != SBS_METHOD_SPHERICAL) return;
  const lanes per_length = 1.0 / lane_square_root(square);
  for (size_t k = 0; k < v->in.count; k++) { /* s* (q_i - s) loses nothing where q_i is near */
    lanes other[4], product[4];
    for (int i = 0; i < 4; i++) other[i] = v->apart[k][i] - d[i];
    multiply_conjugate(v->s, other, product);
    v->apart[k][0] = (square + product[0]) * per_length;
    for (int i = 1; i < 4; i++) v->apart[k][i] = product[i] * per_length;
  }
  average_rotations(v->in.weights, v->apart, v->in.count, v->turn);
}

/* out = Q y, of s alone */
SBS_INLINE void rotate_by_blend(const vertices *v, const lanes y[3], lanes out[3]) {
  lanes t[3], twice[3];
  cross_lanes(v->s + 1, y, t);
  cross_lanes(v->s + 1, t, twice);
  for (int i = 0; i < 3; i++) out[i] = y[i] + v->scale * (v->s[0] * t[i] + twice[i]);
}

/* out = (T - 1) y, T the turn of the average */
SBS_INLINE void add_nothing_but_turn(const vertices *v, const lanes y[3], lanes out[3]) {
  lanes t[3], twice[3];
  cross_lanes(v->turn + 1, y, t);
  cross_lanes(v->turn + 1, t, twice);
  for (int i = 0; i < 3; i++) out[i] = 2.0 * (v->turn[0] * t[i] + twice[i]);
}

/* out = Q y */
SBS_INLINE void rotate(const vertices *v, const lanes y[3], lanes out[3]) {
  lanes turned[3];
  add_nothing_but_turn(v, y, turned);
  for (int i = 0; i < 3; i++) turned[i] += y[i];
  rotate_by_blend(v, turned, out);
}

/*
 * out = (Q - M) y, M = sum w_i R_i, without the difference of two large vectors: the matrix of a quaternion is linear
 * in the products of its numbers, so with their covariance K it is trace(K) Q y - matrix(K) y (docs/mathematics.md).
 * For the average Q (T - 1) y is added.
 */
SBS_INLINE void apply_difference(const vertices *v, const lanes y[3], lanes out[3]) {
  const lanes *k = v->covariance;
  const lanes ww = k[0], wx = k[1], wy = k[2], wz = k[3], xx = k[4], xy = k[5], xz = k[6], yy = k[7], yz = k[8],
              zz = k[9];
  lanes turned[3], more[3];
  rotate_by_blend(v, y, turned);
  add_nothing_but_turn(v, y, more);
  rotate_by_blend(v, more, out);
  for (int i = 0; i < 3; i++) out[i] += (ww + xx + yy + zz) * turned[i];
  out[0] -= (ww + xx - yy - zz) * y[0] + 2.0 * ((xy - wz) * y[1] + (xz + wy) * y[2]);
  out[1] -= (ww - xx + yy - zz) * y[1] + 2.0 * ((xy + wz) * y[0] + (yz - wx) * y[2]);
  out[2] -= (ww - xx - yy + zz) * y[2] + 2.0 * ((xz - wy) * y[0] + (yz + wx) * y[1]);
}

/* ------------------------------------------------------------------------------------------------------- centers -- */

/* f and z of the set, or as given with the vertices. Vertices that are their own centers get no amount. */
SBS_INLINE void find_centers(vertices *v) {
  const sbs_skin *skin = v->in.posed->skin;
  clear_lanes(v->reference);
  clear_lanes(v->center);
  if (v->args->method != SBS_METHOD_SPHERICAL || v->args->center == SBS_CENTER_WEIGHTED) return;
  if (v->args->center == SBS_CENTER_JOINT_SET) {
    read_set_centers(&v->in, v->reference, v->center);
    return;
  }
  for (size_t i = 0; i < 3; i++) {
    const lanes center = read_lanes(skin->centers, skin->scalar, sbs_vector_index(v->in.first, i));
    const lane_mask own = (lane_mask)(center != center);
    v->reference[i] = select_lanes(own, NO_LANES, center);
    v->amount = select_lanes(own, NO_LANES, v->amount);
  }
}

/* M, and the left side of the equations, of weighted centers. */
static void prepare_weighted(vertices *v) {
  const sbs_skin *skin = v->in.posed->skin;
  const lanes pairs = read_lanes(skin->pair_weights, skin->scalar, v->in.first);
  lanes *normal = v->normal, r[9], square[6];
  for (int i = 0; i < 9; i++) v->mean[i] = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) {
    read_rotation(&v->in, k, r);
    for (int i = 0; i < 9; i++) v->mean[i] += v->in.weights[k] * r[i];
  }
  for (int i = 0; i < 6; i++) normal[i] = NO_LANES;
  for (size_t k = 0; k < v->in.count; k++) {
    read_rotation(&v->in, k, r);
    for (int i = 0; i < 9; i++) r[i] -= v->mean[i];
    gram_matrix(r, square);
    for (int i = 0; i < 6; i++) normal[i] += v->in.weights[k] * square[i];
  }
  const lanes damping = larger_lanes(v->args->damping * pairs, splat_lanes(DBL_MIN));
  normal[0] += damping, normal[3] += damping, normal[5] += damping;
}

/*
 * z from the vertex to its weighted center: with p_i = C_i x and their mean m, of joints R_i with the mean M,
 * [sum w_i (R_i - M)^T (R_i - M) + l] z = -sum w_i (R_i - M)^T (p_i - m)
 */
SBS_INLINE void solve_weighted(const vertices *v, const lanes x[3], const lanes moved[3], lanes z[3]) {
  lanes right[3];
  clear_lanes(right);
  for (size_t k = 0; k < v->in.count; k++) {
    lanes r[9], m[12], apart[3];
    read_rotation(&v->in, k, r);
    read_moving(&v->in, k, m);
    add_moved_lanes(m, x, m + 9);
    for (int i = 0; i < 9; i++) r[i] -= v->mean[i];
    for (int i = 0; i < 3; i++) apart[i] = v->in.weights[k] * (moved[i] - m[9 + i]);
    add_transposed_lanes(r, apart, right);
  }
  const factors by = factorize(v->normal);
  clear_lanes(z);
  add_solution(&by, right, z);
}

/* ------------------------------------------------------------------------------------------------------ formulas -- */

/* v' = sum w_i C_i f + Q S (v - f) - (Q - M) z, which is eq. (9) of Kavan & Zara 2005, as pose/center.h has it */
SBS_INLINE void move_spherically(const vertices *v, const lanes x[3], const lanes by_linear[3], lanes out[3]) {
  const sbs_posed *posed = v->in.posed;
  lanes arm[3], stretched[3], turned[3], apart[3], z[3];
  if (is_weighted_center(v)) { /* f = v */
    solve_weighted(v, x, by_linear, z);
    apply_difference(v, z, apart);
    for (int i = 0; i < 3; i++) out[i] = by_linear[i] - apart[i];
    return;
  }
  for (int i = 0; i < 3; i++) arm[i] = x[i] - v->reference[i];
  if (!posed->is_taken_apart) { /* the same about any f: sum w_i C_i v + (Q - M) (v - f - z) */
    for (int i = 0; i < 3; i++) arm[i] -= v->center[i];
    apply_difference(v, arm, apart);
    for (int i = 0; i < 3; i++) out[i] = by_linear[i] + apart[i];
    return;
  }
  blend_matrices(v, posed->stretches->stretch, STRETCH_VECTORS, arm, stretched);
  rotate(v, stretched, turned);
  apply_difference(v, v->center, apart);
  blend_points(v, v->reference, out);
  for (int i = 0; i < 3; i++) out[i] += turned[i] - apart[i];
}

/* The vector part of sum w_i p_i q_i s* / (s, s), p_i = C_i v: dual quaternions about the vertex (Kavan et al. 2007) */
SBS_INLINE void move_by_dual_quaternions(const vertices *v, const lanes x[3], lanes out[3]) {
  const lanes *s = v->s;
  lanes heaviest[4];
  read_heaviest(&v->in, heaviest);
  clear_lanes(out);
  for (size_t k = 0; k < v->in.count; k++) {
    lanes q[4], m[12], relative[4], across[3];
    read_quaternion(&v->in, k, q);
    turn_to_hemisphere(heaviest, q);
    read_moving(&v->in, k, m);
    add_moved_lanes(m, x, m + 9);
    /* q s* = c + u, and the vector part of p (c + u) is c p + p x u */
    cross_lanes(s + 1, q + 1, across);
    relative[0] = q[0] * s[0] + dot_lanes(q + 1, s + 1);
    for (int i = 1; i < 4; i++) relative[i] = s[0] * q[i] - q[0] * s[i] + across[i - 1];
    cross_lanes(m + 9, relative + 1, across);
    for (int i = 0; i < 3; i++) {
      out[i] += v->in.weights[k] * 0.5 * v->scale * (relative[0] * m[9 + i] + across[i]);
    }
  }
}

/* Where vertices are moved from x. */
static void move_points(const vertices *v, const lanes x[3], lanes out[3]) {
  lanes by_linear[3], by_method[3];
  blend_points(v, x, by_linear);
  if (!v->in.posed->request.rotations) {
    copy_lanes(by_linear, out);
    return;
  }
  if (v->args->method == SBS_METHOD_SPHERICAL) {
    move_spherically(v, x, by_linear, by_method);
  } else {
    move_by_dual_quaternions(v, x, by_method);
  }
  for (int i = 0; i < 3; i++) out[i] = by_linear[i] + v->amount * (by_method[i] - by_linear[i]);
}

/* n / |n|, or zero. */
SBS_INLINE void make_unit(lanes n[3]) {
  lanes square = dot_lanes(n, n);
  const lane_mask is_beyond = (lane_mask)(square < splat_lanes(1e-200)) | (lane_mask)(square > splat_lanes(1e200));
  if (any_lane(is_beyond)) { /* by the largest number first, so that no square overflows or vanishes */
    const lanes largest = larger_lanes(absolute_lanes(n[0]), larger_lanes(absolute_lanes(n[1]), absolute_lanes(n[2])));
    const lanes divisor = select_lanes(is_beyond & (lane_mask)(largest > NO_LANES), largest, splat_lanes(1.0));
    for (int i = 0; i < 3; i++) n[i] /= divisor;
    square = dot_lanes(n, n);
    square = select_lanes((lane_mask)(square > NO_LANES), square, splat_lanes(1.0));
  }
  const lanes per_length = 1.0 / lane_square_root(square);
  for (int i = 0; i < 3; i++) n[i] *= per_length;
}

/* sum w_i R_i S_i^-1 n, of unit length */
SBS_INLINE void blend_normals(const vertices *v, const lanes n[3], lanes out[3]) {
  const sbs_posed *posed = v->in.posed;
  if (posed->is_taken_apart) {
    const lanes scaled[3] = {posed->normal_scale * n[0], posed->normal_scale * n[1], posed->normal_scale * n[2]};
    blend_matrices(v, posed->stretches->normal, STRETCH_VECTORS, scaled, out);
  } else {
    blend_matrices(v, posed->joints->moving, JOINT_VECTORS, n, out);
  }
  make_unit(out);
}

static void turn_normals(const vertices *v, const lanes n[3], lanes out[3]) {
  const sbs_posed *posed = v->in.posed;
  lanes by_linear[3], stretched[3];
  blend_normals(v, n, by_linear);
  if (!posed->request.rotations) {
    copy_lanes(by_linear, out);
    return;
  }
  copy_lanes(n, stretched);
  if (posed->is_taken_apart) blend_matrices(v, posed->stretches->inverse, STRETCH_VECTORS, n, stretched);
  make_unit(stretched);
  rotate(v, stretched, out);
  for (int i = 0; i < 3; i++) out[i] = by_linear[i] + v->amount * (out[i] - by_linear[i]);
  make_unit(out);
}

/* -------------------------------------------------------------------------------------------------------- output -- */

/* The vertex of a lane, if it is wanted, else SIZE_MAX. */
static size_t wanted_vertex(const sbs_exact_args *args, size_t lane) {
  const sbs_skin *skin = args->posed->skin;
  if (lane >= skin->vertex_count) return SIZE_MAX;
  return args->wanted[lane / SBS_BLOCK] >> lane % SBS_BLOCK & 1 ? lane : SIZE_MAX;
}

static void put_numbers(void *output, size_t stride, sbs_scalar scalar, size_t vertex, const double x[3]) {
  for (size_t i = 0; i < 3; i++) sbs_scalar_put((char *)output + vertex * stride, scalar, i, x[i]);
}

/* Where a vertex without weights is, in the pose as at rest. */
static void keep_vertex(const sbs_exact_args *args, size_t vertex) {
  const sbs_scalar scalar = args->posed->skin->scalar;
  double x[3], n[3];
  sbs_get_rest_position(&args->rest, vertex, x);
  for (size_t i = 0; i < 3 && args->posed_positions; i++) {
    double added[3];
    sbs_get_shape_sum(&args->rest, vertex, added);
    const char *posed = (const char *)args->posed_positions + vertex * args->posed_stride;
    x[i] = sbs_scalar_get(posed, scalar, i) - added[i];
  }
  put_numbers(args->positions, args->positions_stride, scalar, vertex, x);
  if (args->singular) args->singular[vertex] = 0;
  if (!args->normals) return;
  sbs_get_rest_normal(&args->rest, vertex, n);
  put_numbers(args->normals, args->normals_stride, scalar, vertex, n);
}

static void deform_vertices(const vertices *v, const size_t wanted[LANES]) {
  const sbs_exact_args *args = v->args;
  const sbs_scalar scalar = args->posed->skin->scalar;
  lanes x[3], moved[3], n[3], turned[3];
  clear_lanes(n);
  clear_lanes(turned);
  read_rest(&args->rest, v->in.first, args->normals != NULL, x, n);
  move_points(v, x, moved);
  if (args->normals) turn_normals(v, n, turned);
  for (int i = 0; i < 3; i++) moved[i] += args->posed->anchor[i];
  for (size_t l = 0; l < LANES; l++) {
    if (wanted[l] == SIZE_MAX) continue;
    const double place[3] = {LANE(moved[0], l), LANE(moved[1], l), LANE(moved[2], l)};
    put_numbers(args->positions, args->positions_stride, scalar, wanted[l], place);
    if (!args->normals) continue;
    const double normal[3] = {LANE(turned[0], l), LANE(turned[1], l), LANE(turned[2], l)};
    put_numbers(args->normals, args->normals_stride, scalar, wanted[l], normal);
  }
}

/* ------------------------------------------------------------------------------------------------------- inverse -- */

/* Whether the inverse x of a vertex is determined, with `distance` |p| + |p - m|: sbs_skin_inverse_deform. */
static int is_regular(const sbs_skin *skin, const double a[9], double distance, const double x[3]) {
  const double eps = sbs_scalar_epsilon(skin->scalar), size = skin->size_with_origin;
  const double norm = sqrt(sbs_norm_squared(a)), determinant = fabs(sbs_determinant(a));
  double adjugate[9];
  sbs_cofactors(a, adjugate);
  if (!(determinant > 16.0 * eps * norm * norm * norm)) return 0;
  const double sensitivity = (distance + norm * size) * sqrt(sbs_norm_squared(adjugate)) / determinant;
  return eps * sensitivity <= 1e-3 * size && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/*
 * The rest position that a posed one comes of, if the vertex has an inverse; else its rest position in the skin. The
 * image of x is A x + b. Returns whether it has.
 */
static int invert_vertex(const sbs_exact_args *args, size_t vertex, const double a[9], const double b[3]) {
  const sbs_skin *skin = args->posed->skin;
  const char *from = (const char *)args->posed_positions + vertex * args->posed_stride;
  double adjugate[9], posed[3], relative[3], apart[3], x[3], added[3];
  for (int i = 0; i < 3; i++) {
    posed[i] = sbs_scalar_get(from, skin->scalar, (size_t)i);
    relative[i] = posed[i] - args->posed->anchor[i];
    apart[i] = relative[i] - b[i];
  }
  sbs_cofactors(a, adjugate);
  sbs_apply_transposed(adjugate, apart, x);
  for (int i = 0; i < 3; i++) x[i] = x[i] / sbs_determinant(a) + skin->origin[i];
  const double distance = sqrt(sbs_dot(posed, posed)) + sqrt(sbs_dot(relative, relative));
  const int regular = is_regular(skin, a, distance, x);
  sbs_get_shape_sum(&args->rest, vertex, added);
  for (size_t i = 0; i < 3; i++) {
    if (regular) {
      x[i] -= added[i];
    } else {
      x[i] = sbs_scalar_get(skin->positions, skin->scalar, sbs_vector_index(vertex, i)) + skin->origin[i];
    }
  }
  put_numbers(args->positions, args->positions_stride, skin->scalar, vertex, x);
  if (args->singular) args->singular[vertex] = (unsigned char)!regular;
  return regular;
}

/*
 * For given weights each method is an affine map x -> A x + b of the rest position, whatever its formula: its values at
 * the origin and at a step from there along each axis give A and b. Returns how many vertices have no inverse.
 */
static size_t invert_vertices(const vertices *v, const size_t wanted[LANES]) {
  const sbs_exact_args *args = v->args;
  const double size = args->posed->skin->size_with_origin;
  const double step = ldexp(1.0, (int)fmax(-60.0, fmin(floor(log2(size)), 60.0)));
  lanes image[4][3];
  size_t singular_count = 0;
  for (int i = 0; i < 4; i++) {
    lanes x[3] = {NO_LANES, NO_LANES, NO_LANES};
    if (i) x[i - 1] += step;
    move_points(v, x, image[i]);
  }
  for (size_t l = 0; l < LANES; l++) {
    double a[9], b[3];
    if (wanted[l] == SIZE_MAX) continue;
    for (int i = 0; i < 9; i++) a[i] = (LANE(image[i % 3 + 1][i / 3], l) - LANE(image[0][i / 3], l)) / step;
    for (int i = 0; i < 3; i++) b[i] = LANE(image[0][i], l);
    singular_count += !invert_vertex(args, wanted[l], a, b);
  }
  return singular_count;
}

/* ----------------------------------------------------------------------------------------------------------- all -- */

static void begin_vertices(vertices *v, const sbs_exact_args *args, double *work, size_t first) {
  const sbs_skin *skin = args->posed->skin;
  v->args = args;
  begin_wide(&v->in, args->posed, first, !args->posed->is_extreme, work);
  v->apart = (lanes(*)[4])(void *)(work + wide_influences_size(skin));
  if (args->method == SBS_METHOD_RIGID) keep_heaviest(&v->in);
  v->amount = args->amounts ? read_lanes(args->amounts, skin->scalar, first) : splat_lanes(1.0);
  find_centers(v);
  if (args->posed->request.rotations) blend_rotations(v);
  if (is_weighted_center(v)) prepare_weighted(v);
}

/* Finds the lanes from `first` on that are wanted; those without weights are done. Returns how many are left. */
static size_t take_lanes(const sbs_exact_args *args, size_t first, size_t wanted[LANES]) {
  const sbs_skin *skin = args->posed->skin;
  size_t count = 0;
  for (size_t l = 0; l < LANES; l++) {
    wanted[l] = wanted_vertex(args, first + l);
    if (wanted[l] == SIZE_MAX) continue;
    if (sbs_set_size(skin, (size_t)skin->set_of_vertex[first + l])) {
      count++;
    } else {
      keep_vertex(args, wanted[l]);
      wanted[l] = SIZE_MAX;
    }
  }
  return count;
}

size_t SBS_FOR_ISA(sbs_exact)(const sbs_exact_args *args, double *work, size_t begin, size_t end) {
  size_t singular_count = 0;
  for (size_t first = begin * SBS_BLOCK; first < end * SBS_BLOCK; first += LANES) {
    size_t wanted[LANES];
    vertices v;
    if (!args->wanted[first / SBS_BLOCK] || !take_lanes(args, first, wanted)) continue;
    begin_vertices(&v, args, work, first);
    if (args->posed_positions) {
      singular_count += invert_vertices(&v, wanted);
    } else {
      deform_vertices(&v, wanted);
    }
  }
  return singular_count;
}
