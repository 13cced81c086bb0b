/* SPDX-License-Identifier: MIT */
#include "flesh/step.h"

#include <math.h>
#include <string.h>

#include "base/compiled_for_isa.h"

/* A triangle that is flat in the pose has no rotation nearest to it: there d^2 is at least this, without a corner. */
#define LEAST_DETERMINANT 0.02f

/* Penalties begin softly over this share of a limb's radius. */
#define ONSET 0.05f

typedef float vec4 __attribute__((vector_size(16)));

SBS_INLINE vec4 load(const float *from) {
  vec4 v;
  memcpy(&v, from, sizeof v);
  return v;
}

SBS_INLINE void store(vec4 v, float *to) {
  memcpy(to, &v, sizeof v);
}

SBS_INLINE vec4 vector(const float from[3]) {
  return (vec4){from[0], from[1], from[2], 0.0f};
}

SBS_INLINE float dot(vec4 a, vec4 b) {
  const vec4 products = a * b;
  return products[0] + products[1] + products[2];
}

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(v, i, j, k) __builtin_shufflevector(v, v, i, j, k, 3)
#else
#define PICK(v, i, j, k) ((vec4){(v)[i], (v)[j], (v)[k], (v)[3]})
#endif

SBS_INLINE vec4 cross(vec4 a, vec4 b) {
  return PICK(a, 1, 2, 0) * PICK(b, 2, 0, 1) - PICK(a, 2, 0, 1) * PICK(b, 1, 2, 0);
}

/* -------------------------------------------------------------------------------------------------------- local -- */

/* Six times the volume of a cone from the origin. */
SBS_INLINE float cone(vec4 a, vec4 b, vec4 c) {
  return dot(a, cross(b, c));
}

/* The middle of a rim, relative to an apex. */
SBS_INLINE vec4 find_middle(const sbs_flesh_state *state, const sbs_flesh_rim *rim, vec4 apex) {
  vec4 sum = {0.0f};
  for (size_t i = rim->begin; i < rim->end; i++) sum += load(state->y[state->flesh->caps[i][0]]) - apex;
  return sum / (float)(rim->end - rim->begin);
}

SBS_CALLED static void measure(const sbs_flesh_state *state, size_t begin, size_t end) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t p = begin; p < end; p++) {
    const vec4 apex = vector(state->apexes[p]);
    double sum = 0.0, squares = 0.0;
    for (size_t i = flesh->part_starts[p]; i < flesh->part_starts[p + 1]; i++) {
      const int32_t *corners = flesh->triangles[flesh->part_triangles[i]].corners;
      const vec4 a = load(state->y[corners[0]]), b = load(state->y[corners[1]]), c = load(state->y[corners[2]]);
      const vec4 across = cross(b - a, c - a);
      sum += (double)dot(a - apex, across);
      squares += (double)dot(across, across);
    }
    for (size_t r = flesh->rim_starts[p]; r < flesh->rim_starts[p + 1]; r++) {
      const sbs_flesh_rim *rim = flesh->rims + r;
      const vec4 middle = find_middle(state, rim, apex);
      for (size_t i = rim->begin; i < rim->end; i++) {
        const int32_t *side = flesh->caps[i];
        sum += (double)cone(load(state->y[side[0]]) - apex, load(state->y[side[1]]) - apex, middle);
      }
    }
    state->volumes[p] = (float)(sum / 6.0);
    state->squares[p] = (float)squares;
  }
}

/* Adds the force of a pressure at the corners of a triangle: the gradient of its cone. */
SBS_INLINE void add_pressure(float sixth, const vec4 y[3], vec4 apex, vec4 forces[3]) {
  const vec4 a = y[0] - apex, b = y[1] - apex, c = y[2] - apex;
  forces[0] += sixth * cross(b, c);
  forces[1] += sixth * cross(c, a);
  forces[2] += sixth * cross(a, b);
}

SBS_INLINE void put_force(vec4 force, sbs_flesh_corner *to) {
  store(force, to->force);
  store((vec4){0.0f}, to->curvature);
}

