/* SPDX-License-Identifier: MIT */
#ifndef SBS_POSE_LINEAR_ALGEBRA_H
#define SBS_POSE_LINEAR_ALGEBRA_H

/* Small fixed-size algebra in double: matrices are row-major (3, 3), outputs come last and never alias inputs. */

static inline void sbs_identity(double m[9]) {
  for (int i = 0; i < 9; i++) m[i] = i % 4 == 0 ? 1.0 : 0.0;
}

/* a^T b */
static inline void sbs_multiply_transposed(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
  }
}

static inline double sbs_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void sbs_cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The cofactor matrix: det(m) m^-T. */
static inline void sbs_cofactors(const double m[9], double out[9]) {
  sbs_cross(m + 3, m + 6, out);
  sbs_cross(m + 6, m, out + 3);
  sbs_cross(m, m + 3, out + 6);
}

static inline double sbs_determinant(const double m[9]) {
  double c[3];
  sbs_cross(m + 3, m + 6, c);
  return sbs_dot(m, c);
}

/* The square of the Frobenius norm. */
static inline double sbs_norm_squared(const double m[9]) {
  double sum = 0.0;
  for (int i = 0; i < 9; i++) sum += m[i] * m[i];
  return sum;
}

#endif
