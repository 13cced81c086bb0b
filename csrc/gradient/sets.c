/* SPDX-License-Identifier: MIT */
/* What all vertices of a joint set have in common, and the gradient by it. docs/fitting.md has the derivation. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/compiled_for_isa.h"
#include "base/scalar.h"
#include "gradient/run.h"
#include "pose/center.h"
#include "pose/linear_algebra.h"

/* How many times the size of the mesh a center may be away for float32 to be enough. */
#define FAR_CENTER 16.0

/* Quaternions that are nearer to the first, or its opposite, than 45 degrees are nearer to each other than 90. */
#define SAFE_SIDE 0.7072

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

static const int32_t *joints_of(const sbs_skin *skin, size_t set) {
  return skin->set_joints + skin->set_offsets[set];
}

static const sbs_vec4 *turning_of(const sbs_gradient_run *run, size_t joint) {
  return sbs_turning(run->joints + joint, run->kinds[joint], run->stretches + joint);
}

static void get_turning(const sbs_gradient_run *run, size_t joint, double turning[9]) {
  get_columns(turning_of(run, joint), turning);
}

/* ----------------------------------------------------------------------------------------------------- constants -- */

/* The constants of a set, as the numbers that it is differentiated in: floats begin where doubles would. */
typedef struct constants {
  char *base;
  int in_double;
} constants;

SBS_INLINE void put(constants to, size_t at, sbs_vec4 v) {
  if (to.in_double) {
    memcpy(to.base + at * sizeof(double), &v, sizeof v);
  } else {
    const float rounded[4] = {(float)v[0], (float)v[1], (float)v[2], (float)v[3]};
    memcpy(to.base + at * sizeof(float), rounded, sizeof rounded);
  }
}

SBS_INLINE void put_matrix(constants to, size_t at, const sbs_vec4 columns[3]) {
  for (size_t j = 0; j < 3; j++) put(to, at + 4 * j, columns[j]);
}

/* Where the constants of a set are, in doubles: floats begin there, too. */
static double *constants_of(const sbs_gradient_run *run, size_t set) {
  return run->constants + set * SBS_GRADIENT_BASE + run->skin->set_offsets[set] * SBS_GRADIENT_ROW;
}

/* q_0* of a set's first joint, which quaternions are relative to. */
typedef struct reference {
  sbs_vec4 first;    /* q_0 */
  sbs_vec4 basis[4]; /* of products with q_0* */
} reference;

static reference reference_of(const sbs_gradient_run *run, size_t set) {
  reference of = {.first = run->joints[joints_of(run->skin, set)[0]].quaternion};
  sbs_vec4_quaternion_basis(of.first * (sbs_vec4){1.0, -1.0, -1.0, -1.0}, of.basis);
  return of;
}

static double dot_quaternions(sbs_vec4 a, sbs_vec4 b) {
  const sbs_vec4 products = a * b;
  return (products[0] + products[1]) + (products[2] + products[3]);
}

/* 1 or -1: q or -q is in the hemisphere of q_0 */
static double side_of(const reference *to, sbs_vec4 q) {
  return dot_quaternions(q, to->first) < 0.0 ? -1.0 : 1.0;
}

/* q q_0*, in the hemisphere of 1. */
static sbs_vec4 relative_quaternion(const reference *to, sbs_vec4 q) {
  return sbs_vec4_combine(q * side_of(to, q), to->basis);
}

/* R R_0^T, in columns */
static void relative_turning(const sbs_vec4 turning[3], const sbs_vec4 first[3], sbs_vec4 out[3]) {
  for (int j = 0; j < 3; j++) out[j] = sbs_vec4_apply(turning, (sbs_vec4){first[0][j], first[1][j], first[2][j]});
}

/* Where the signs of a set's quaternions are not the same for all joints that may be the heaviest: those for each. */
static const signed char *choose_signs(const sbs_gradient_run *run, size_t set, const reference *to) {
  const size_t size = sbs_set_size(run->skin, set);
  const int32_t *joints = joints_of(run->skin, set);
  double nearest_side = 1.0;
  for (size_t i = 0; i < size; i++) {
    nearest_side = fmin(nearest_side, fabs(dot_quaternions(run->joints[joints[i]].quaternion, to->first)));
  }
  if (nearest_side > SAFE_SIDE) return NULL;
  int differ = 0;
  signed char *signs = run->sign_room + run->skin->set_offsets[set] * run->skin->max_influences;
  for (size_t h = 0; h < size; h++) {
    const sbs_vec4 q = run->joints[joints[h]].quaternion, heaviest = q * side_of(to, q);
    for (size_t i = 0; i < size; i++) {
      const sbs_vec4 other = run->joints[joints[i]].quaternion;
      const int opposite = dot_quaternions(heaviest, other * side_of(to, other)) < 0.0;
      signs[h * size + i] = opposite ? -1 : 1;
      differ |= opposite;
    }
  }
  return differ ? signs : NULL;
}

