/* SPDX-License-Identifier: MIT */
/* What all vertices of a joint set have in common, and the gradient by it. docs/fitting.md has the derivation. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/compiled_for_isa.h"
#include "base/scalar.h"
#include "gradient/run.h"
#include "pose/center.h"

/* How many times the size of the mesh a center may be away for float32 to be enough. */
#define FAR_CENTER 16.0

/* Quaternions that are nearer to the first, or its opposite, than 45 degrees are nearer to each other than 90. */
#define SAFE_SIDE 0.7072

/* sums += v */
static void add(double sums[3], sbs_vec4 v) {
  for (int i = 0; i < 3; i++) sums[i] += v[i];
}

static const int32_t *joint_set_joints(const sbs_skin *skin, size_t set) {
  return skin->set_joints + skin->set_offsets[set];
}

static const sbs_vec4 *joint_rotation(const sbs_gradient_run *run, size_t joint) {
  return sbs_turning(run->joints + joint, run->kinds[joint], run->stretches + joint);
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
static double *joint_set_constants(const sbs_gradient_run *run, size_t set) {
  return run->constants + set * SBS_GRADIENT_BASE + run->skin->set_offsets[set] * SBS_GRADIENT_ROW;
}

/* q_0* of a set's first joint, which quaternions are relative to. */
typedef struct reference {
  sbs_vec4 first;    /* q_0 */
  sbs_vec4 basis[4]; /* of products with q_0* */
} reference;

static reference make_reference(const sbs_gradient_run *run, size_t set) {
  reference of = {.first = run->joints[joint_set_joints(run->skin, set)[0]].quaternion};
  sbs_quaternion_basis(sbs_quaternion_conjugate(of.first), of.basis);
  return of;
}

/* 1 or -1: q or -q is in the hemisphere of q_0 */
static double nearer_sign(const reference *to, sbs_vec4 q) {
  return sbs_vec4_dot(q, to->first) < 0.0 ? -1.0 : 1.0;
}

/* q q_0*, in the hemisphere of 1. */
static sbs_vec4 relative_quaternion(const reference *to, sbs_vec4 q) {
  return sbs_quaternion_combine(q * nearer_sign(to, q), to->basis);
}

/* R R_0^T, in columns */
static void relative_turning(const sbs_vec4 turning[3], const sbs_vec4 first[3], sbs_vec4 out[3]) {
  for (int j = 0; j < 3; j++) out[j] = sbs_vec4_apply(turning, (sbs_vec4){first[0][j], first[1][j], first[2][j]});
}

/* Where the signs of a set's quaternions are not the same for all joints that may be the heaviest: those for each. */
static const signed char *choose_signs(const sbs_gradient_run *run, size_t set, const reference *to) {
  const size_t size = sbs_set_size(run->skin, set);
  const int32_t *joints = joint_set_joints(run->skin, set);
  double nearest_side = 1.0;
  for (size_t i = 0; i < size; i++) {
    nearest_side = fmin(nearest_side, fabs(sbs_vec4_dot(run->joints[joints[i]].quaternion, to->first)));
  }
  if (nearest_side > SAFE_SIDE) return NULL;
  int differ = 0;
  signed char *signs = run->sign_room + run->skin->set_offsets[set] * run->skin->max_influences;
  for (size_t h = 0; h < size; h++) {
    const sbs_vec4 q = run->joints[joints[h]].quaternion, heaviest = q * nearer_sign(to, q);
    for (size_t i = 0; i < size; i++) {
      const sbs_vec4 other = run->joints[joints[i]].quaternion;
      const int opposite = sbs_vec4_dot(heaviest, other * nearer_sign(to, other)) < 0.0;
      signs[h * size + i] = opposite ? -1 : 1;
      differ |= opposite;
    }
  }
  return differ ? signs : NULL;
}

static void pose_set(const sbs_gradient_run *run, size_t set) {
  const sbs_skin *skin = run->skin;
  const size_t size = sbs_set_size(skin, set);
  const int32_t *joints = joint_set_joints(skin, set);
  double *center = run->centers[set], o[3];
  /* of this, vertices that are their own centers need what the linear formula does */
  const sbs_gradient_formula formula = sbs_choose_gradient_formula(run, set, 0);
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
  const constants to = {(char *)joint_set_constants(run, set), run->in_double[set]};
  put(to, SBS_GRADIENT_CENTER, z);
  put(to, SBS_GRADIENT_POINT, point - origin);

  const sbs_vec4 *first_turning = NULL;
  reference first = {{0.0}, {{0.0}}};
  run->signs[set] = NULL;
  if (turns) {
    first_turning = joint_rotation(run, (size_t)joints[0]);
    put_matrix(to, SBS_GRADIENT_FIRST, first_turning);
    first = make_reference(run, set);
    run->signs[set] = choose_signs(run, set, &first);
  }
  /* of each row, what the formula reads */
  sbs_vec4 first_moved = {0.0};
  for (size_t k = 0; k < size; k++) {
    const size_t joint = (size_t)joints[k], row = SBS_GRADIENT_BASE + k * SBS_GRADIENT_ROW;
    const sbs_joint *at = run->joints + joint;
    const sbs_vec4 *turning = joint_rotation(run, joint), *matrix = given ? at->given : at->moving;
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
    const sbs_vec4 turned = sbs_vec4_apply(joint_rotation(run, joint), sbs_vec4_read(b));
    add(by->torque, sbs_vec4_cross(turned, sbs_vec4_read(a)));
  }
}

/* The same of a matrix, in columns. */
static void add_moving_matrix(const sbs_gradient_run *run, size_t joint, const double m[9], sbs_joint_gradient *by) {
  if (sbs_gradient_moves_as_given(run) || run->kinds[joint] & SBS_JOINT_NONRIGID) {
    for (int i = 0; i < 9; i++) by->given[i] += m[i];
  } else {
    const sbs_vec4 *turning = joint_rotation(run, joint);
    for (int j = 0; j < 3; j++) add(by->torque, sbs_vec4_cross(turning[j], sbs_vec4_read(m + 3 * j)));
  }
}

/* By a quaternion: a rotation by omega changes it by half of (0, omega) q. */
static void add_quaternion(sbs_vec4 q, const double g[4], sbs_joint_gradient *by) {
  const sbs_vec4 product = sbs_quaternion_multiply((sbs_vec4){g[0], g[1], g[2], g[3]}, sbs_quaternion_conjugate(q));
  add(by->torque, 0.5 * sbs_quaternion_vector(product));
}

/* By what normals are moved by in the linear formula, R S^-1. */
static void add_linear_normal(const sbs_gradient_run *run, size_t joint, const double *sums, sbs_joint_gradient *by) {
  const sbs_stretch *stretch = run->stretches + joint;
  for (int j = 0; j < 3; j++) {
    const sbs_vec4 sum = sbs_vec4_read(sums + 3 * j);
    add(by->torque, sbs_vec4_cross(sbs_vec4_apply(stretch->rotation, stretch->inverse[j]), sum));
    add(by->inverse + 3 * j, sbs_vec4_apply_transposed(stretch->rotation, sum));
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
  const int32_t *joints = joint_set_joints(skin, set);
  double origin[3];
  sbs_gradient_origin(run, set, origin);
  const reference first = make_reference(run, set);
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
      relative_turning(joint_rotation(run, joint), joint_rotation(run, (size_t)joints[0]), relative);
      for (int j = 0; j < 3; j++) {
        add(by->torque, sbs_vec4_cross(relative[j], sbs_vec4_read(of + SBS_SUM_TURNING + 3 * j)));
      }
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
    const sbs_gradient_formula formula = sbs_choose_gradient_formula(run, set, own);
    if (!sbs_gradient_wants_sums(run, formula)) continue;
    const size_t width = sbs_gradient_sums_per_joint(run, set, own);
    const double *sums = add_parts(run, set, formula, own, size * width + sbs_gradient_tail(formula));
    if (sums && run->result.skinning_matrices) finish_formula(run, set, formula, sums, width);
    if (formula != SBS_GRADIENT_JOINT_SET) continue;
    run->sums[set] = sums;
    return;
  }
}

/* ------------------------------------------------------------------------------------------------------- joints -- */

/* Adds the gradient by m of its cofactors, rows or columns: c_0 = m_1 x m_2 and so on. */
static void add_cofactors(const sbs_vec4 m[3], const sbs_vec4 by[3], double out[9]) {
  for (int k = 0; k < 3; k++) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    add(out + 3 * a, sbs_vec4_cross(m[b], by[k]));
    add(out + 3 * b, sbs_vec4_cross(by[k], m[a]));
  }
}

