/* SPDX-License-Identifier: MIT */
/* What all vertices of a joint set have in common, and the gradient by it. docs/fitting.md has the derivation. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "gradient/run.h"
#include "pose/center.h"
#include "pose/linear_algebra.h"

/* How many times the size of the mesh a center may be away for float32 to be enough. */
#define FAR_CENTER 16.0

/* out = m v, of columns */
static void apply(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/* out += m^T v */
static void add_transposed(const double m[9], const double v[3], double out[3]) {
  for (int j = 0; j < 3; j++) out[j] += sbs_dot(m + 3 * j, v);
}

static void get_columns(const sbs_vec4 columns[3], double out[9]) {
  for (int i = 0; i < 9; i++) out[i] = columns[i / 3][i % 3];
}

static void add_cross(double out[3], const double a[3], const double b[3]) {
  double c[3];
  sbs_cross(a, b, c);
  for (int i = 0; i < 3; i++) out[i] += c[i];
}

int sbs_gradient_is_stretched(const sbs_gradient_run *run, size_t set) {
  return !sbs_gradient_moves_as_given(run) && sbs_is_stretched(run->skin, set, run->kinds);
}

sbs_gradient_formula sbs_gradient_formula_of(const sbs_gradient_run *run, size_t set, int own) {
  const sbs_deform_options *options = run->options;
  if (sbs_gradient_moves_as_given(run) || sbs_set_size(run->skin, set) < 2) return SBS_GRADIENT_LINEAR;
  if (options->method == SBS_METHOD_DUAL_QUATERNION) return SBS_GRADIENT_DUAL_QUATERNION;
  if (options->center == SBS_CENTER_JOINT_SET) return SBS_GRADIENT_JOINT_SET;
  if (options->center == SBS_CENTER_WEIGHTED) return SBS_GRADIENT_WEIGHTED;
  return own ? SBS_GRADIENT_LINEAR : SBS_GRADIENT_OPTIMIZED;
}

void sbs_gradient_origin(const sbs_gradient_run *run, size_t set, double origin[3]) {
  const double *c0 = run->skin->set_centroids + 3 * set;
  const int any = sbs_set_size(run->skin, set) > 0, is_float = run->skin->scalar == SBS_FLOAT32;
  for (int i = 0; i < 3; i++) origin[i] = !any ? 0.0 : is_float ? (double)(float)c0[i] : c0[i];
}

/* ------------------------------------------------------------------------------------------------------- centers -- */

/* Joints of a set whose rows are kept; of larger sets they are computed again. */
#define KEPT_ROWS 8

/* The equations of the center of a joint set: pose/center.h. */
typedef struct equations {
  size_t size;
  double rows[KEPT_ROWS][12]; /* D, then what is left of C f */
  double weight;
  double mean[12];  /* of R_i, then of C_i f */
  double point[3];  /* f */
  double normal[6]; /* (00, 01, 02, 11, 12, 22), damped */
  int steps;        /* of refinement, the first included */
} equations;

static const int32_t *joints_of(const sbs_skin *skin, size_t set) {
  return skin->set_joints + skin->set_offsets[set];
}

static void get_turning(const sbs_gradient_run *run, size_t joint, double turning[9]) {
  get_columns(sbs_turning(run->joints + joint, run->kinds[joint], run->stretches + joint), turning);
}

static void move_point(const sbs_gradient_run *run, size_t joint, const double point[3], double moved[3]) {
  const sbs_joint *at = run->joints + joint;
  const sbs_vec4 *matrix = sbs_gradient_moves_as_given(run) ? at->given : at->moving;
  double columns[9];
  get_columns(matrix, columns);
  apply(columns, point, moved);
  for (int i = 0; i < 3; i++) moved[i] += at->translation[i];
}

/* R_k and C_k f */
static void make_row(const sbs_gradient_run *run, const equations *of, size_t joint, double row[12]) {
  get_turning(run, joint, row);
  move_point(run, joint, of->point, row + 9);
}

/* R_k - mean R, and C_k f - its mean, of the set's joint k */
static void get_row(const sbs_gradient_run *run, const equations *of, const int32_t *joints, size_t k, double d[12]) {
  if (k < KEPT_ROWS) {
    memcpy(d, of->rows[k], 12 * sizeof *d);
    return;
  }
  make_row(run, of, (size_t)joints[k], d);
  for (int i = 0; i < 12; i++) d[i] -= of->mean[i];
}

static void find_equations(const sbs_gradient_run *run, size_t set, const double point[3], equations *of) {
  const int32_t *joints = joints_of(run->skin, set);
  of->size = sbs_set_size(run->skin, set);
  of->weight = 2.0 / ((double)of->size - 1.0);
  memcpy(of->point, point, sizeof of->point);
  memset(of->mean, 0, sizeof of->mean);
  memset(of->normal, 0, sizeof of->normal);
  for (size_t k = 0; k < of->size; k++) {
    double other[12], *row = k < KEPT_ROWS ? of->rows[k] : other;
    make_row(run, of, (size_t)joints[k], row);
    for (int i = 0; i < 12; i++) of->mean[i] += row[i];
  }
  for (int i = 0; i < 12; i++) of->mean[i] /= (double)of->size;
  for (size_t k = 0; k < of->size && k < KEPT_ROWS; k++) {
    for (int i = 0; i < 12; i++) of->rows[k][i] -= of->mean[i];
  }
  for (size_t k = 0; k < of->size; k++) {
    double d[12];
    get_row(run, of, joints, k, d);
    for (int i = 0, at = 0; i < 3; i++) {
      for (int j = i; j < 3; j++, at++) of->normal[at] += of->weight * sbs_dot(d + 3 * i, d + 3 * j);
    }
  }
  const double loss = DBL_EPSILON / run->options->damping * (of->normal[0] + of->normal[3] + of->normal[5]);
  of->steps = loss < 1e-14 ? 1 : loss < 1e-7 ? 2 : 4;
  of->normal[0] += run->options->damping;
  of->normal[3] += run->options->damping;
  of->normal[5] += run->options->damping;
}

/* x = N^-1 right by L D L^T. */
static void solve_once(const double m[6], const double right[3], double x[3]) {
  const double l10 = m[1] / m[0], l20 = m[2] / m[0], d1 = m[3] - l10 * m[1], m21 = m[4] - l20 * m[1], l21 = m21 / d1;
  const double d2 = m[5] - l20 * m[2] - l21 * m21, y1 = right[1] - l10 * right[0];
  x[2] = (right[2] - l20 * right[0] - l21 * y1) / d2;
  x[1] = y1 / d1 - l21 * x[2];
  x[0] = right[0] / m[0] - l10 * x[1] - l20 * x[2];
}

/* sum_k D_k^T (D_k x + s e_k) weight + damping x, by the rows themselves: what normal equations have lost */
static void find_residual(const sbs_gradient_run *run, const equations *of, size_t set, const double x[3], double s,
                          double residual[3]) {
  const int32_t *joints = joints_of(run->skin, set);
  for (int i = 0; i < 3; i++) residual[i] = run->options->damping / of->weight * x[i];
  for (size_t k = 0; k < of->size; k++) {
    double d[12], moved[3];
    get_row(run, of, joints, k, d);
    apply(d, x, moved);
    for (int i = 0; i < 3; i++) moved[i] += s * d[9 + i];
    add_transposed(d, moved, residual);
  }
  for (int i = 0; i < 3; i++) residual[i] *= of->weight;
}

/* Solves N x = right, or where right is NULL for the center itself. Refined, as pose/solve_centers.c has it. */
static void solve(const sbs_gradient_run *run, const equations *of, size_t set, const double *right, double x[3]) {
  x[0] = x[1] = x[2] = 0.0;
  for (int step = 0; step < of->steps; step++) {
    double residual[3], correction[3];
    find_residual(run, of, set, x, right ? 0.0 : 1.0, residual);
    for (int i = 0; i < 3; i++) residual[i] = (right ? right[i] : 0.0) - residual[i];
    solve_once(of->normal, residual, correction);
    for (int i = 0; i < 3; i++) x[i] += correction[i];
  }
}

/* ----------------------------------------------------------------------------------------------------- constants -- */

/* Where the constants of a set are, in doubles: floats begin there, too. */
static double *constants_of(const sbs_gradient_run *run, size_t set) {
  return run->constants + set * SBS_GRADIENT_BASE + run->skin->set_offsets[set] * SBS_GRADIENT_ROW;
}

static void put_vector(double *to, const double from[3]) {
  memcpy(to, from, 3 * sizeof *to);
  to[3] = 0.0;
}

static void put_matrix(double *to, const double from[9]) {
  for (int j = 0; j < 3; j++) put_vector(to + 4 * j, from + 3 * j);
}

/* q_k q_0*, in the hemisphere of 1. */
static sbs_vec4 relative_quaternion(const sbs_gradient_run *run, size_t set, size_t k) {
  const int32_t *joints = joints_of(run->skin, set);
  sbs_vec4 basis[4];
  sbs_vec4_quaternion_basis(run->joints[joints[0]].quaternion * (sbs_vec4){1.0, -1.0, -1.0, -1.0}, basis);
  const sbs_vec4 q = sbs_vec4_combine(run->joints[joints[k]].quaternion, basis);
  return q[0] < 0.0 ? -q : q;
}

/* R R_0^T, in columns */
static void relative_turning(const double turning[9], const double first[9], double out[9]) {
  for (int j = 0; j < 3; j++) {
    const double row[3] = {first[j], first[3 + j], first[6 + j]};
    apply(turning, row, out + 3 * j);
  }
}

/* Where the signs of a set's quaternions are not the same for all joints that may be the heaviest: those for each. */
static void choose_signs(const sbs_gradient_run *run, size_t set, const double *rows) {
  const size_t size = sbs_set_size(run->skin, set);
  int differ = 0;
  signed char *signs = run->sign_room + run->skin->set_offsets[set] * run->skin->max_influences;
  for (size_t h = 0; h < size; h++) {
    for (size_t i = 0; i < size; i++) {
      double dot = 0.0;
      for (int k = 0; k < 4; k++)
        dot += rows[h * SBS_GRADIENT_ROW + (size_t)k] * rows[i * SBS_GRADIENT_ROW + (size_t)k];
      signs[h * size + i] = dot < 0.0 ? -1 : 1;
      differ |= dot < 0.0;
    }
  }
  run->signs[set] = differ ? signs : NULL;
}

/* f of a set's center, and z from there. */
static void find_center(const sbs_gradient_run *run, size_t set, double center[6]) {
  memset(center, 0, 6 * sizeof *center);
  memcpy(center, run->skin->set_centroids + 3 * set, 3 * sizeof *center);
  if (sbs_gradient_formula_of(run, set, 0) != SBS_GRADIENT_JOINT_SET) return;
  if (sbs_is_stretched(run->skin, set, run->kinds)) {
    const sbs_vec4 reference = sbs_reference_point(run->skin, set);
    for (int i = 0; i < 3; i++) center[i] += reference[i];
  }
  equations of;
  find_equations(run, set, center, &of);
  solve(run, &of, set, NULL, center + 3);
}

void sbs_gradient_pose_set(const sbs_gradient_run *run, size_t set) {
  const sbs_skin *skin = run->skin;
  const size_t size = sbs_set_size(skin, set);
  const int32_t *joints = joints_of(skin, set);
  double *base = constants_of(run, set), *rows = base + SBS_GRADIENT_BASE, *center = run->centers[set];
  double origin[3];
  sbs_gradient_origin(run, set, origin);
  find_center(run, set, center);
  const double point[3] = {center[0] - origin[0], center[1] - origin[1], center[2] - origin[2]};
  put_vector(base + SBS_GRADIENT_POINT, point);
  put_vector(base + SBS_GRADIENT_CENTER, center + 3);

  const int weighted = sbs_gradient_formula_of(run, set, 0) == SBS_GRADIENT_WEIGHTED;
  double first_moved[3] = {0.0}, first_offset[3] = {0.0}, first_turning[9] = {0.0};
  if (size) get_turning(run, (size_t)joints[0], first_turning);
  put_matrix(base + SBS_GRADIENT_FIRST, first_turning);
  for (size_t k = 0; k < size; k++) {
    const size_t joint = (size_t)joints[k];
    const sbs_joint *at = run->joints + joint;
    const sbs_vec4 quaternion = relative_quaternion(run, set, k);
    double *row = rows + k * SBS_GRADIENT_ROW, columns[9], turning[9], moved[3], turned[3];
    for (int i = 0; i < 4; i++) row[SBS_GRADIENT_QUATERNION + i] = quaternion[i];
    get_columns(sbs_gradient_moves_as_given(run) ? at->given : at->moving, columns);
    get_turning(run, joint, turning);
    put_matrix(row + SBS_GRADIENT_MATRIX, columns);
    relative_turning(turning, first_turning, columns);
    for (int i = 0; i < 3; i++) columns[4 * i] -= 1.0;
    put_matrix(row + SBS_GRADIENT_TURNING, weighted ? columns : turning);
    get_columns(run->stretches[joint].stretch, columns);
    put_matrix(row + SBS_GRADIENT_STRETCH, columns);
    get_columns(run->stretches[joint].inverse, columns);
    put_matrix(row + SBS_GRADIENT_NORMAL, columns);

    move_point(run, joint, origin, moved);
    if (!k) memcpy(first_offset, moved, sizeof moved);
    for (int i = 0; i < 3; i++) moved[i] -= first_offset[i];
    put_vector(row + SBS_GRADIENT_OFFSET, moved);
    move_point(run, joint, center, moved);
    apply(turning, center + 3, turned);
    for (int i = 0; i < 3; i++) moved[i] += turned[i];
    if (!k) memcpy(first_moved, moved, sizeof moved);
    for (int i = 0; i < 3; i++) moved[i] -= first_moved[i];
    put_vector(row + SBS_GRADIENT_MOVED, moved);
  }
  if (size) choose_signs(run, set, rows);

  const double far = fabs(center[3]) + fabs(center[4]) + fabs(center[5]);
#ifdef SBS_FLOAT32_ONLY
  run->in_double[set] = far < 0.0;
#else
  run->in_double[set] = run->gradient->scalar == SBS_FLOAT64 || far > FAR_CENTER * skin->size;
#endif
  if (run->in_double[set]) return;
  float *as_float = (float *)(void *)base;
  for (size_t i = 0; i < SBS_GRADIENT_BASE + size * SBS_GRADIENT_ROW; i++) {
    const float rounded = (float)base[i];
    memcpy(as_float + i, &rounded, sizeof rounded);
  }
}

/* --------------------------------------------------------------------------------------------------------- back -- */

/* Adds the gradient by the matrix that moves points, a b^T, to a joint's. */
static void add_moving(const sbs_gradient_run *run, size_t joint, const double a[3], const double b[3],
                       sbs_joint_gradient *by) {
  if (sbs_gradient_moves_as_given(run) || run->kinds[joint] & SBS_JOINT_NONRIGID) {
    for (int i = 0; i < 9; i++) by->given[i] += a[i % 3] * b[i / 3];
  } else {
    double turning[9], turned[3];
    get_turning(run, joint, turning);
    apply(turning, b, turned);
    add_cross(by->torque, turned, a);
  }
}

/* The same of a matrix, in columns. */
static void add_moving_matrix(const sbs_gradient_run *run, size_t joint, const double m[9], sbs_joint_gradient *by) {
  static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int j = 0; j < 3; j++) add_moving(run, joint, m + 3 * j, axes[j], by);
}