static void pose_set(const sbs_gradient_run *run, size_t set) {
  const sbs_skin *skin = run->skin;
  const size_t size = sbs_set_size(skin, set);
  const int32_t *joints = joints_of(skin, set);
  double *center = run->centers[set], o[3];
  /* of this, vertices that are their own centers need what the linear formula does */
  const sbs_gradient_formula formula = sbs_gradient_formula_of(run, set, 0);
  const int turns = formula != SBS_GRADIENT_LINEAR, about_set = formula == SBS_GRADIENT_JOINT_SET;
  const int weighted = formula == SBS_GRADIENT_WEIGHTED, normals = run->upstream.normals != NULL;
  const int stretched = sbs_gradient_is_stretched(run, set), given = sbs_gradient_moves_as_given(run);
  if (!about_set) memset(center, 0, sizeof run->centers[set]);
  sbs_gradient_origin(run, set, o);
  const sbs_vec4 origin = {o[0], o[1], o[2]}, point = {center[0], center[1], center[2]};
  const sbs_vec4 z = {center[3], center[4], center[5]};
  const double far = fabs(z[0]) + fabs(z[1]) + fabs(z[2]);
#ifdef SBS_FLOAT32_ONLY
  run->in_double[set] = far < 0.0;
#else
  run->in_double[set] = run->gradient->scalar == SBS_FLOAT64 || far > FAR_CENTER * skin->size;
#endif
  const constants to = {(char *)constants_of(run, set), run->in_double[set]};
  put(to, SBS_GRADIENT_CENTER, z);
  put(to, SBS_GRADIENT_POINT, point - origin);

  const sbs_vec4 *first_turning = NULL;
  reference first = {{0.0}, {{0.0}}};
  run->signs[set] = NULL;
  if (turns) {
    first_turning = turning_of(run, (size_t)joints[0]);
    put_matrix(to, SBS_GRADIENT_FIRST, first_turning);
    first = reference_of(run, set);
    run->signs[set] = choose_signs(run, set, &first);
  }
  /* of each row, what the formula reads */
  sbs_vec4 first_moved = {0.0};
  for (size_t k = 0; k < size; k++) {
    const size_t joint = (size_t)joints[k], row = SBS_GRADIENT_BASE + k * SBS_GRADIENT_ROW;
    const sbs_joint *at = run->joints + joint;
    const sbs_vec4 *turning = turning_of(run, joint), *matrix = given ? at->given : at->moving;
    sbs_vec4 moved = sbs_vec4_apply(matrix, about_set ? point : origin) + at->translation;
    if (about_set) {
      moved += sbs_vec4_apply(turning, z);
    } else {
      put_matrix(to, row + SBS_GRADIENT_MATRIX, matrix);
    }
    if (!k) first_moved = moved;
    put(to, row + (about_set ? SBS_GRADIENT_MOVED : SBS_GRADIENT_OFFSET), moved - first_moved);
    if (turns) put(to, row + SBS_GRADIENT_QUATERNION, relative_quaternion(&first, at->quaternion));
    if (weighted) {
      sbs_vec4 relative[3];
      relative_turning(turning, first_turning, relative);
      for (int i = 0; i < 3; i++) relative[i][i] -= 1.0;
      put_matrix(to, row + SBS_GRADIENT_TURNING, relative);
    } else if (normals) {
      put_matrix(to, row + SBS_GRADIENT_TURNING, turning);
    }
    if (stretched) put_matrix(to, row + SBS_GRADIENT_STRETCH, run->stretches[joint].stretch);
    if (normals) put_matrix(to, row + SBS_GRADIENT_NORMAL, run->stretches[joint].inverse);
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
  if (sbs_gradient_moves_as_given(run) || run->kinds[joint] & SBS_JOINT_NONRIGID) {
    for (int i = 0; i < 9; i++) by->given[i] += m[i];
  } else {
    double turning[9];
    get_turning(run, joint, turning);
    for (int j = 0; j < 3; j++) add_cross(by->torque, turning + 3 * j, m + 3 * j);
  }
}

/* By a quaternion: a rotation by omega changes it by half of (0, omega) q. */
static void add_quaternion(sbs_vec4 q, const double g[4], sbs_joint_gradient *by) {
  const double v[3] = {q[1], q[2], q[3]}, *u = g + 1;
  double across[3];
  sbs_cross(u, v, across);
  /* the vector part of g q* */
  for (int i = 0; i < 3; i++) by->torque[i] += 0.5 * (q[0] * u[i] - g[0] * v[i] - across[i]);
}

/* By what normals are moved by in the linear formula, R S^-1. */
static void add_linear_normal(const sbs_gradient_run *run, size_t joint, const double *sums, sbs_joint_gradient *by) {
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

/*
 * The sums over the parts that are moved by one formula, in the room of the first; NULL where there are none. About the
 * centers of joint sets, vertices that are their own centers are moved as others.
 */
static double *add_parts(const sbs_gradient_run *run, size_t set, sbs_gradient_formula formula, int own, size_t count) {
  const sbs_gradient *gradient = run->gradient;
  double *sums = NULL;
  for (size_t i = gradient->set_parts[set]; i < gradient->set_parts[set + 1]; i++) {
    const size_t part = (size_t)gradient->part_order[i];
    if (formula != SBS_GRADIENT_JOINT_SET && gradient->parts[part].own != own) continue;
    double *from = run->totals + run->totals_at[part];
    for (size_t k = 0; sums && k < count; k++) sums[k] += from[k];
    if (!sums) sums = from;
  }
  return sums;
}

/* What the joints of a set get from vertices that are moved by one formula. */
static void finish_formula(const sbs_gradient_run *run, size_t set, sbs_gradient_formula formula, const double *sums,
                           size_t width) {
  const int linear = formula == SBS_GRADIENT_LINEAR;
  const sbs_skin *skin = run->skin;
  const int32_t *joints = joints_of(skin, set);
  double origin[3];
  sbs_gradient_origin(run, set, origin);
  const reference first = reference_of(run, set);
  for (size_t k = 0; k < sbs_set_size(skin, set); k++) {
    const size_t joint = (size_t)joints[k];
    const double *of = sums + k * width;
    sbs_joint_gradient *by = run->slots + skin->set_offsets[set] + k;
    if (formula != SBS_GRADIENT_JOINT_SET) {
      for (int i = 0; i < 3; i++) by->translation[i] += of[SBS_SUM_OFFSET + i];
      add_moving(run, joint, of + SBS_SUM_OFFSET, origin, by);
      add_moving_matrix(run, joint, of + (linear ? SBS_SUM_LINEAR_MATRIX : SBS_SUM_MATRIX), by);
    }
    if (!linear) {
      add_quaternion(relative_quaternion(&first, run->joints[joint].quaternion), of + SBS_SUM_QUATERNION, by);
    }
    if (formula == SBS_GRADIENT_WEIGHTED) {
      sbs_vec4 relative[3];
      double columns[9];
      relative_turning(turning_of(run, joint), turning_of(run, (size_t)joints[0]), relative);
      get_columns(relative, columns);
      for (int j = 0; j < 3; j++) add_cross(by->torque, columns + 3 * j, of + SBS_SUM_TURNING + 3 * j);
    }
    if (linear) {
      if (width > SBS_SUM_LINEAR_NORMAL) add_linear_normal(run, joint, of + SBS_SUM_LINEAR_NORMAL, by);
      continue;
    }
    for (int i = 0; width > SBS_SUM_STRETCH && i < 9; i++) by->stretch[i] += of[SBS_SUM_STRETCH + i];
    for (int i = 0; width > SBS_SUM_NORMAL && i < 9; i++) by->inverse[i] += of[SBS_SUM_NORMAL + i];
  }
}

static void finish_set(const sbs_gradient_run *run, size_t set) {
  const size_t size = sbs_set_size(run->skin, set);
  memset(run->slots + run->skin->set_offsets[set], 0, size * sizeof *run->slots);
  run->sums[set] = NULL;
  for (int own = 0; own < 2 && size; own++) {
    const sbs_gradient_formula formula = sbs_gradient_formula_of(run, set, own);
    if (!sbs_gradient_wants_sums(run, formula)) continue;
    const size_t width = sbs_gradient_width_of(run, set, own);
    const double *sums = add_parts(run, set, formula, own, size * width + sbs_gradient_tail(formula));
    if (sums && run->result.skinning_matrices) finish_formula(run, set, formula, sums, width);
    if (formula != SBS_GRADIENT_JOINT_SET) continue;
    run->sums[set] = sums;
    return;
  }
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
static void finish_joint(const sbs_gradient_run *run, size_t joint, const sbs_joint_gradient *by, double matrix[12]) {
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

/* ------------------------------------------------------------------------------------------------------- all -- */

void SBS_FOR_ISA(sbs_gradient_pose_sets)(const sbs_gradient_run *run, size_t begin, size_t end) {
  for (size_t set = begin; set < end; set++) pose_set(run, set);
}

void SBS_FOR_ISA(sbs_gradient_finish_sets)(const sbs_gradient_run *run, size_t begin, size_t end) {
  for (size_t set = begin; set < end; set++) finish_set(run, set);
}

/* Every joint gets what each of its sets has for it, in their order. */
void SBS_FOR_ISA(sbs_gradient_finish_joints)(const sbs_gradient_run *run, sbs_joint_gradient *by) {
  const sbs_skin *skin = run->skin;
  memset(by, 0, skin->joint_count * sizeof *by);
  for (size_t k = 0; k < skin->set_offsets[skin->set_count]; k++) {
    double *sums = (double *)(by + skin->set_joints[k]);
    const double *more = (const double *)(run->slots + k);
    for (size_t i = 0; i < sizeof *by / sizeof *sums; i++) sums[i] += more[i];
  }
  for (size_t j = 0; j < skin->joint_count; j++) {
    double *matrix = run->result.skinning_matrices + 12 * j;
    if (!run->adds) memset(matrix, 0, 12 * sizeof *matrix);
    finish_joint(run, j, by + j, matrix);
  }
}
