/* SPDX-License-Identifier: MIT */
/* From the rows of joints (gradient/run.h) to their matrices. docs/fitting.md has the derivation. */
#include <string.h>

#include "base/algebra.h"
#include "gradient/run.h"

/* sums += v */
static void add(double sums[3], sbs_vec4 v) {
  for (int i = 0; i < 3; i++) sums[i] += v[i];
}

/* ---------------------------------------------------------------------------------------------------------- rows -- */

/* The gradient by the rotation vector of R from that by matrices R M: a sum over columns. */
static void add_torque(const sbs_vec4 columns[3], const double by[9], sbs_joint_gradient *joint) {
  for (int j = 0; j < 3; j++) add(joint->torque, sbs_vec4_cross(columns[j], sbs_vec4_read(by + 3 * j)));
}

/* By a quaternion: a rotation by omega changes it by half of (0, omega) q. */
static void add_quaternion(sbs_vec4 q, const double g[4], sbs_joint_gradient *joint) {
  const sbs_vec4 product = sbs_quaternion_multiply((sbs_vec4){g[0], g[1], g[2], g[3]}, sbs_quaternion_conjugate(q));
  add(joint->torque, 0.5 * sbs_quaternion_vector(product));
}

/* By the products c q / 2 of the columns c of (A, p): adds to the gradients by A, p and q. */
static void add_products(const sbs_vec4 columns[4], sbs_vec4 q, const double *by, double row[SBS_BY_OTHERS]) {
  const sbs_vec4 u = sbs_quaternion_vector(q);
  for (int j = 0; j < 4; j++) {
    const sbs_vec4 g = 0.5 * sbs_vec4_read(by + 4 * j + 1), c = columns[j];
    const double g0 = 0.5 * by[4 * j];
    add(row + SBS_BY_MATRIX + 3 * j, q[0] * g - g0 * u + sbs_vec4_cross(u, g));
    row[SBS_BY_QUATERNION] += sbs_vec4_dot(c, g);
    add(row + SBS_BY_QUATERNION + 1, sbs_vec4_cross(g, c) - g0 * c);
  }
}

/* Adds up a joint's row over all chunks, in their order. */
static void sum_chunks(const sbs_gradient_run *run, size_t joint, double *row) {
  const size_t width = run->rows.width, step = run->skin->joint_count * width;
  memset(row, 0, width * sizeof *row);
  for (size_t chunk = 0; chunk < run->chunk_count; chunk++) {
    const double *more = run->by_rows + chunk * step + joint * width;
    for (size_t i = 0; i < width; i++) row[i] += more[i];
  }
}

static void read_row(const sbs_gradient_run *run, size_t joint, double *row, sbs_joint_gradient *by) {
  const sbs_posed *posed = &run->posed;
  const sbs_gradient_rows *rows = &run->rows;
  const sbs_joint *at = posed->joints + joint;
  const sbs_stretch *stretch = posed->stretches + joint;
  const sbs_vec4 *rotation = sbs_posed_rotation(posed, joint);
  const int as_given = !posed->request.rotations || (posed->kinds[joint] & SBS_JOINT_NONRIGID);
  if (rows->products < rows->width) {
    const sbs_vec4 columns[4] = {at->moving[0], at->moving[1], at->moving[2], posed->places[joint]};
    add_products(columns, at->quaternion, row + rows->products, row);
  }
  for (int i = 0; i < 3; i++) {
    by->translation[i] = row[SBS_BY_PLACE + i];
    for (int j = 0; j < 3; j++) row[SBS_BY_MATRIX + 3 * j + i] += row[SBS_BY_PLACE + i] * run->skin->origin[j];
  }
  if (as_given) {
    memcpy(by->given, row + SBS_BY_MATRIX, sizeof by->given);
  } else {
    add_torque(rotation, row + SBS_BY_MATRIX, by);
  }
  if (posed->request.rotations) add_quaternion(at->quaternion, row + SBS_BY_QUATERNION, by);
  if (rows->rotation) add_torque(rotation, row + rows->rotation, by);
  if (rows->normal) {
    add_torque(posed->is_taken_apart ? stretch->normal : rotation, row + rows->normal, by);
    for (int j = 0; j < 3; j++) {
      add(by->inverse + 3 * j, sbs_vec4_apply_transposed(rotation, sbs_vec4_read(row + rows->normal + 3 * j)));
    }
  }
  for (size_t i = 0; i < 9; i++) {
    if (rows->stretch) by->stretch[i] += row[rows->stretch + i];
    if (rows->inverse) by->inverse[i] += row[rows->inverse + i];
  }
}

/* ------------------------------------------------------------------------------------------------------ matrices -- */

/* Adds the gradient by m of its cofactors, rows or columns: c_0 = m_1 x m_2 and so on. */
static void add_cofactors(const sbs_vec4 m[3], const sbs_vec4 by[3], double out[9]) {
  for (int k = 0; k < 3; k++) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    add(out + 3 * a, sbs_vec4_cross(m[b], by[k]));
    add(out + 3 * b, sbs_vec4_cross(by[k], m[a]));
  }
}

/* The gradient by S from that by S^-1 (or by the adjugate of a singular S). */
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
static void finish_joint(const sbs_posed *posed, size_t joint, const sbs_joint_gradient *by, double matrix[12]) {
  const sbs_vec4 *rotation = sbs_posed_rotation(posed, joint);
  sbs_vec4 by_stretch[3] = {{0.0}}, right = sbs_vec4_apply_transposed(rotation, sbs_vec4_read(by->torque));
  sbs_vec4 y = 0.5 * right;
  if (posed->is_taken_apart && (posed->kinds[joint] & SBS_JOINT_NONRIGID)) {
    const sbs_stretch *stretch = posed->stretches + joint;
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
    const sbs_vec4 column = sbs_vec4_apply(rotation, skew[j] + by_stretch[j]);
    for (int i = 0; i < 3; i++) matrix[4 * i + j] = column[i] + by->given[3 * j + i];
  }
  for (int i = 0; i < 3; i++) matrix[4 * i + 3] = by->translation[i];
}

/* Adds the gradients of joints through the centers of their sets, in the order of the sets. */
static void add_centers(const sbs_gradient_run *run, sbs_joint_gradient *by) {
  const sbs_skin *skin = run->skin;
  for (size_t i = 0; i < run->posed.request.set_count; i++) {
    const size_t set = (size_t)run->posed.request.sets[i];
    for (size_t k = skin->set_offsets[set]; k < skin->set_offsets[set + 1]; k++) {
      const sbs_center_gradient *more = run->by_set_joints + k;
      sbs_joint_gradient *joint = by + skin->set_joints[k];
      for (int n = 0; n < 9; n++) joint->given[n] += more->given[n];
      for (int n = 0; n < 3; n++) {
        joint->translation[n] += more->translation[n];
        joint->torque[n] += more->torque[n];
      }
    }
  }
}

void sbs_gradient_finish_joints(const sbs_gradient_run *run, sbs_joint_gradient *by) {
  double row[SBS_BY_MOST];
  memset(by, 0, run->skin->joint_count * sizeof *by);
  for (size_t j = 0; j < run->skin->joint_count; j++) {
    sum_chunks(run, j, row);
    read_row(run, j, row, by + j);
  }
  add_centers(run, by);
  for (size_t j = 0; j < run->skin->joint_count; j++) {
    finish_joint(&run->posed, j, by + j, run->result.skinning_matrices + 12 * j);
  }
}