/* Adds the gradient by R, a b^T. */
static void add_turning(const double turning[9], const double a[3], const double b[3], sbs_joint_gradient *by) {
  double turned[3];
  apply(turning, b, turned);
  add_cross(by->torque, turned, a);
}

/* By a quaternion: a rotation by omega changes it by half of (0, omega) q. */
static void add_quaternion(sbs_vec4 q, const double g[4], sbs_joint_gradient *by) {
  const double v[3] = {q[1], q[2], q[3]}, *u = g + 1;
  double across[3];
  sbs_cross(u, v, across);
  /* the vector part of g q* */
  for (int i = 0; i < 3; i++) by->torque[i] += 0.5 * (q[0] * u[i] - g[0] * v[i] - across[i]);
}

/* By what normals are moved by: R S^-1 of the linear formula, else S^-1. */
static void add_normal(const sbs_gradient_run *run, size_t joint, int linear, const double *sums,
                       sbs_joint_gradient *by) {
  if (!linear) {
    for (int i = 0; i < 9; i++) by->inverse[i] += sums[i];
    return;
  }
  double turning[9], inverse[9];
  get_columns(run->stretches[joint].rotation, turning);
  get_columns(run->stretches[joint].inverse, inverse);
  for (int j = 0; j < 3; j++) {
    double column[3], back[3] = {0.0};
    apply(turning, inverse + 3 * j, column);
    add_cross(by->torque, column, sums + 3 * j);
    add_transposed(turning, sums + 3 * j, back);
    for (int i = 0; i < 3; i++) by->inverse[3 * j + i] += back[i];
  }
}

