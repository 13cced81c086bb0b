/* SPDX-License-Identifier: MIT */
/* docs/fitting.md derives the formulas. */
#include "solve/vertex.h"

#include <math.h>
#include <string.h>

/* Less damping of the center of a joint set would be less than the rounding of its equations. */
#define LEAST_DAMPING 1e-13

static const sbs_joint *joint_at(const sbs_fit_joints *joints, size_t i) {
  return joints->joints + joints->indices[i];
}

static const sbs_vec4 *turning_at(const sbs_fit_joints *joints, size_t i) {
  return sbs_turning(joint_at(joints, i), joints->kinds[joints->indices[i]], joints->stretches + joints->indices[i]);
}

/* C_i v */
static sbs_vec4 move_by(const sbs_fit_joints *joints, size_t i, sbs_vec4 v) {
  return sbs_vec4_apply(joint_at(joints, i)->moving, v) + joint_at(joints, i)->translation;
}

/* q_i in the hemisphere of another */
static sbs_vec4 quaternion_at(const sbs_fit_joints *joints, size_t i, sbs_vec4 other) {
  const sbs_vec4 q = joint_at(joints, i)->quaternion;
  return sbs_vec4_dot(q, other) < 0.0 ? -q : q;
}

/* The equations of a center: sums over E_i = R_i - mean and C_i f - mean, weighted by w_i. */
typedef struct equations {
  sbs_vec4 turning[3], point;
  double normal[6];
  sbs_vec4 right;
} equations;

static equations find_equations(const sbs_fit_joints *joints, sbs_vec4 f, const double *w, double scale,
                                double damping) {
  equations made = {.normal = {damping, 0.0, 0.0, damping, 0.0, damping}};
  for (size_t i = 0; i < joints->count; i++) {
    const double weight = w ? w[i] : 1.0 / (double)joints->count;
    for (int j = 0; j < 3; j++) made.turning[j] += weight * turning_at(joints, i)[j];
    made.point += weight * move_by(joints, i, f);
  }
  for (size_t i = 0; i < joints->count; i++) {
    const double weight = scale * (w ? w[i] : 1.0);
    sbs_vec4 e[3];
    for (int j = 0; j < 3; j++) e[j] = turning_at(joints, i)[j] - made.turning[j];
    for (int j = 0, at = 0; j < 3; j++) {
      for (int k = j; k < 3; k++, at++) made.normal[at] += weight * sbs_vec4_dot(e[j], e[k]);
    }
    made.right -= weight * sbs_vec4_apply_transposed(e, move_by(joints, i, f) - made.point);
  }
  return made;
}

static void move_linearly(const sbs_fit_joints *joints, sbs_vec4 v, const double *w, double moved[3], double *by) {
  sbs_vec4 sum = {0.0};
  for (size_t i = 0; i < joints->count; i++) {
    const sbs_vec4 to = sbs_vec4_apply(joint_at(joints, i)->given, v) + joint_at(joints, i)->translation;
    sum += w[i] * to;
    if (by) sbs_vec4_write(to, by + 3 * i);
  }
  sbs_vec4_write(sum, moved);
}

static void move_by_dual_quaternions(const sbs_fit_joints *joints, sbs_vec4 v, const double *w, sbs_vec4 hemisphere,
                                     double moved[3], double *by) {
  sbs_vec4 real = {0.0}, dual = {0.0};
  for (size_t i = 0; i < joints->count; i++) {
    const sbs_vec4 q = quaternion_at(joints, i, hemisphere);
    real += w[i] * q;
    dual += w[i] * sbs_quaternion_multiply(sbs_quaternion_from_vector(move_by(joints, i, v)), q);
  }
  const double square = sbs_vec4_dot(real, real);
  const sbs_vec4 to = sbs_quaternion_vector(sbs_quaternion_multiply(dual, sbs_quaternion_conjugate(real))) / square;
  sbs_vec4_write(to, moved);
  if (!by) return;
  for (size_t i = 0; i < joints->count; i++) {
    const sbs_vec4 q = quaternion_at(joints, i, hemisphere);
    const sbs_vec4 from_dual = sbs_quaternion_multiply(
        sbs_quaternion_multiply(sbs_quaternion_from_vector(move_by(joints, i, v)), q), sbs_quaternion_conjugate(real));
    const sbs_vec4 from_real = sbs_quaternion_multiply(dual, sbs_quaternion_conjugate(q));
    sbs_vec4_write((sbs_quaternion_vector(from_dual + from_real) - 2.0 * sbs_vec4_dot(real, q) * to) / square,
                   by + 3 * i);
  }
}

