/* SPDX-License-Identifier: MIT */
/* docs/fitting.md derives what is here. */
#include "fit/vertex.h"

#include <math.h>

/* Less damping of the center of a joint set would be less than the rounding of its equations. */
#define LEAST_DAMPING 1e-13

static const sbs_joint *joint_at(const sbs_fit_joints *of, size_t i) {
  return of->joints + of->indices[i];
}

static const sbs_vec4 *turning_at(const sbs_fit_joints *of, size_t i) {
  return sbs_turning(joint_at(of, i), of->kinds[of->indices[i]], of->stretches + of->indices[i]);
}

/* C_i v */
static sbs_vec4 move_by(const sbs_fit_joints *of, size_t i, sbs_vec4 v) {
  return sbs_vec4_apply(joint_at(of, i)->moving, v) + joint_at(of, i)->translation;
}

/* q_i in the hemisphere of another */
static sbs_vec4 quaternion_at(const sbs_fit_joints *of, size_t i, sbs_vec4 other) {
  const sbs_vec4 q = joint_at(of, i)->quaternion;
  return sbs_vec4_dot(q, other) < 0.0 ? -q : q;
}

/* What the equations of a center are made of: E_i = R_i - mean, and what C_i f is off its mean, weighted by w_i. */
typedef struct equations {
  sbs_vec4 turning[3], point;
  double normal[6];
  sbs_vec4 right;
} equations;

static equations find_equations(const sbs_fit_joints *of, sbs_vec4 f, const double *w, double scale, double damping) {
  equations made = {.normal = {damping, 0.0, 0.0, damping, 0.0, damping}};
  for (size_t i = 0; i < of->count; i++) {
    const double weight = w ? w[i] : 1.0 / (double)of->count;
    for (int j = 0; j < 3; j++) made.turning[j] += weight * turning_at(of, i)[j];
    made.point += weight * move_by(of, i, f);
  }
  for (size_t i = 0; i < of->count; i++) {
    const double weight = scale * (w ? w[i] : 1.0);
    sbs_vec4 e[3];
    for (int j = 0; j < 3; j++) e[j] = turning_at(of, i)[j] - made.turning[j];
    for (int j = 0, at = 0; j < 3; j++) {
      for (int k = j; k < 3; k++, at++) made.normal[at] += weight * sbs_vec4_dot(e[j], e[k]);
    }
    made.right -= weight * sbs_vec4_apply_transposed(e, move_by(of, i, f) - made.point);
  }
  return made;
}

static void move_linearly(const sbs_fit_joints *of, sbs_vec4 v, const double *w, double moved[3], double *by) {
  sbs_vec4 sum = {0.0};
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 to = sbs_vec4_apply(joint_at(of, i)->given, v) + joint_at(of, i)->translation;
    sum += w[i] * to;
    if (by) sbs_vec4_write(to, by + 3 * i);
  }
  sbs_vec4_write(sum, moved);
}

static void move_by_dual_quaternions(const sbs_fit_joints *of, sbs_vec4 v, const double *w, sbs_vec4 hemisphere,
                                     double moved[3], double *by) {
  sbs_vec4 real = {0.0}, dual = {0.0};
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 q = quaternion_at(of, i, hemisphere);
    real += w[i] * q;
    dual += w[i] * sbs_quaternion_multiply(sbs_quaternion_from_vector(move_by(of, i, v)), q);
  }
  const double square = sbs_vec4_dot(real, real);
  const sbs_vec4 to = sbs_quaternion_vector(sbs_quaternion_multiply(dual, sbs_quaternion_conjugate(real))) / square;
  sbs_vec4_write(to, moved);
  if (!by) return;
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 q = quaternion_at(of, i, hemisphere);
    const sbs_vec4 of_dual = sbs_quaternion_multiply(
        sbs_quaternion_multiply(sbs_quaternion_from_vector(move_by(of, i, v)), q), sbs_quaternion_conjugate(real));
    const sbs_vec4 of_real = sbs_quaternion_multiply(dual, sbs_quaternion_conjugate(q));
    sbs_vec4_write((sbs_quaternion_vector(of_dual + of_real) - 2.0 * sbs_vec4_dot(real, q) * to) / square, by + 3 * i);
  }
}