/* Adds the sums of the parts that are moved by one formula. Returns whether there are any. */
static int add_parts(const sbs_gradient_run *run, size_t set, int own, double *sums) {
  const sbs_gradient *gradient = run->gradient;
  const size_t count = sbs_set_size(run->skin, set) * run->width + SBS_SUM_TAIL;
  int any = 0;
  memset(sums, 0, count * sizeof *sums);
  for (size_t i = gradient->set_parts[set]; i < gradient->set_parts[set + 1]; i++) {
    const size_t part = (size_t)gradient->part_order[i];
    if (gradient->parts[part].own != own) continue;
    const double *from = run->totals + run->totals_at[part];
    for (size_t k = 0; k < count; k++) sums[k] += from[k];
    any = 1;
  }
  return any;
}

/* The center of a joint set gives the gradient on to its joints, and to the centroid. */
static void finish_center(const sbs_gradient_run *run, size_t set, const double *sums, double by_point[3]) {
  const sbs_skin *skin = run->skin;
  const int32_t *joints = joints_of(skin, set);
  const size_t size = sbs_set_size(skin, set);
  const double *tail = sums + size * run->width, *center = run->centers[set], *z = center + 3;
  equations of;
  find_equations(run, set, center, &of);
  /* z gets sum_i (R_i - R_0)^T sum w_i g - R_0^T sum (Q^T - 1) g: differences, or near joints would leave rounding */
  double first[9], right[3] = {0.0}, lambda[3];
  get_turning(run, (size_t)joints[0], first);
  add_transposed(first, tail + SBS_SUM_CENTER, right);
  for (int i = 0; i < 3; i++) {
    right[i] = -right[i];
    by_point[i] = -tail[SBS_SUM_REST + i];
  }
  for (size_t k = 0; k < size; k++) {
    double turning[9];
    get_turning(run, (size_t)joints[k], turning);
    for (int i = 0; i < 9; i++) turning[i] -= first[i];
    add_transposed(turning, sums + k * run->width + SBS_SUM_OFFSET, right);
  }
  solve(run, &of, set, right, lambda);
  for (size_t k = 0; k < size; k++) {
    const size_t joint = (size_t)joints[k];
    sbs_joint_gradient *by = run->slots + skin->set_offsets[set] + k;
    double d[12], rho[3], turned[3], mu[3], by_moved[3], turning[9], columns[9];
    get_row(run, &of, joints, k, d);
    apply(d, z, turned);
    apply(d, lambda, mu);
    get_turning(run, joint, turning);
    for (int i = 0; i < 3; i++) {
      rho[i] = -of.weight * (d[9 + i] + turned[i]);
      by_moved[i] = sums[k * run->width + SBS_SUM_OFFSET + (size_t)i] - of.weight * mu[i];
      by->translation[i] += by_moved[i];
    }
    add_moving(run, joint, by_moved, center, by);
    add_turning(turning, by_moved, z, by);
    add_turning(turning, rho, lambda, by);
    get_columns(run->joints[joint].moving, columns);
    add_transposed(columns, by_moved, by_point);
  }
}

