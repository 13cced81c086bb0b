/* SPDX-License-Identifier: MIT */
#include "solve/descend.h"

#include <math.h>

#include "solve/hull.h"

sbs_descent sbs_new_descent(sbs_arena *arena, size_t most, size_t hull) {
  sbs_descent made = {0};
  made.now = sbs_arena_take(arena, most, sizeof *made.now);
  made.next = sbs_arena_take(arena, most, sizeof *made.next);
  made.squares = sbs_arena_take(arena, most * most, sizeof *made.squares);
  made.tried = sbs_arena_take(arena, most * most, sizeof *made.tried);
  made.damped = sbs_arena_take(arena, most * most, sizeof *made.damped);
  made.hull = sbs_arena_take(arena, sbs_hull_work_size(hull), sizeof *made.hull);
  return made;
}

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

/* Finds the weights of a step: of the point of the hull that is nearest, with a damped change of weights. */
static sbs_status find_step(const sbs_descent *descent, size_t count, double damping) {
  double trace = 0.0, square = 0.0;
  for (size_t i = 0; i < count; i++) {
    trace += descent->squares[i * count + i];
    square += descent->now[i] * descent->now[i];
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      const double apart = (double)(i == j) - descent->now[i] - descent->now[j] + square;
      descent->damped[i * count + j] = descent->squares[i * count + j] + damping * trace * apart;
    }
  }
  return sbs_nearest_in_hull(count, descent->damped, descent->next, descent->hull);
}

static void swap(double **a, double **b) {
  double *kept = *a;
  *a = *b;
  *b = kept;
}

double sbs_descend(sbs_descent *descent, size_t count, size_t steps, sbs_left_over *left_over, void *context) {
  double damping = 1e-9, error = left_over(context, descent->now, count, descent->squares);
  for (size_t turn = 0; turn < steps && count > 1; turn++) {
    int better = 0;
    double tried = error, change = 0.0;
    for (int attempt = 0; attempt < 8 && !better; attempt++) {
      if (find_step(descent, count, damping)) break; /* the residual is too large to be squared */
      tried = left_over(context, descent->next, count, descent->tried);
      better = tried < error;
      damping = better ? fmax(1e-12, 0.1 * damping) : fmax(1e-6, 30.0 * damping);
      change = 0.0;
      for (size_t i = 0; i < count; i++) change = fmax(change, fabs(descent->next[i] - descent->now[i]));
      if (change < 1e-12) break; /* there is nowhere to go */
    }
    if (!better) break;
    const int done = change < 1e-9 || error - tried <= 1e-12 * error;
    swap(&descent->now, &descent->next);
    swap(&descent->squares, &descent->tried);
    error = tried;
    if (done) break;
  }
  return error;
}
