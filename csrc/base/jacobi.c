/* SPDX-License-Identifier: MIT */
#include "base/jacobi.h"

#include <float.h>
#include <math.h>

/* Four or five are the rule: the angles that are left are squared by each. */
enum {
  MOST_SWEEPS = 30
};

static double dot(size_t rows, const double *a, const double *b) {
  double sum = 0.0;
  for (size_t i = 0; i < rows; i++) sum += a[i] * b[i];
  return sum;
}

static void swap(size_t count, double *a, double *b) {
  for (size_t i = 0; i < count; i++) {
    const double kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

static void rotate(size_t count, double *a, double *b, double cosine, double sine) {
  for (size_t i = 0; i < count; i++) {
    const double x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}

/* Makes two columns orthogonal, the longer first; returns 0 if they were so already. */
static int rotate_pair(size_t rows, double *a, double *b, double *v, double *w) {
  double square_a = dot(rows, a, a), square_b = dot(rows, b, b);
  if (square_a < square_b) {
    swap(rows, a, b);
    swap(3, v, w);
    const double kept = square_a;
    square_a = square_b;
    square_b = kept;
  }
  if (square_b < DBL_MIN) return 0;
  const double product = dot(rows, a, b);
  if (fabs(product) <= sqrt((double)rows) * DBL_EPSILON * sqrt(square_a) * sqrt(square_b)) return 0;
  const double zeta = (square_b - square_a) / (2.0 * product);
  /* Not by hypot, whose last bit depends on the system. */
  const double root = fabs(zeta) < 1e100 ? sqrt(1.0 + zeta * zeta) : fabs(zeta);
  const double tangent = copysign(1.0, zeta) / (fabs(zeta) + root);
  const double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
  rotate(rows, a, b, cosine, cosine * tangent);
  rotate(3, v, w, cosine, cosine * tangent);
  return 1;
}

/*
 * A unit vector orthogonal to the first `count` columns, which are so to each other: the axis that they leave most of.
 */
static void complete(size_t rows, double *m, size_t count) {
  double *column = m + count * rows;
  size_t best = 0;
  double least = INFINITY;
  for (size_t i = 0; i < rows; i++) {
    double taken = 0.0;
    for (size_t k = 0; k < count; k++) taken += m[k * rows + i] * m[k * rows + i];
    if (taken < least) {
      least = taken;
      best = i;
    }
  }
  for (size_t i = 0; i < rows; i++) column[i] = i == best ? 1.0 : 0.0;
  for (int pass = 0; pass < 2; pass++) { /* the second takes the remainder that rounding has left */
    for (size_t k = 0; k < count; k++) {
      const double *other = m + k * rows, part = dot(rows, other, column);
      for (size_t i = 0; i < rows; i++) column[i] -= part * other[i];
    }
    const double length = sqrt(dot(rows, column, column));
    for (size_t i = 0; i < rows; i++) column[i] /= length;
  }
}

sbs_status sbs_jacobi_svd(size_t rows, double *m, double s[3], double vt[9]) {
  double largest = 0.0;
  int exponent;
  for (size_t i = 0; i < 3 * rows; i++) largest = fmax(largest, fabs(m[i]));
  frexp(largest, &exponent);
  for (size_t i = 0; i < 3 * rows; i++) m[i] = ldexp(m[i], -exponent); /* no square overflows */
  for (int i = 0; i < 9; i++) vt[i] = i % 4 == 0 ? 1.0 : 0.0;

  int sweeps = 0, turned = 1;
  while (turned) {
    if (sweeps++ == MOST_SWEEPS) return SBS_ERROR_NO_CONVERGENCE;
    turned = 0;
    for (size_t i = 0; i < 2; i++) {
      for (size_t j = i + 1; j < 3; j++) {
        turned |= rotate_pair(rows, m + i * rows, m + j * rows, vt + 3 * i, vt + 3 * j);
      }
    }
  }
  for (size_t k = 0; k < 3; k++) {
    double *column = m + k * rows;
    const double square = dot(rows, column, column), length = square < DBL_MIN ? 0.0 : sqrt(square);
    s[k] = ldexp(length, exponent);
    if (length > 0.0) {
      for (size_t i = 0; i < rows; i++) column[i] /= length;
    } else {
      complete(rows, m, k);
    }
  }
  return SBS_OK;
}