static void move_spherically(const sbs_fit_formula *formula, const sbs_fit_joints *joints, sbs_vec4 v,
                             const double *center, const double *w, sbs_vec4 hemisphere, double moved[3], double *by) {
  const int weighted = formula->center == SBS_CENTER_WEIGHTED, optimized = formula->center == SBS_CENTER_OPTIMIZED;
  const sbs_vec4 f = optimized ? (sbs_vec4){center[0], center[1], center[2]} : v;
  equations made = {0};
  sbs_vec4 z = {0.0}, s = {0.0}, still = {0.0}, stretched = {0.0};
  if (weighted && joints->count > 1) {
    double squares = 0.0;
    for (size_t i = 0; i < joints->count; i++) squares += w[i] * w[i];
    made =
        find_equations(joints, f, w, 1.0, 0.5 * fmax(formula->damping, SBS_WEIGHTED_DAMPING) * (1.0 - squares) + 1e-30);
    z = sbs_solve_symmetric(made.normal, made.right);
  } else if (!optimized && joints->count > 1) {
    made = find_equations(joints, f, NULL, 2.0 / ((double)joints->count - 1.0), fmax(formula->damping, LEAST_DAMPING));
    z = sbs_solve_symmetric(made.normal, made.right);
  }
  for (size_t i = 0; i < joints->count; i++) {
    s += w[i] * quaternion_at(joints, i, hemisphere);
    still += w[i] * (sbs_vec4_apply(turning_at(joints, i), z) + move_by(joints, i, f));
    stretched += w[i] * sbs_vec4_apply(joints->stretches[joints->indices[i]].stretch, v - f);
  }
  const double scale = 2.0 / sbs_vec4_dot(s, s);
  const sbs_vec4 y = stretched - z, u = sbs_quaternion_vector(s), across = sbs_vec4_cross(u, y);
  const sbs_vec4 half = s[0] * across + sbs_vec4_cross(u, across); /* Q y = y + scale half */
  sbs_vec4_write(still + y + scale * half, moved);
  if (!by) return;
  for (size_t i = 0; i < joints->count; i++) {
    const sbs_vec4 q = quaternion_at(joints, i, hemisphere), b = sbs_quaternion_vector(q),
                   b_across = sbs_vec4_cross(b, y);
    sbs_vec4 to = sbs_vec4_apply(turning_at(joints, i), z) + move_by(joints, i, f);
    to += scale * (q[0] * across + s[0] * b_across + sbs_vec4_cross(b, across) + sbs_vec4_cross(u, b_across));
    to -= scale * scale * sbs_vec4_dot(s, q) * half;
    const sbs_vec4 arm = sbs_vec4_apply(joints->stretches[joints->indices[i]].stretch, v - f);
    const sbs_vec4 turned = sbs_vec4_cross(u, arm);
    to += arm + scale * (s[0] * turned + sbs_vec4_cross(u, turned));
    if (weighted && joints->count > 1) { /* (M - Q) dz, dz = - G^-1 dF */
      sbs_vec4 e[3];
      for (int j = 0; j < 3; j++) e[j] = turning_at(joints, i)[j] - made.turning[j];
      const sbs_vec4 rho = sbs_vec4_apply(e, z) + move_by(joints, i, f) - made.point;
      const double damping = fmax(formula->damping, SBS_WEIGHTED_DAMPING);
      const sbs_vec4 dz = sbs_solve_symmetric(made.normal, damping * w[i] * z - sbs_vec4_apply_transposed(e, rho));
      const sbs_vec4 dz_across = sbs_vec4_cross(u, dz);
      to += sbs_vec4_apply(made.turning, dz) - dz - scale * (s[0] * dz_across + sbs_vec4_cross(u, dz_across));
    }
    sbs_vec4_write(to, by + 3 * i);
  }
}

