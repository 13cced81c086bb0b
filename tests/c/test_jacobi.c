/* SPDX-License-Identifier: MIT */
/*
 * The singular value decomposition without LAPACK: known values, and LAPACKE's where that was built. Matrices have
 * entries of about 1 and up to 300 rows, so that rounding is some 1e-15 of the largest singular value; LAPACK's is as
 * much.
 */
#include "base/jacobi.h"

#include <float.h>
#include <stdlib.h>

#include "harness.h"
#include "rig.h"
#ifdef TEST_LAPACK
#include "base/lapack.h"
#endif

enum {
  MOST_ROWS = 300
};

static const double rounding = 1e-14;

typedef struct matrix {
  size_t rows;
  double m[3 * MOST_ROWS]; /* column-major */
} matrix;

typedef struct factors {
  matrix u;
  double s[3], vt[9];
} factors;

static matrix random_matrix(size_t rows, uint64_t *seed) {
  matrix a = {.rows = rows};
  for (size_t i = 0; i < 3 * rows; i++) a.m[i] = random_between(seed, -1.0, 1.0);
  return a;
}

/* Three columns that are orthogonal to each other and of length 1, to rounding. */
static matrix random_orthonormal(size_t rows, uint64_t *seed) {
  matrix a = random_matrix(rows, seed);
  for (size_t j = 0; j < 3; j++) {
    double *column = a.m + j * rows, square = 0.0;
    for (int pass = 0; pass < 2; pass++) {
      for (size_t k = 0; k < j; k++) {
        double part = 0.0;
        for (size_t i = 0; i < rows; i++) part += a.m[k * rows + i] * column[i];
        for (size_t i = 0; i < rows; i++) column[i] -= part * a.m[k * rows + i];
      }
    }
    for (size_t i = 0; i < rows; i++) square += column[i] * column[i];
    for (size_t i = 0; i < rows; i++) column[i] /= sqrt(square);
  }
  return a;
}

/* a diag(scales) b, with b (3, 3) column-major. */
static matrix product(const matrix *a, const double scales[3], const double b[9]) {
  matrix c = {.rows = a->rows};
  for (size_t j = 0; j < 3; j++) {
    for (size_t k = 0; k < 3; k++) {
      for (size_t i = 0; i < a->rows; i++) c.m[j * a->rows + i] += a->m[k * a->rows + i] * scales[k] * b[3 * j + k];
    }
  }
  return c;
}

static void scale_columns(matrix *a, double x, double y, double z) {
  const double scales[3] = {x, y, z};
  for (size_t i = 0; i < 3 * a->rows; i++) a->m[i] *= scales[i / a->rows];
}

/* The factors of a matrix, checked to be its decomposition. */
static factors decompose(const matrix *a) {
  factors f = {.u = *a};
  CHECK_EQUAL(sbs_jacobi_svd(a->rows, f.u.m, f.s, f.vt), SBS_OK);
  CHECK(f.s[0] >= f.s[1] && f.s[1] >= f.s[2] && f.s[2] >= 0.0);
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++) {
      double of_u = 0.0, of_v = 0.0;
      for (size_t row = 0; row < a->rows; row++) of_u += f.u.m[i * a->rows + row] * f.u.m[j * a->rows + row];
      for (size_t k = 0; k < 3; k++) of_v += f.vt[3 * i + k] * f.vt[3 * j + k];
      CHECK_NEAR(of_u, i == j, rounding);
      CHECK_NEAR(of_v, i == j, rounding);
    }
  }
  for (size_t j = 0; j < 3; j++) {
    for (size_t row = 0; row < a->rows; row++) {
      double sum = 0.0;
      for (size_t k = 0; k < 3; k++) sum += f.u.m[k * a->rows + row] * (f.s[k] * f.vt[3 * k + j]);
      CHECK_NEAR(sum, a->m[j * a->rows + row], rounding * f.s[0]);
    }
  }
  return f;
}

/* Singular values are LAPACK's. */
static factors compare(const matrix *a) {
  const factors f = decompose(a);
#ifdef TEST_LAPACK
  factors lapack = {.u = *a};
  double work[MOST_ROWS + 16];
  CHECK(sbs_svd_work_size(a->rows) <= sizeof work / sizeof *work);
  CHECK_EQUAL(sbs_svd(a->rows, lapack.u.m, lapack.s, lapack.vt, work), SBS_OK);
  for (int k = 0; k < 3; k++) CHECK_NEAR(f.s[k], lapack.s[k], rounding * lapack.s[0]);
#endif
  return f;
}

