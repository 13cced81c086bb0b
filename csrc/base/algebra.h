/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_ALGEBRA_H
#define SBS_BASE_ALGEBRA_H

#include <math.h>

/*
 * The small algebra of the library, in double:
 *
 *   sbs_vec3    a point or a direction of a mesh, by value
 *   arrays      vectors (3) and matrices (3, 3), row-major, as poses and gradients sum them up. Outputs come last and
 *               never alias inputs
 *   sbs_vec4    four doubles at once: a vector (x, y, z, 0), a quaternion (w, x, y, z); a matrix is three columns
 *
 * The same for many vertices or joints at once, a lane each, is in base/lanes.h and kernels/vectors.inc.
 *
 * Equations of three unknowns are solved in these ways. Errors are relative; k is the matrix's condition number.
 *
 *   sbs_solve_symmetric     L D L^T of a positive definite matrix, without pivoting: a few k eps
 *   factorize, add_solution (base/lanes.h)  the same for several right sides
 *   NAME(solve_symmetric) (kernels/vectors.inc)  the same in the skin's type; no pivot is below a given bound
 *   sbs_solve_axial         (tr S - S) y = x, S symmetric, by cofactors: a few k^2 eps; 0 if singular
 *   newton_step (kernels/average.h)  by cofactors: one division takes less time than the three of L D L^T, which wait
 *                           for each other; k is 20 at most
 *   sbs_svd (base/lapack.h)  of tall and of singular matrices, without normal equations: k eps
 */

/* From 0 at 0 to 1 at 1, without a corner. */
static inline double sbs_smooth_step(double x) {
  const double t = fmin(fmax(x, 0.0), 1.0);
  return t * t * (3.0 - 2.0 * t);
}

/* ----------------------------------------------------------------------------------------------------- by value -- */

typedef struct sbs_vec3 {
  double x, y, z;
} sbs_vec3;

static inline sbs_vec3 sbs_vec3_read(const double *from) {
  return (sbs_vec3){from[0], from[1], from[2]};
}

static inline void sbs_vec3_write(sbs_vec3 from, double *to) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