/* The forces of pressure at the sides of rims, whose fans move with them. */
SBS_CALLED static void close_rims(const sbs_flesh_state *state, size_t begin, size_t end) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t r = begin; r < end; r++) {
    const sbs_flesh_rim *rim = flesh->rims + r;
    const vec4 apex = vector(state->apexes[rim->part]), middle = find_middle(state, rim, apex);
    const float sixth = state->pressures[rim->part] / 6.0f;
    vec4 at_middle = {0.0f};
    for (size_t i = rim->begin; i < rim->end; i++) {
      at_middle += cross(load(state->y[flesh->caps[i][0]]) - apex, load(state->y[flesh->caps[i][1]]) - apex);
    }
    at_middle /= (float)(rim->end - rim->begin);
    for (size_t i = rim->begin; i < rim->end; i++) {
      const vec4 a = load(state->y[flesh->caps[i][0]]) - apex, b = load(state->y[flesh->caps[i][1]]) - apex;
      sbs_flesh_corner *to = state->corners + 3 * flesh->triangle_count + 2 * i;
      put_force(sixth * (cross(b, middle) + at_middle), to);
      put_force(sixth * cross(middle, a), to + 1);
    }
  }
}

SBS_CALLED static void add_gradient(const sbs_flesh_state *state, size_t part, sbs_point4 *gradient) {
  const sbs_flesh *flesh = state->flesh;
  const vec4 apex = vector(state->apexes[part]);
  for (size_t i = flesh->part_starts[part]; i < flesh->part_starts[part + 1]; i++) {
    const int32_t *corners = flesh->triangles[flesh->part_triangles[i]].corners;
    vec4 y[3], forces[3] = {{0.0f}};
    for (int c = 0; c < 3; c++) y[c] = load(state->y[corners[c]]);
    add_pressure(1.0f / 6.0f, y, apex, forces);
    for (int c = 0; c < 3; c++) store(load(gradient[corners[c]]) + forces[c], gradient[corners[c]]);
  }
  const size_t first = flesh->rim_starts[part], last = flesh->rim_starts[part + 1];
  state->pressures[part] = 1.0f;
  close_rims(state, first, last);
  for (size_t i = first < last ? flesh->rims[first].begin : 0; first < last && i < flesh->rims[last - 1].end; i++) {
    for (int end = 0; end < 2; end++) {
      float *to = gradient[flesh->caps[i][end]];
      store(load(to) + load(state->corners[3 * flesh->triangle_count + 2 * i + (size_t)end].force), to);
    }
  }
}

/*
 * R of the polar decomposition F = R P, F having two columns: P = (F^T F + d) / sqrt(tr F^T F + 2 d), d the root of its
 * determinant.
 */
SBS_INLINE void find_rotation(vec4 f0, vec4 f1, vec4 *r0, vec4 *r1) {
  const float a = dot(f0, f0), b = dot(f0, f1), c = dot(f1, f1), least = LEAST_DETERMINANT;
  const float exact = a * c - b * b, determinant = exact > 0.0f ? exact : 0.0f;
  const float d = sqrtf(determinant + least * least / (determinant + least));
  const float scale = sqrtf(a + c + 2.0f * d) / ((a + d) * (c + d) - b * b);
  *r0 = scale * ((c + d) * f0 - b * f1);
  *r1 = scale * ((a + d) * f1 - b * f0);
}

SBS_CALLED static void project(const sbs_flesh_state *state, size_t begin, size_t end) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t t = begin; t < end; t++) {
    const sbs_flesh_triangle *triangle = flesh->triangles + t;
    const float *m = triangle->inverse;
    vec4 y[3], forces[3], r0, r1;
    for (int i = 0; i < 3; i++) y[i] = load(state->y[triangle->corners[i]]);
    const vec4 first = y[1] - y[0], second = y[2] - y[0];
    find_rotation(m[0] * first, m[1] * first + m[2] * second, &r0, &r1);
    const vec4 normal = cross(r0, r1);
    forces[1] = triangle->area * (m[0] * r0 + m[1] * r1);
    forces[2] = triangle->area * m[2] * r1;
    forces[0] = -forces[1] - forces[2];
    for (int i = 0; i < 2; i++) {
      const int32_t part = i ? triangle->piece : triangle->limb;
      if (part >= 0) add_pressure(state->pressures[part] / 6.0f, y, vector(state->apexes[part]), forces);
    }
    for (int i = 0; i < 3; i++) {
      const float *c = triangle->curvature[i];
      sbs_flesh_corner *to = state->corners + 3 * t + i;
      store(forces[i], to->force);
      store(c[0] * r0 + c[1] * r1 + c[2] * normal, to->curvature);
    }
  }
}

