/* SPDX-License-Identifier: MIT */
/* Wolfe, P. 1976. Finding the Nearest Point in a Polytope. */
#include "solve/hull.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* In units of the largest product: how much nearer to the origin a corner must lie to be taken, and the ridge on the
   diagonal by which corners that depend on each other can be solved for, too. */
#define TOLERANCE 1e-15
#define RIDGE 1e-15

size_t sbs_hull_work_size(size_t n) {
  return n * n + 4 * n;
}

/* The corners in use, by their numbers, which a double holds exactly. */
typedef struct hull {
  size_t n, count;
  const double *gram;
  double scale;
  double *factor, *span, *used, *product;
} hull;

/* The weights of sum 1, of any sign, of the point nearest to the origin in the span of the corners in use. */
static void find_in_span(const hull *h) {
  const size_t m = h->count;
  double *l = h->factor, *v = h->span, sum = 0.0;
  for (size_t i = 0; i < m; i++) {
    const size_t a = (size_t)h->used[i];
    for (size_t j = 0; j <= i; j++) {
      double x = h->gram[a * h->n + (size_t)h->used[j]];
      if (i == j) x += RIDGE * h->scale;
      for (size_t k = 0; k < j; k++) x -= l[i * m + k] * l[j * m + k];
      l[i * m + j] = i == j ? sqrt(fmax(x, RIDGE * h->scale)) : x / l[j * m + j];
    }
  }
  for (size_t i = 0; i < m; i++) {
    v[i] = 1.0;
    for (size_t k = 0; k < i; k++) v[i] -= l[i * m + k] * v[k];
    v[i] /= l[i * m + i];
  }
  for (size_t i = m; i-- > 0;) {
    for (size_t k = i + 1; k < m; k++) v[i] -= l[k * m + i] * v[k];
    v[i] /= l[i * m + i];
    sum += v[i];
  }
  for (size_t i = 0; i < m; i++) v[i] /= sum;
}

/*
 * Moves w towards the nearest point of the span, until a weight becomes 0: that corner is then no longer used. Returns
 * whether w got all the way.
 */
static int step(hull *h, double *w) {
  double share = 1.0;
  find_in_span(h);
  for (size_t i = 0; i < h->count; i++) {
    const double now = w[(size_t)h->used[i]], then = h->span[i];
    if (then <= 0.0 && now > then) share = fmin(share, now / (now - then));
  }
  size_t kept = 0;
  for (size_t i = 0; i < h->count; i++) {
    const size_t corner = (size_t)h->used[i];
    w[corner] += share * (h->span[i] - w[corner]);
    if (share < 1.0 && w[corner] <= 1e-14) {
      w[corner] = 0.0;
    } else {
      h->used[kept++] = (double)corner;
    }
  }
  const int arrived = kept == h->count;
  h->count = kept;
  return arrived || kept <= 1;
}

/* Where squares are so small that their inverses overflow, the corner `first` gets all weight. */
static void normalize(const hull *h, size_t first, double *w) {
  double sum = 0.0;
  for (size_t i = 0; i < h->n; i++) sum += w[i] = fmax(w[i], 0.0);
  const int is_lost = !(sum > 0.0 && sum <= DBL_MAX);
  for (size_t i = 0; i < h->n; i++) w[i] = is_lost ? (double)(i == first) : w[i] / sum;
}

sbs_status sbs_nearest_in_hull(size_t n, const double *gram, double *w, double *work) {
  hull h = {.n = n,
            .gram = gram,
            .factor = work,
            .span = work + n * n,
            .used = work + n * n + n,
            .product = work + n * n + 2 * n};
  size_t first = n;
  for (size_t i = 0; i < n; i++) {
    w[i] = 0.0;
    if (!isfinite(gram[i * n + i])) return SBS_ERROR_NOT_FINITE;
    h.scale = fmax(h.scale, gram[i * n + i]);
    if (first == n || gram[i * n + i] < gram[first * n + first]) first = i;
  }
  w[first] = 1.0;
  h.used[0] = (double)first;
  h.count = 1;
  for (size_t turn = 0; turn < 4 * n + 8 && h.count < n; turn++) {
    double square = 0.0;
    size_t nearest = n;
    for (size_t i = 0; i < n; i++) {
      double product = 0.0;
      for (size_t k = 0; k < h.count; k++) {
        const size_t corner = (size_t)h.used[k];
        product += gram[i * n + corner] * w[corner];
      }
      h.product[i] = product;
      square += w[i] * product;
      if (nearest == n || product < h.product[nearest]) nearest = i;
    }
    if (w[nearest] != 0.0 || !(h.product[nearest] < square - TOLERANCE * h.scale)) break;
    h.used[h.count++] = (double)nearest;
    while (!step(&h, w)) continue;
  }
  normalize(&h, first, w);
  return SBS_OK;
}