static inline sbs_vec3 sbs_vec3_subtract(sbs_vec3 a, sbs_vec3 b) {
  return (sbs_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/* a + t b */
static inline sbs_vec3 sbs_vec3_along(sbs_vec3 a, double t, sbs_vec3 b) {
  return (sbs_vec3){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}

static inline double sbs_vec3_dot(sbs_vec3 a, sbs_vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline double sbs_vec3_length(sbs_vec3 a) {
  return sqrt(sbs_vec3_dot(a, a));
}

static inline sbs_vec3 sbs_vec3_cross(sbs_vec3 a, sbs_vec3 b) {
  return (sbs_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* ------------------------------------------------------------------------------------------------------- arrays -- */

static inline double sbs_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void sbs_cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* m v */
static inline void sbs_apply(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = sbs_dot(m + 3 * i, v);
}

/* m^T v, or m v of a matrix that is three columns */
static inline void sbs_apply_transposed(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/* a^T b */
static inline void sbs_multiply_transposed(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
  }
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

/* Whether |det m| / |m|^3 is so small that the inverse would be rounding. */
static inline int sbs_is_singular(const double m[9]) {
  const double norm = sbs_norm_squared(m);
  return !(fabs(sbs_determinant(m)) > 1e-12 * norm * sqrt(norm));
}

/* ----------------------------------------------------------------------------------------- four doubles at once -- */

/* By the compiler's vector extension. */
typedef double sbs_vec4 __attribute__((vector_size(32)));

#define SBS_VEC4_INLINE static inline __attribute__((always_inline))

/* The result of a comparison: all bits set where it is true. */
typedef long long sbs_vec4_mask __attribute__((vector_size(32)));

/* yes where the mask is set, else no */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_select(sbs_vec4_mask mask, sbs_vec4 yes, sbs_vec4 no) {
  return (sbs_vec4)(((sbs_vec4_mask)yes & mask) | ((sbs_vec4_mask)no & ~mask));
}

/* (v[i], v[j], v[k], v[l]) */
#if defined(__clang__) || __GNUC__ >= 12
#define SBS_VEC4_PICK(v, i, j, k, l) __builtin_shufflevector(v, v, i, j, k, l)
#else
#define SBS_VEC4_PICK(v, i, j, k, l) ((sbs_vec4){(v)[i], (v)[j], (v)[k], (v)[l]})
#endif

SBS_VEC4_INLINE sbs_vec4 sbs_vec4_read(const double from[3]) {
  return (sbs_vec4){from[0], from[1], from[2], 0.0};
}

SBS_VEC4_INLINE void sbs_vec4_write(sbs_vec4 v, double to[3]) {
  for (int i = 0; i < 3; i++) to[i] = v[i];
}

/* Of vectors or quaternions. */
SBS_VEC4_INLINE double sbs_vec4_dot(sbs_vec4 a, sbs_vec4 b) {
  const sbs_vec4 products = a * b;
  return (products[0] + products[1]) + (products[2] + products[3]);
}

/* a x b */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_cross(sbs_vec4 a, sbs_vec4 b) {
  return SBS_VEC4_PICK(a, 1, 2, 0, 3) * SBS_VEC4_PICK(b, 2, 0, 1, 3) -
         SBS_VEC4_PICK(a, 2, 0, 1, 3) * SBS_VEC4_PICK(b, 1, 2, 0, 3);
}

/* m v */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_apply(const sbs_vec4 m[3], sbs_vec4 v) {
  return m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
}

/* m^T v */
SBS_VEC4_INLINE sbs_vec4 sbs_vec4_apply_transposed(const sbs_vec4 m[3], sbs_vec4 v) {
  return (sbs_vec4){sbs_vec4_dot(m[0], v), sbs_vec4_dot(m[1], v), sbs_vec4_dot(m[2], v), 0.0};
}

/* a b */
SBS_VEC4_INLINE void sbs_vec4_multiply(const sbs_vec4 a[3], const sbs_vec4 b[3], sbs_vec4 out[3]) {
  for (int i = 0; i < 3; i++) out[i] = sbs_vec4_apply(a, b[i]);
}

/* Columns from and to a row-major (3, 3) matrix. */
static inline void sbs_vec4_from_rows(const double rows[9], sbs_vec4 columns[3]) {
  for (int j = 0; j < 3; j++) columns[j] = (sbs_vec4){rows[j], rows[3 + j], rows[6 + j], 0.0};
}

static inline void sbs_vec4_to_rows(const sbs_vec4 columns[3], double rows[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) rows[3 * i + j] = columns[j][i];
  }
}

/* x of m x = right; m is symmetric and positive definite, (00, 01, 02, 11, 12, 22). */
SBS_VEC4_INLINE sbs_vec4 sbs_solve_symmetric(const double m[6], sbs_vec4 right) {
  const double l10 = m[1] / m[0], l20 = m[2] / m[0], d1 = m[3] - l10 * m[1], m21 = m[4] - l20 * m[1], l21 = m21 / d1;
  const double d2 = m[5] - l20 * m[2] - l21 * m21, y1 = right[1] - l10 * right[0];
  const double x2 = (right[2] - l20 * right[0] - l21 * y1) / d2, x1 = y1 / d1 - l21 * x2;
  return (sbs_vec4){right[0] / m[0] - l10 * x1 - l20 * x2, x1, x2, 0.0};
}

/*
 * y of (tr S - S) y = right, S symmetric: the vector that turns the R of a matrix R S. It is singular where S is 0
 * along two axes: nothing turns then, and y is 0.
 */
SBS_VEC4_INLINE sbs_vec4 sbs_solve_axial(const double s[9], sbs_vec4 right) {
  const double trace = s[0] + s[4] + s[8];
  double m[9], adjugate[9];
  for (int i = 0; i < 9; i++) m[i] = (i % 4 ? 0.0 : trace) - s[i];
  sbs_cofactors(m, adjugate);                    /* as m is symmetric */
  const double determinant = sbs_determinant(m); /* its inverse must be finite */
  const double scale = sbs_is_singular(m) || fabs(determinant) < 1e-300 ? 0.0 : 1.0 / determinant;
  sbs_vec4 columns[3];
  sbs_vec4_from_rows(adjugate, columns);
  return scale * sbs_vec4_apply(columns, right);
}

/* The quaternion (0, v) of a vector, and the vector of a quaternion. */
SBS_VEC4_INLINE sbs_vec4 sbs_quaternion_from_vector(sbs_vec4 v) {
  return (sbs_vec4){0.0, v[0], v[1], v[2]};
}

SBS_VEC4_INLINE sbs_vec4 sbs_quaternion_vector(sbs_vec4 q) {
  return (sbs_vec4){q[1], q[2], q[3], 0.0};
}

/* q* */
SBS_VEC4_INLINE sbs_vec4 sbs_quaternion_conjugate(sbs_vec4 q) {
  return q * (sbs_vec4){1.0, -1.0, -1.0, -1.0};
}

/* The product a b as a combination of these four, which depend on b alone: sum_i a[i] basis[i]. */
SBS_VEC4_INLINE void sbs_quaternion_basis(sbs_vec4 b, sbs_vec4 basis[4]) {
  basis[0] = b;
  basis[1] = (sbs_vec4){-1.0, 1.0, -1.0, 1.0} * SBS_VEC4_PICK(b, 1, 0, 3, 2);
  basis[2] = (sbs_vec4){-1.0, 1.0, 1.0, -1.0} * SBS_VEC4_PICK(b, 2, 3, 0, 1);
  basis[3] = (sbs_vec4){-1.0, -1.0, 1.0, 1.0} * SBS_VEC4_PICK(b, 3, 2, 1, 0);
}

SBS_VEC4_INLINE sbs_vec4 sbs_quaternion_combine(sbs_vec4 a, const sbs_vec4 basis[4]) {
  return a[0] * basis[0] + a[1] * basis[1] + a[2] * basis[2] + a[3] * basis[3];
}

/* a b */
SBS_VEC4_INLINE sbs_vec4 sbs_quaternion_multiply(sbs_vec4 a, sbs_vec4 b) {
  sbs_vec4 basis[4];
  sbs_quaternion_basis(b, basis);
  return sbs_quaternion_combine(a, basis);
}

#endif