/* What the joints of a set get from vertices that are moved by one formula. */
static void finish_formula(const sbs_gradient_run *run, size_t set, sbs_gradient_formula formula, const double *sums) {
  const sbs_skin *skin = run->skin;
  const int32_t *joints = joints_of(skin, set);
  double origin[3];
  sbs_gradient_origin(run, set, origin);
  for (size_t k = 0; k < sbs_set_size(skin, set); k++) {
    const size_t joint = (size_t)joints[k];
    const double *of = sums + k * run->width;
    sbs_joint_gradient *by = run->slots + skin->set_offsets[set] + k;
    if (formula != SBS_GRADIENT_JOINT_SET) {
      for (int i = 0; i < 3; i++) by->translation[i] += of[SBS_SUM_OFFSET + i];
      add_moving(run, joint, of + SBS_SUM_OFFSET, origin, by);
      add_moving_matrix(run, joint, of + SBS_SUM_MATRIX, by);
    }
    if (formula != SBS_GRADIENT_LINEAR) {
      add_quaternion(relative_quaternion(run, set, k), of + SBS_SUM_QUATERNION, by);
    }
    if (formula == SBS_GRADIENT_WEIGHTED) {
      double turning[9], first[9], relative[9];
      get_turning(run, joint, turning);
      get_turning(run, (size_t)joints[0], first);
      relative_turning(turning, first, relative);
      for (int j = 0; j < 3; j++) add_cross(by->torque, relative + 3 * j, of + SBS_SUM_TURNING + 3 * j);
    }
    if (run->width > SBS_SUM_STRETCH) {
      for (int i = 0; i < 9; i++) by->stretch[i] += of[SBS_SUM_STRETCH + i];
    }
    if (run->width > SBS_SUM_NORMAL) add_normal(run, joint, formula == SBS_GRADIENT_LINEAR, of + SBS_SUM_NORMAL, by);
  }
}