/* S times vectors at a vertex. */
SBS_INLINE vec4 apply_laplacian(const sbs_flesh *flesh, sbs_point4 *vectors, size_t w) {
  vec4 sum = flesh->diagonal[w] * load(vectors[w]);
  for (size_t e = flesh->offsets[w]; e < flesh->offsets[w + 1]; e++) {
    sum += flesh->entries[e] * load(vectors[flesh->neighbors[e]]);
  }
  return sum;
}

SBS_CALLED static void gather(const sbs_flesh_state *state, size_t begin, size_t end) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t w = begin; w < end; w++) {
    const sbs_flesh_vertex *vertex = flesh->vertices + w;
    vec4 force = {0.0f}, curvature = {0.0f};
    for (size_t i = flesh->corner_starts[w]; i < flesh->corner_starts[w + 1]; i++) {
      const sbs_flesh_corner *corner = state->corners + flesh->corners[i];
      force += load(corner->force);
      curvature += load(corner->curvature);
    }
    const vec4 strain = apply_laplacian(flesh, state->y, w);
    const float length = sqrtf(dot(curvature, curvature)), wanted = vertex->curvature;
    curvature *= length > 0.0f ? wanted / length : 0.0f;
    store(vertex->bending * (strain - curvature), state->bent[w]);
    store(force - strain, state->residual[w]);
  }
}

/* The force of a spring that a bone holds a vertex by, over its strength. */
SBS_INLINE vec4 find_spring(const sbs_flesh_state *state, const sbs_flesh_vertex *vertex, int k, vec4 y) {
  const float *bone = state->bones[vertex->bones[k]];
  const vec4 from = y - vector(bone), along = load(bone + 4);
  const float at = dot(from, along) * bone[3];
  const vec4 way = from - (at < 0.0f ? 0.0f : at > 1.0f ? 1.0f : at) * along;
  const float distance = sqrtf(dot(way, way)), change = vertex->distances[k] - distance;
  if (!(distance > 0.0f)) return (vec4){0.0f};
  const float thinner = (float)state->flesh->options.thinner, thicker = (float)state->flesh->options.thicker;
  return (change > 0.0f ? thinner : thicker) * change / distance * way;
}

/* How much of a penalty there is at a depth: nearly all of it, after a soft onset. */
SBS_INLINE float soften(float depth, float onset) {
  return depth > 0.0f ? depth * depth / (depth + onset) : 0.0f;
}

/* The force of a plane of a hinge at a vertex. */
SBS_INLINE vec4 find_contact(const sbs_flesh_state *state, size_t g, float radius, vec4 y) {
  const sbs_flesh_guard *guard = state->flesh->guards + g;
  const sbs_flesh_plane *plane = state->planes + guard->hinge;
  const vec4 normal = guard->side * vector(plane->normal);
  const float depth = guard->least - dot(normal, y) - guard->side * plane->offset;
  return state->guard_strengths[g] * soften(depth, ONSET * radius) * normal;
}

SBS_CALLED static void finish(const sbs_flesh_state *state, size_t begin, size_t end) {
  const sbs_flesh *flesh = state->flesh;
  for (size_t i = begin; i < end; i++) {
    const size_t w = (size_t)flesh->free_vertices[i];
    const sbs_flesh_vertex *vertex = flesh->vertices + w;
    const vec4 y = load(state->y[w]);
    vec4 sum = load(state->residual[w]) - apply_laplacian(flesh, state->bent, w);
    sum += vertex->hold * (load(state->start[w]) - y);
    for (int k = 0; k < SBS_FLESH_BONES; k++) {
      if (vertex->strengths[k] > 0.0f) sum += vertex->strengths[k] * find_spring(state, vertex, k, y);
    }
    for (size_t g = flesh->guard_starts[w]; g < flesh->guard_starts[w + 1]; g++) {
      if (state->guard_strengths[g] > 0.0f) sum += find_contact(state, g, vertex->radius, y);
    }
    store(sum, state->right[i]);
  }
}

SBS_CALLED static void go(const sbs_flesh_state *state, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    float *y = state->y[state->flesh->free_vertices[i]];
    const vec4 at = load(y), before = load(state->before[i]);
    store(before + state->pace * (at + load(state->right[i]) - before), y);
    store(at, state->before[i]);
  }
}

/* ------------------------------------------------------------------------------------------------------- global -- */

/* Solves the triangle of a panel, forwards. */
SBS_INLINE void solve_triangle(const float *entries, size_t width, sbs_point4 *x) {
  for (size_t r = 1; r < width; r++) {
    vec4 sum = load(x[r]);
    for (size_t c = 0; c < r; c++) sum -= *entries++ * load(x[c]);
    store(sum, x[r]);
  }
}

