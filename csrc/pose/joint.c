/* SPDX-License-Identifier: MIT */
#include "pose/joint.h"

#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/lapack.h"

/*
 * The orthogonal polar factor of a regular matrix by Newton's iteration with scaling, X <- (g X + X^-T / g) / 2
 * (Higham, "Computing the polar decomposition", 1986), which keeps the sign of the determinant. Returns 0 where it
 * can't be had.
 */
static int polar_newton(const double a[9], double x[9]) {
  memcpy(x, a, 9 * sizeof *a);
  for (int step = 0; step < 24; step++) {
    double inverse[9];
    if (sbs_is_singular(x)) return 0;
    const double det = sbs_determinant(x), norm = sbs_norm_squared(x);
    sbs_cofactors(x, inverse);
    for (int i = 0; i < 9; i++) inverse[i] /= det;
    const double g = sqrt(sqrt(sbs_norm_squared(inverse) / norm));
    double change = 0.0;
    for (int i = 0; i < 9; i++) {
      const double next = 0.5 * (g * x[i] + inverse[i] / g);
      change += (next - x[i]) * (next - x[i]);
      x[i] = next;
    }
    if (change <= 1e-30) return 1;
  }
  return 1;
}

/* The same by the SVD, for singular matrices: U V^T, made proper by the sign of the vanishing singular value. */
static sbs_status polar_svd(const double a[9], double rotation[9]) {
  double u[9], s[3], vt[9], work[32];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) u[3 * j + i] = a[3 * i + j];
  }
  sbs_status status = sbs_svd(3, u, s, vt, work);
  if (status) return status;
  if (sbs_determinant(u) * sbs_determinant(vt) < 0.0) {
    for (int i = 0; i < 3; i++) u[6 + i] = -u[6 + i];
  }
  sbs_multiply_transposed(u, vt, rotation); /* u is stored transposed */
  return SBS_OK;
}

/* From the largest component (Shepperd 1978). */
sbs_vec4 sbs_rotation_quaternion(const double r[9]) {
  const double trace = r[0] + r[4] + r[8];
  const double axis[3] = {r[7] - r[5], r[2] - r[6], r[3] - r[1]}; /* 4 w (x, y, z) */
  double q[4], most = trace;
  int largest = -1;
  for (int i = 0; i < 3; i++) {
    if (r[4 * i] > most) {
      most = r[4 * i];
      largest = i;
    }
  }
  if (largest < 0) {
    q[0] = 1.0 + trace;
    memcpy(q + 1, axis, sizeof axis);
  } else {
    const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
    q[0] = axis[i];
    q[1 + i] = 1.0 + 2.0 * r[4 * i] - trace;
    q[1 + j] = r[3 * i + j] + r[3 * j + i];
    q[1 + k] = r[3 * i + k] + r[3 * k + i];
  }
  const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return (sbs_vec4){q[0], q[1], q[2], q[3]} / norm;
}

/* The inverse, or the adjugate of a singular S. */
static void invert_stretch(const double s[9], double inverse[9]) {
  const double divisor = sbs_is_singular(s) ? 1.0 : sbs_determinant(s);
  sbs_cofactors(s, inverse); /* symmetric: the adjugate */
  for (int i = 0; i < 9; i++) inverse[i] /= divisor;
}

sbs_status sbs_decompose_joint(sbs_joint *joint, unsigned kind, sbs_stretch *stretch) {
  static const sbs_vec4 identity[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  double rotation[9], s[9], inverse[9], a[9], product[9];
  if (!(kind & SBS_JOINT_NONRIGID)) {
    for (int j = 0; j < 3; j++) {
      stretch->rotation[j] = stretch->normal[j] = joint->moving[j];
      stretch->stretch[j] = stretch->inverse[j] = identity[j];
    }
    return SBS_OK;
  }
  sbs_vec4_to_rows(joint->given, a);
  if (!polar_newton(a, rotation)) {
    sbs_status status = polar_svd(a, rotation);
    if (status) return status;
  } else if (sbs_determinant(a) < 0.0) {
    for (int i = 0; i < 9; i++) rotation[i] = -rotation[i];
  }
  sbs_multiply_transposed(rotation, a, product);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) s[3 * i + j] = 0.5 * (product[3 * i + j] + product[3 * j + i]);
  }
  invert_stretch(s, inverse);
  joint->quaternion = sbs_rotation_quaternion(rotation);
  sbs_vec4_from_rows(rotation, stretch->rotation);
  sbs_vec4_from_rows(s, stretch->stretch);
  sbs_vec4_from_rows(inverse, stretch->inverse);
  sbs_vec4_multiply(stretch->rotation, stretch->inverse, stretch->normal);
  return SBS_OK;
}