int sbs_gradient_finish_set(const sbs_gradient_run *run, size_t set, double rest[3]) {
  const sbs_skin *skin = run->skin;
  const size_t size = sbs_set_size(skin, set);
  int moves_centroid = 0;
  memset(rest, 0, 3 * sizeof *rest);
  memset(run->slots + skin->set_offsets[set], 0, size * sizeof *run->slots);
  if (!size) return 0;
  /* behind the sums of all parts there is room for each set's */
  double *sums = run->totals + run->totals_at[run->gradient->part_count] + skin->set_offsets[set] * run->width +
                 set * SBS_SUM_TAIL;
  for (int own = 0; own < 2; own++) {
    if (!add_parts(run, set, own, sums)) continue;
    const sbs_gradient_formula formula = sbs_gradient_formula_of(run, set, own);
    finish_formula(run, set, formula, sums);
    if (formula != SBS_GRADIENT_JOINT_SET) continue;
    double by_point[3];
    finish_center(run, set, sums, by_point);
    if (sbs_is_stretched(skin, set, run->kinds) && skin->joint_positions) continue;
    size_t count = 0;
    for (size_t i = run->gradient->set_parts[set]; i < run->gradient->set_parts[set + 1]; i++) {
      count += (size_t)run->gradient->parts[run->gradient->part_order[i]].vertex_count;
    }
    /* all but nothing of it is left where joints turn against each other: less than rounding where nothing is */
    double most = 0.0;
    for (size_t k = 0; k < size; k++) {
      for (int i = 0; i < 3; i++) most = fmax(most, fabs(sums[k * run->width + SBS_SUM_OFFSET + (size_t)i]));
    }
    for (int i = 0; i < 3; i++) {
      rest[i] += by_point[i] / (double)count;
      moves_centroid |= fabs(by_point[i]) > sbs_scalar_epsilon(skin->scalar) * most;
    }
  }
  return moves_centroid;
}