SBS_INLINE void solve_transposed(const float *entries, size_t width, sbs_point4 *x) {
  for (size_t r = width; r-- > 1;) {
    const vec4 at = load(x[r]);
    const float *row = entries + r * (r - 1) / 2;
    for (size_t c = 0; c < r; c++) store(load(x[c]) - row[c] * at, x[c]);
  }
}

enum {
  ROWS = 4 /* of a panel at once */
};

/* Subtracts the products of a panel's rows and its solution from where the rows are, `count` of them. */
SBS_INLINE void subtract_rows(const float *entries, size_t width, size_t count, sbs_point4 *x, float *const *to) {
  vec4 sums[ROWS];
  for (size_t i = 0; i < count; i++) sums[i] = load(to[i]);
  for (size_t c = 0; c < width; c++) {
    const vec4 from = load(x[c]);
    for (size_t i = 0; i < count; i++) sums[i] -= entries[i * width + c] * from;
  }
  for (size_t i = 0; i < count; i++) store(sums[i], to[i]);
}

/* Subtracts the products of a panel's rows and their values from its solution. */
SBS_INLINE void subtract_products(const float *entries, size_t width, size_t count, sbs_point4 *x,
                                  const float *const *from) {
  vec4 at[ROWS];
  for (size_t i = 0; i < count; i++) at[i] = load(from[i]);
  for (size_t c = 0; c < width; c++) {
    vec4 sum = load(x[c]);
    for (size_t i = 0; i < count; i++) sum -= entries[i * width + c] * at[i];
    store(sum, x[c]);
  }
}

SBS_CALLED static void solve_forwards(const sbs_panels *panels, size_t group, sbs_point4 *values, sbs_point4 *top) {
  for (size_t m = panels->group_starts[group]; m < panels->group_starts[group + 1]; m++) {
    const sbs_panel *panel = panels->panels + panels->members[m];
    const size_t width = (size_t)panel->width, count = (size_t)panel->row_count;
    const int32_t *rows = panels->rows + panel->rows;
    sbs_point4 *x = values + panel->first;
    const float *entries = panels->entries + panel->entries;
    solve_triangle(entries, width, x);
    entries += width * (width - 1) / 2;
    float *to[ROWS];
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS) {
      for (size_t k = 0; k < ROWS; k++) to[k] = rows[i + k] < 0 ? top[-1 - rows[i + k]] : values[rows[i + k]];
      subtract_rows(entries + i * width, width, ROWS, x, to);
    }
    for (; i < count; i++) {
      to[0] = rows[i] < 0 ? top[-1 - rows[i]] : values[rows[i]];
      subtract_rows(entries + i * width, width, 1, x, to);
    }
  }
}

SBS_CALLED static void solve_backwards(const sbs_panels *panels, size_t group, sbs_point4 *values) {
  for (size_t m = panels->group_starts[group + 1]; m-- > panels->group_starts[group];) {
    const sbs_panel *panel = panels->panels + panels->members[m];
    const size_t width = (size_t)panel->width, count = (size_t)panel->row_count;
    const int32_t *rows = panels->rows + panel->rows;
    sbs_point4 *x = values + panel->first;
    const float *entries = panels->entries + panel->entries + width * (width - 1) / 2;
    for (size_t c = 0; c < width; c++) store(load(x[c]) * panels->inverse[(size_t)panel->first + c], x[c]);
    const float *from[ROWS];
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS) {
      for (size_t k = 0; k < ROWS; k++) {
        from[k] = values[rows[i + k] < 0 ? panels->top_rows[-1 - rows[i + k]] : rows[i + k]];
      }
      subtract_products(entries + i * width, width, ROWS, x, from);
    }
    for (; i < count; i++) {
      from[0] = values[rows[i] < 0 ? panels->top_rows[-1 - rows[i]] : rows[i]];
      subtract_products(entries + i * width, width, 1, x, from);
    }
    solve_transposed(panels->entries + panel->entries, width, x);
  }
}

sbs_flesh_functions SBS_FOR_ISA(sbs_flesh_functions)(void);
sbs_flesh_functions SBS_FOR_ISA(sbs_flesh_functions)(void) {
  return (sbs_flesh_functions){measure, project,      close_rims,     gather,         finish,
                               go,      add_gradient, solve_forwards, solve_backwards};
}