static void move(const sbs_fit_formula *formula, const sbs_fit_joints *joints, const double v[3], const double *center,
                 const double *w, double moved[3], double *by) {
  const sbs_vec4 at = {v[0], v[1], v[2], 0.0};
  size_t heaviest = 0;
  for (size_t i = 1; i < joints->count; i++) {
    const int lower = joints->indices[i] < joints->indices[heaviest];
    if (w[i] > w[heaviest] || (w[i] == w[heaviest] && lower)) heaviest = i;
  }
  const sbs_joint *first = formula->signs_by ? joints->joints + *formula->signs_by : joint_at(joints, heaviest);
  const sbs_vec4 hemisphere = first->quaternion;
  if (formula->method == SBS_METHOD_LINEAR) {
    move_linearly(joints, at, w, moved, by);
  } else if (formula->method == SBS_METHOD_DUAL_QUATERNION) {
    move_by_dual_quaternions(joints, at, w, hemisphere, moved, by);
  } else {
    move_spherically(formula, joints, at, center, w, hemisphere, moved, by);
  }
}

/* ------------------------------------------------------------------------------------------------- twists spread -- */

sbs_spread sbs_new_spread(sbs_arena *arena, size_t most) {
  sbs_spread made = {0};
  made.shares = sbs_arena_take(arena, most, 2 * sizeof *made.shares);
  made.weights = sbs_arena_take(arena, most, 2 * sizeof *made.weights);
  made.by = sbs_arena_take(arena, most, 6 * sizeof *made.by);
  made.frames = sbs_arena_take(arena, most, 2 * sizeof *made.frames);
  made.owners = sbs_arena_take(arena, most, 2 * sizeof *made.owners);
  return made;
}

void sbs_spread_joints(const sbs_twist *twist, const int32_t *joints, size_t count, const double point[3],
                       sbs_spread *spread) {
  spread->joint_count = count;
  spread->count = 0;
  for (size_t i = 0; i < count; i++) {
    int32_t frames[2] = {joints[i], 0};
    double shares[2] = {1.0, 0.0};
    if (twist) sbs_twist_spread(twist, joints[i], 1.0, sbs_vec3_read(point), frames, shares);
    for (size_t side = 0; side < 2; side++) {
      if (shares[side] == 0.0) continue;
      spread->frames[spread->count] = frames[side];
      spread->owners[spread->count] = (int32_t)i;
      spread->shares[spread->count++] = shares[side];
    }
  }
}

void sbs_move_spread(const sbs_fit_formula *formula, const sbs_fit_joints *joints, const sbs_spread *spread,
                     const double v[3], const double *center, const double *w, double moved[3], double *by) {
  sbs_fit_joints frames = *joints;
  frames.indices = spread->frames;
  frames.count = spread->count;
  for (size_t e = 0; e < spread->count; e++) spread->weights[e] = spread->shares[e] * w[spread->owners[e]];
  move(formula, &frames, v, center, spread->weights, moved, by ? spread->by : NULL);
  if (!by) return;
  memset(by, 0, 3 * spread->joint_count * sizeof *by);
  for (size_t e = 0; e < spread->count; e++) {
    double *by_joint = by + 3 * (size_t)spread->owners[e];
    for (size_t k = 0; k < 3; k++) by_joint[k] += spread->shares[e] * spread->by[3 * e + k];
  }
}
