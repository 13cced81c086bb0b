/* SPDX-License-Identifier: MIT */
#include "fit/descend.h"

#include <math.h>

#include "fit/hull.h"

void sbs_add_corners(size_t count, const double *w, const double left[3], double *by, double *squares) {
  double along[3] = {0.0, 0.0, 0.0};
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < count; i++) along[k] += w[i] * by[3 * i + k];
  }
  for (size_t i = 0; i < count; i++) {
    double *a = by + 3 * i;
    for (size_t k = 0; k < 3; k++) a[k] += left[k] - along[k];
    for (size_t j = 0; j <= i; j++) {
      const double *b = by + 3 * j;
      squares[i * count + j] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
  }
}

void sbs_fill_upper(size_t count, double *squares) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < i; j++) squares[j * count + i] = squares[i * count + j];
  }
}

/* The weights of a step: those of the point of the hull that is nearest, the change of weights being damped. */
static sbs_status find_step(const sbs_descent *of, size_t count, double damping) {
  double trace = 0.0, square = 0.0;
  for (size_t i = 0; i < count; i++) {
    trace += of->squares[i * count + i];
    square += of->now[i] * of->now[i];
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      const double apart = (double)(i == j) - of->now[i] - of->now[j] + square;
      of->damped[i * count + j] = of->squares[i * count + j] + damping * trace * apart;
    }
  }
  return sbs_nearest_in_hull(count, of->damped, NULL, of->next, of->hull);
}

static void swap(double **a, double **b) {
  double *kept = *a;
  *a = *b;
  *b = kept;
}

double sbs_descend(sbs_descent *of, size_t count, size_t steps, sbs_left_over *left_over, void *context) {
  double damping = 1e-9, error = left_over(context, of->now, count, of->squares);
  for (size_t turn = 0; turn < steps && count > 1; turn++) {
    int better = 0;
    double tried = error, change = 0.0;
    for (int attempt = 0; attempt < 8 && !better; attempt++) {
      if (find_step(of, count, damping)) break; /* what is left is too large to be squared */
      tried = left_over(context, of->next, count, of->tried);
      better = tried < error;
      damping = better ? fmax(1e-12, 0.1 * damping) : fmax(1e-6, 30.0 * damping);
      change = 0.0;
      for (size_t i = 0; i < count; i++) change = fmax(change, fabs(of->next[i] - of->now[i]));
      if (change < 1e-12) break; /* there is nowhere to go */
    }
    if (!better) break;
    const int done = change < 1e-9 || error - tried <= 1e-12 * error;
    swap(&of->now, &of->next);
    swap(&of->squares, &of->tried);
    error = tried;
    if (done) break;
  }
  return error;
}