/* ------------------------------------------------------------------------------------------------------- joints -- */

/* Adds the gradient by m of its cofactors, rows or columns: c_0 = m_1 x m_2 and so on. */
static void add_cofactors(const double m[9], const double by[9], double out[9]) {
  for (int k = 0; k < 3; k++) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    add_cross(out + 3 * a, m + 3 * b, by + 3 * k);
    add_cross(out + 3 * b, by + 3 * k, m + 3 * a);
  }
}

/* |det S| / |S|^3 up to which the adjugate stands in for the inverse, as in pose/joint.c. */
#define SINGULAR 1e-12

/* By S, what comes by way of S^-1 (or the adjugate of a singular S). */
static void add_inverse(const double s[9], const double inverse[9], const double by[9], double out[9]) {
  const double norm = sbs_norm_squared(s);
  if (!(fabs(sbs_determinant(s)) > SINGULAR * norm * sqrt(norm))) {
    add_cofactors(s, by, out);
    return;
  }
  for (int j = 0; j < 3; j++) { /* - X by X, X = S^-1 symmetric */
    double inner[3] = {0.0}, column[3];
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 3; i++) inner[i] += by[3 * k + i] * inverse[3 * j + k];
    }
    apply(inverse, inner, column);
    for (int i = 0; i < 3; i++) out[3 * j + i] -= column[i];
  }
}

