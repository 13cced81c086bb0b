/* SPDX-License-Identifier: MIT */
/* docs/fitting.md derives what is here. */
#include "fit/vertex.h"

#include <math.h>

/* Less damping of the center of a joint set would be less than the rounding of its equations. */
#define LEAST_DAMPING 1e-13

/* (0, a) of a vector, as quaternions have it */
static sbs_vec4 as_quaternion(sbs_vec4 a) {
  return (sbs_vec4){0.0, a[0], a[1], a[2]};
}

static sbs_vec4 vector_of(sbs_vec4 q) {
  return (sbs_vec4){q[1], q[2], q[3], 0.0};
}

static double dot4(sbs_vec4 a, sbs_vec4 b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static sbs_vec4 conjugate(sbs_vec4 q) {
  return q * (sbs_vec4){1.0, -1.0, -1.0, -1.0};
}

static sbs_vec4 product(sbs_vec4 a, sbs_vec4 b) {
  sbs_vec4 basis[4];
  sbs_vec4_quaternion_basis(b, basis);
  return sbs_vec4_combine(a, basis);
}

static sbs_vec4 apply_transposed(const sbs_vec4 m[3], sbs_vec4 v) {
  return (sbs_vec4){dot4(m[0], v), dot4(m[1], v), dot4(m[2], v), 0.0};
}

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

/* q_i in the hemisphere of the heaviest joint's */
static sbs_vec4 quaternion_at(const sbs_fit_joints *of, size_t i, size_t heaviest) {
  const sbs_vec4 q = joint_at(of, i)->quaternion;
  return dot4(q, joint_at(of, heaviest)->quaternion) < 0.0 ? -q : q;
}

static void put(sbs_vec4 from, double to[3]) {
  for (int i = 0; i < 3; i++) to[i] = from[i];
}

/* x = N^-1 right, N symmetric positive definite (00, 01, 02, 11, 12, 22), by L D L^T. */
static sbs_vec4 solve(const double m[6], sbs_vec4 right) {
  const double l10 = m[1] / m[0], l20 = m[2] / m[0], d1 = m[3] - l10 * m[1], m21 = m[4] - l20 * m[1], l21 = m21 / d1;
  const double d2 = m[5] - l20 * m[2] - l21 * m21, y1 = right[1] - l10 * right[0];
  const double x2 = (right[2] - l20 * right[0] - l21 * y1) / d2, x1 = y1 / d1 - l21 * x2;
  return (sbs_vec4){right[0] / m[0] - l10 * x1 - l20 * x2, x1, x2, 0.0};
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
      for (int k = j; k < 3; k++, at++) made.normal[at] += weight * dot4(e[j], e[k]);
    }
    made.right -= weight * apply_transposed(e, move_by(of, i, f) - made.point);
  }
  return made;
}

static void move_linearly(const sbs_fit_joints *of, sbs_vec4 v, const double *w, double moved[3], double *by) {
  sbs_vec4 sum = {0.0};
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 to = sbs_vec4_apply(joint_at(of, i)->given, v) + joint_at(of, i)->translation;
    sum += w[i] * to;
    put(to, by + 3 * i);
  }
  put(sum, moved);
}

static void move_by_dual_quaternions(const sbs_fit_joints *of, sbs_vec4 v, const double *w, size_t heaviest,
                                     double moved[3], double *by) {
  sbs_vec4 real = {0.0}, dual = {0.0};
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 q = quaternion_at(of, i, heaviest);
    real += w[i] * q;
    dual += w[i] * product(as_quaternion(move_by(of, i, v)), q);
  }
  const double square = dot4(real, real);
  const sbs_vec4 to = vector_of(product(dual, conjugate(real))) / square;
  put(to, moved);
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 q = quaternion_at(of, i, heaviest);
    const sbs_vec4 of_dual = product(product(as_quaternion(move_by(of, i, v)), q), conjugate(real));
    const sbs_vec4 of_real = product(dual, conjugate(q));
    put((vector_of(of_dual + of_real) - 2.0 * dot4(real, q) * to) / square, by + 3 * i);
  }
}

