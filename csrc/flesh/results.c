/* SPDX-License-Identifier: MIT */
/* Relaxed positions and their normals, back in the arrays of the caller. */
#include <math.h>

#include "base/algebra.h"
#include "base/scalar.h"
#include "flesh/step.h"

sbs_flesh_vectors sbs_flesh_make_vectors(void *first, size_t stride, sbs_scalar scalar) {
  return (sbs_flesh_vectors){first, stride ? stride : 3 * sbs_scalar_size(scalar), scalar};
}

void sbs_flesh_read_vector(const sbs_flesh_vectors *in, size_t vertex, double out[3]) {
  for (size_t i = 0; i < 3; i++) out[i] = sbs_scalar_get(in->first + vertex * in->stride, in->scalar, i);
}

static void write_vector(const sbs_flesh_vectors *in, size_t vertex, const double v[3]) {
  for (size_t i = 0; i < 3; i++) sbs_scalar_put(in->first + vertex * in->stride, in->scalar, i, v[i]);
}

static int is_finite(const float *point) {
  return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]);
}

/* The normal of the surface around a vertex; 0 of none. */
static void find_normal(const sbs_flesh *flesh, sbs_point4 *positions, size_t w, double normal[3]) {
  double sum[3] = {0.0};
  for (size_t i = flesh->corner_starts[w]; i < flesh->corner_starts[w + 1]; i++) {
    if ((size_t)flesh->corners[i] >= 3 * flesh->triangle_count) continue; /* of a rim */
    const int32_t *corners = flesh->triangles[flesh->corners[i] / 3].corners;
    double ab[3], ac[3], across[3];
    for (int axis = 0; axis < 3; axis++) {
      ab[axis] = (double)positions[corners[1]][axis] - (double)positions[corners[0]][axis];
      ac[axis] = (double)positions[corners[2]][axis] - (double)positions[corners[0]][axis];
    }
    sbs_cross(ab, ac, across);
    for (int axis = 0; axis < 3; axis++) sum[axis] += across[axis];
  }
  const double length = sqrt(sbs_dot(sum, sum));
  for (int axis = 0; axis < 3; axis++) normal[axis] = length > 0.0 ? sum[axis] / length : 0.0;
}

/* Turns a vector by the smallest rotation from one direction to another. */
static void turn(const double from[3], const double to[3], double v[3]) {
  const double cosine = sbs_dot(from, to);
  if (!(cosine > -0.999)) return;
  double sum[3];
  for (int i = 0; i < 3; i++) sum[i] = from[i] + to[i];
  const double along = sbs_dot(sum, v) / (1.0 + cosine), own = 2.0 * sbs_dot(from, v);
  for (int i = 0; i < 3; i++) v[i] += own * to[i] - along * sum[i];
}

void sbs_flesh_write_results(sbs_flesh_state *state, double size, double amount, const unsigned char *is_moved,
                             const sbs_flesh_vectors *positions, const sbs_flesh_vectors *normals) {
  const sbs_flesh *flesh = state->flesh;
  /* `bent` is no longer needed, and receives where vertices go. */
  for (size_t w = 0; w < flesh->count; w++) {
    for (int i = 0; i < 3; i++) {
      state->bent[w][i] = state->start[w][i] + (float)amount * (state->y[w][i] - state->start[w][i]);
    }
  }
  for (size_t v = 0; v < flesh->vertex_count; v++) {
    const size_t w = (size_t)flesh->numbers[v];
    if (!is_moved[w] || !is_finite(state->y[w]) || !is_finite(state->start[w])) continue;
    const double share = size * amount * (flesh->amounts ? flesh->amounts[v] : 1.0);
    double at[3];
    sbs_flesh_read_vector(positions, v, at);
    for (int i = 0; i < 3; i++) at[i] += share * ((double)state->y[w][i] - (double)state->start[w][i]);
    write_vector(positions, v, at);
    if (!normals->first) continue;
    double before[3], after[3];
    find_normal(flesh, state->start, w, before);
    find_normal(flesh, state->bent, w, after);
    sbs_flesh_read_vector(normals, v, at);
    turn(before, after, at);
    write_vector(normals, v, at);
  }
}