/*
 * A = R S: a change dA turns R by R w, (tr S - S) w = axial(R^T dA - dA^T R), and stretches S by R^T dA - [w] S. With
 * the gradient t by w and T by S, that by A is R ([y] + T), (tr S - S) y = t - sum_c S_c x T_c. S is 1 for a
 * rigid joint.
 */
void sbs_gradient_finish_joint(const sbs_gradient_run *run, size_t joint, const sbs_joint_gradient *by,
                               double matrix[12]) {
  double turning[9], s[9], inverse[9], by_stretch[9] = {0.0}, right[3] = {0.0}, y[3];
  get_turning(run, joint, turning);
  add_transposed(turning, by->torque, right);
  if (run->kinds[joint] & SBS_JOINT_NONRIGID) {
    double by_s[9];
    get_columns(run->stretches[joint].stretch, s);
    get_columns(run->stretches[joint].inverse, inverse);
    memcpy(by_s, by->stretch, sizeof by_s);
    add_inverse(s, inverse, by->inverse, by_s);
    for (int i = 0; i < 9; i++) by_stretch[i] = 0.5 * (by_s[i] + by_s[i % 3 * 3 + i / 3]);
    for (int j = 0; j < 3; j++) {
      double across[3];
      sbs_cross(s + 3 * j, by_stretch + 3 * j, across);
      for (int i = 0; i < 3; i++) right[i] -= across[i];
    }
    /* by cofactors: symmetric. Singular where the joint is scaled to nothing along two axes: then nothing turns */
    const double trace = s[0] + s[4] + s[8];
    double m[9], cofactors[9];
    for (int i = 0; i < 9; i++) m[i] = (i % 4 ? 0.0 : trace) - s[i];
    sbs_cofactors(m, cofactors);
    const double det = sbs_determinant(m), norm = sbs_norm_squared(m);
    const double scale = fabs(det) > SINGULAR * norm * sqrt(norm) ? 1.0 / det : 0.0;
    for (int i = 0; i < 3; i++) y[i] = scale * sbs_dot(cofactors + 3 * i, right);
  } else {
    for (int i = 0; i < 3; i++) y[i] = 0.5 * right[i];
  }
  const double skew[9] = {0.0, y[2], -y[1], -y[2], 0.0, y[0], y[1], -y[0], 0.0};
  for (int j = 0; j < 3; j++) {
    double column[3], sum[3];
    for (int i = 0; i < 3; i++) sum[i] = skew[3 * j + i] + by_stretch[3 * j + i];
    apply(turning, sum, column);
    for (int i = 0; i < 3; i++) matrix[4 * i + j] += column[i] + by->given[3 * j + i];
  }
  for (int i = 0; i < 3; i++) matrix[4 * i + 3] += by->translation[i];
}