static void move_spherically(const sbs_fit_formula *formula, const sbs_fit_joints *of, sbs_vec4 v, const double *center,
                             const double *w, size_t heaviest, double moved[3], double *by) {
  const int weighted = formula->center == SBS_CENTER_WEIGHTED, optimized = formula->center == SBS_CENTER_OPTIMIZED;
  const sbs_vec4 f = optimized ? (sbs_vec4){center[0], center[1], center[2]} : v;
  equations made = {0};
  sbs_vec4 z = {0.0}, s = {0.0}, still = {0.0}, stretched = {0.0};
  if (weighted && of->count > 1) {
    double squares = 0.0;
    for (size_t i = 0; i < of->count; i++) squares += w[i] * w[i];
    made = find_equations(of, f, w, 1.0, 0.5 * fmax(formula->damping, SBS_WEIGHTED_DAMPING) * (1.0 - squares) + 1e-30);
    z = solve(made.normal, made.right);
  } else if (!optimized && of->count > 1) {
    made = find_equations(of, f, NULL, 2.0 / ((double)of->count - 1.0), fmax(formula->damping, LEAST_DAMPING));
    z = solve(made.normal, made.right);
  }
  for (size_t i = 0; i < of->count; i++) {
    s += w[i] * quaternion_at(of, i, heaviest);
    still += w[i] * (sbs_vec4_apply(turning_at(of, i), z) + move_by(of, i, f));
    stretched += w[i] * sbs_vec4_apply(of->stretches[of->indices[i]].stretch, v - f);
  }
  const double scale = 2.0 / dot4(s, s);
  const sbs_vec4 y = stretched - z, u = vector_of(s), across = sbs_vec4_cross(u, y);
  const sbs_vec4 half = s[0] * across + sbs_vec4_cross(u, across); /* Q y = y + scale half */
  put(still + y + scale * half, moved);
  for (size_t i = 0; i < of->count; i++) {
    const sbs_vec4 q = quaternion_at(of, i, heaviest), b = vector_of(q), b_across = sbs_vec4_cross(b, y);
    sbs_vec4 to = sbs_vec4_apply(turning_at(of, i), z) + move_by(of, i, f);
    to += scale * (q[0] * across + s[0] * b_across + sbs_vec4_cross(b, across) + sbs_vec4_cross(u, b_across));
    to -= scale * scale * dot4(s, q) * half;
    const sbs_vec4 arm = sbs_vec4_apply(of->stretches[of->indices[i]].stretch, v - f);
    const sbs_vec4 turned = sbs_vec4_cross(u, arm);
    to += arm + scale * (s[0] * turned + sbs_vec4_cross(u, turned));
    if (weighted && of->count > 1) { /* (M - Q) dz, dz = - G^-1 dF */
      sbs_vec4 e[3];
      for (int j = 0; j < 3; j++) e[j] = turning_at(of, i)[j] - made.turning[j];
      const sbs_vec4 rho = sbs_vec4_apply(e, z) + move_by(of, i, f) - made.point;
      const double damping = fmax(formula->damping, SBS_WEIGHTED_DAMPING);
      const sbs_vec4 dz = solve(made.normal, damping * w[i] * z - apply_transposed(e, rho));
      const sbs_vec4 dz_across = sbs_vec4_cross(u, dz);
      to += sbs_vec4_apply(made.turning, dz) - dz - scale * (s[0] * dz_across + sbs_vec4_cross(u, dz_across));
    }
    put(to, by + 3 * i);
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
  if (formula->method == SBS_METHOD_LINEAR) {
    move_linearly(of, at, w, moved, by);
  } else if (formula->method == SBS_METHOD_DUAL_QUATERNION) {
    move_by_dual_quaternions(of, at, w, heaviest, moved, by);
  } else {
    move_spherically(formula, of, at, center, w, heaviest, moved, by);
  }
}