enum {
  SIZES = 8
};
static const size_t sizes[SIZES] = {3, 4, 6, 9, 12, 30, 99, MOST_ROWS};

/* U diag(s) V^T of known s: the same values are found. */
static void test_known_singular_values(void) {
  static const double known[][3] = {{1, 1, 1},           {3, 2, 1},       {1, 1, 1e-3},    {1, 1e-7, 1e-7},
                                    {1, 1e-3, 1e-12},    {1, 0.5, 1e-16}, {2, 1e-16, 0.0}, {5, 5, 0},
                                    {1, 1 - 1e-15, 0.5}, {1, 0, 0}};
  uint64_t seed = 2;
  for (size_t i = 0; i < SIZES; i++) {
    for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
      const matrix u = random_orthonormal(sizes[i], &seed), v = random_orthonormal(3, &seed);
      const matrix a = product(&u, known[n], v.m);
      const factors f = compare(&a);
      for (int k = 0; k < 3; k++) CHECK_NEAR(f.s[k], known[n][k], rounding * known[n][0]);
    }
  }
}

/* Ranks 0, 1 and 2 exactly: columns that are zero, equal, or sums of others; U is complete all the same. */
static void test_rank_deficient(void) {
  uint64_t seed = 3;
  for (size_t i = 0; i < SIZES; i++) {
    const size_t rows = sizes[i];
    const matrix zero = {.rows = rows};
    const factors f = compare(&zero);
    for (int k = 0; k < 3; k++) CHECK(f.s[k] == 0.0);
    for (size_t kept = 0; kept < 3; kept++) {
      matrix one = zero, two = random_matrix(rows, &seed), equal = zero, sum = two;
      for (size_t row = 0; row < rows; row++) {
        const double x = two.m[row], y = two.m[rows + row];
        one.m[kept * rows + row] = x;
        equal.m[row] = equal.m[rows + row] = equal.m[2 * rows + row] = x;
        sum.m[((kept + 1) % 3) * rows + row] = x;
        sum.m[((kept + 2) % 3) * rows + row] = y;
        sum.m[kept * rows + row] = x + y;
        two.m[kept * rows + row] = 0.0;
      }
      CHECK(compare(&one).s[1] == 0.0);
      CHECK(compare(&two).s[2] == 0.0);
      compare(&equal);
      compare(&sum);
    }
  }
}

/* Columns, rows and all of it by powers of ten that squares overflow and underflow at. */
static void test_badly_scaled(void) {
  uint64_t seed = 4;
  static const double scales[] = {1e-300, 1e-160, 1e-100, 1e-20, 1e-8, 1e-4, 1e4, 1e20, 1e150, 1e300};
  for (size_t i = 0; i < SIZES; i++) {
    for (size_t n = 0; n < sizeof scales / sizeof *scales; n++) {
      matrix whole = random_matrix(sizes[i], &seed), column = whole, two = whole, row = whole;
      scale_columns(&whole, scales[n], scales[n], scales[n]);
      compare(&whole);
      scale_columns(&column, 1.0, scales[n], 1.0);
      compare(&column);
      scale_columns(&two, scales[n], 1.0, scales[n]);
      compare(&two);
      for (size_t j = 0; j < 3; j++) row.m[j * row.rows] *= scales[n];
      compare(&row);
    }
  }
}

/* Of orthogonal columns by scales of their own each singular value is exact, however small beside the others. */
static void test_small_values_are_as_exact_as_large_ones(void) {
  uint64_t seed = 5;
  for (size_t i = 0; i < SIZES; i++) {
    matrix a = random_orthonormal(sizes[i], &seed);
    scale_columns(&a, 1e-40, 1.0, 1e-20);
    const factors f = decompose(&a);
    CHECK_NEAR(f.s[0], 1.0, rounding);
    CHECK_NEAR(f.s[1] * 1e20, 1.0, rounding);
    CHECK_NEAR(f.s[2] * 1e40, 1.0, rounding);
  }
}

int main(void) {
  RUN(test_known_singular_values);
  RUN(test_rank_deficient);
  RUN(test_badly_scaled);
  RUN(test_small_values_are_as_exact_as_large_ones);
  return harness_result();
}