/* By S, what comes by way of S^-1 (or the adjugate of a singular S). */
static void add_inverse(const sbs_stretch *stretch, const double by_inverse[9], double out[9]) {
  const sbs_vec4 by[3] = {sbs_vec4_read(by_inverse), sbs_vec4_read(by_inverse + 3), sbs_vec4_read(by_inverse + 6)};
  double rows[9];
  sbs_vec4_to_rows(stretch->stretch, rows);
  if (sbs_is_singular(rows)) {
    add_cofactors(stretch->stretch, by, out);
    return;
  }
  for (int j = 0; j < 3; j++) { /* - X by X, X = S^-1 symmetric */
    add(out + 3 * j, -sbs_vec4_apply(stretch->inverse, sbs_vec4_apply(by, stretch->inverse[j])));
  }
}

/*
 * A = R S: a change dA turns R by R w, (tr S - S) w = axial(R^T dA - dA^T R), and stretches S by R^T dA - [w] S. With
 * the gradient t by w and T by S, that by A is R ([y] + T), (tr S - S) y = t - sum_c S_c x T_c. S is 1 for a
 * rigid joint.
 */
static void finish_joint(const sbs_gradient_run *run, size_t joint, const sbs_joint_gradient *by, double matrix[12]) {
  const sbs_vec4 *turning = joint_rotation(run, joint);
  sbs_vec4 by_stretch[3] = {{0.0}}, right = sbs_vec4_apply_transposed(turning, sbs_vec4_read(by->torque));
  sbs_vec4 y = 0.5 * right;
  if (run->kinds[joint] & SBS_JOINT_NONRIGID) {
    const sbs_stretch *stretch = run->stretches + joint;
    double by_s[9], rows[9];
    memcpy(by_s, by->stretch, sizeof by_s);
    add_inverse(stretch, by->inverse, by_s);
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 3; i++) by_stretch[j][i] = 0.5 * (by_s[3 * j + i] + by_s[3 * i + j]);
      right -= sbs_vec4_cross(stretch->stretch[j], by_stretch[j]);
    }
    sbs_vec4_to_rows(stretch->stretch, rows);
    y = sbs_solve_axial(rows, right);
  }
  const sbs_vec4 skew[3] = {{0.0, y[2], -y[1]}, {-y[2], 0.0, y[0]}, {y[1], -y[0], 0.0}};
  for (int j = 0; j < 3; j++) {
    const sbs_vec4 column = sbs_vec4_apply(turning, skew[j] + by_stretch[j]);
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