static void move_spherically(const sbs_fit_formula *formula, const sbs_fit_joints *of, sbs_vec4 v, const double *center,
                             const double *w, sbs_vec4 hemisphere, double moved[3], double *by) {
  const int weighted = formula->center == SBS_CENTER_WEIGHTED, optimized = formula->center == SBS_CENTER_OPTIMIZED;
  const sbs_vec4 f = optimized ? (sbs_vec4){center[0], center[1], center[2]} : v;
  equations made = {0};
  sbs_vec4 z = {0.0}, s = {0.0}, still = {0.0}, stretched = {0.0};
  if (weighted && of->count > 1) {
    double squares = 0.0;
    for (size_t i = 0; i < of->count; i++) squares += w[i] * w[i];
    made = find_equations(of, f, w, 1.0, 0.5 * fmax(formula->damping, SBS_WEIGHTED_DAMPING) * (1.0 - squares) + 1e-30);
    z = sbs_solve_symmetric(made.normal, made.right);
  } else if (!optimized && of->count > 1) {
    made = find_equations(of, f, NULL, 2.0 / ((double)of->count - 1.0), fmax(formula->damping, LEAST_DAMPING));
    z = sbs_solve_symmetric(made.normal, made.right);
  }
  for (size_t i = 0; i < of->count; i++) {
    s += w[i] * quaternion_at(of, i, hemisphere);
    still += w[i] * (sbs_vec4_apply(turning_at(of, i), z) + move_by(of, i, f));
    stretched += w[i] * sbs_vec4_apply(of->stretches[of->indices[i]].stretch, v - f);
  }
  const double scale = 2.0 / sbs_vec4_dot(s, s);
  const sbs_vec4 y = stretched - z, u = sbs_quaternion_vector(s), across = sbs_vec4_cross(u, y);
  const sbs_vec4 half = s[0] * across + sbs_vec4_cross(u, across); /* Q y = y + scale half */
  sbs_vec4_write(still + y + scale * half, moved);
  if (!by) return;
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 q = quaternion_at(of, i, hemisphere), b = sbs_quaternion_vector(q), b_across = sbs_vec4_cross(b, y);
    sbs_vec4 to = sbs_vec4_apply(turning_at(of, i), z) + move_by(of, i, f);
    to += scale * (q[0] * across + s[0] * b_across + sbs_vec4_cross(b, across) + sbs_vec4_cross(u, b_across));
    to -= scale * scale * sbs_vec4_dot(s, q) * half;
    const sbs_vec4 arm = sbs_vec4_apply(of->stretches[of->indices[i]].stretch, v - f);
    const sbs_vec4 turned = sbs_vec4_cross(u, arm);
    to += arm + scale * (s[0] * turned + sbs_vec4_cross(u, turned));
    if (weighted && of->count > 1) { /* (M - Q) dz, dz = - G^-1 dF */
      sbs_vec4 e[3];
      for (int j = 0; j < 3; j++) e[j] = turning_at(of, i)[j] - made.turning[j];
      const sbs_vec4 rho = sbs_vec4_apply(e, z) + move_by(of, i, f) - made.point;
      const double damping = fmax(formula->damping, SBS_WEIGHTED_DAMPING);
      const sbs_vec4 dz = sbs_solve_symmetric(made.normal, damping * w[i] * z - sbs_vec4_apply_transposed(e, rho));
      const sbs_vec4 dz_across = sbs_vec4_cross(u, dz);
      to += sbs_vec4_apply(made.turning, dz) - dz - scale * (s[0] * dz_across + sbs_vec4_cross(u, dz_across));
    }
    sbs_vec4_write(to, by + 3 * i);
  }
}

void sbs_move_with_derivatives(const sbs_fit_formula *formula, const sbs_fit_joints *of, const double v[3],
                               const double *center, const double *w, double moved[3], double *by) {
  const sbs_vec4 at = {v[0], v[1], v[2], 0.0};
  size_t heaviest = 0;
  for (size_t i = 1; i < of->count; i++) {
    const int lower = of->indices[i] < of->indices[heaviest];
    if (w[i] > w[heaviest] || (w[i] == w[heaviest] && lower)) heaviest = i;
  }
  const sbs_joint *first = formula->signs_by ? of->joints + *formula->signs_by : joint_at(of, heaviest);
  const sbs_vec4 hemisphere = first->quaternion;
  if (formula->method == SBS_METHOD_LINEAR) {
    move_linearly(of, at, w, moved, by);
  } else if (formula->method == SBS_METHOD_DUAL_QUATERNION) {
    move_by_dual_quaternions(of, at, w, hemisphere, moved, by);
  } else {
    move_spherically(formula, of, at, center, w, hemisphere, moved, by);
  }
}
