/* SPDX-License-Identifier: MIT */
/*
 * The matrix of all steps: the second derivative of the energy where rotations stand still,
 *
 *     K = S + S diag(bending r^2 / a) S + D,
 *
 * S the cotangent Laplacian and D the factors of ties, bones and planes.
 */
#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/progress.h"
#include "flesh/flesh.h"
#include "mesh/neighbors.h"
#include "sbs/mesh.h"

/* A vertex with more neighbors does not bend: as all of them would be each other's neighbors in the matrix. */
#define MOST_NEIGHBORS 64

/* Added to the factor of each tie in the matrix, which could not be factored where no option ties a vertex. */
#define LEAST_HELD 1e-4

/* The least that is added to the diagonal, as a share of it: rounding must not make the matrix singular. */
#define LEAST_SHARE 1e-13

/* The gradients of the three hat functions of a triangle, in its plane. */
static void hat_gradients(const sbs_flesh_triangle *triangle, double gradients[3][2]) {
  const float *m = triangle->inverse;
  gradients[1][0] = (double)m[0], gradients[1][1] = (double)m[1];
  gradients[2][0] = 0.0, gradients[2][1] = (double)m[2];
  for (int i = 0; i < 2; i++) gradients[0][i] = -gradients[1][i] - gradients[2][i];
}

/* The Laplacian S, in double and in single precision, and the areas around vertices. */
static void set_laplacian(sbs_flesh *flesh, double *entries, double *diagonal, double *areas) {
  for (size_t i = 0; i < flesh->offsets[flesh->count]; i++) entries[i] = 0.0;
  for (size_t w = 0; w < flesh->count; w++) diagonal[w] = areas[w] = 0.0;
  for (size_t t = 0; t < flesh->triangle_count; t++) {
    const sbs_flesh_triangle *triangle = flesh->triangles + t;
    const int32_t *corners = triangle->corners;
    double gradients[3][2];
    hat_gradients(triangle, gradients);
    for (size_t i = 0; i < 3; i++) {
      areas[corners[i]] += (double)triangle->area / 3.0;
      for (size_t j = 0; j < 3; j++) {
        const double product = gradients[i][0] * gradients[j][0] + gradients[i][1] * gradients[j][1];
        const double entry = (double)triangle->area * product;
        *(i == j ? diagonal + corners[i]
                 : entries + sbs_find_neighbor(flesh->offsets, flesh->neighbors, corners[i], corners[j])) += entry;
      }
    }
  }
  for (size_t i = 0; i < flesh->offsets[flesh->count]; i++) flesh->entries[i] = (float)entries[i];
  for (size_t w = 0; w < flesh->count; w++) flesh->diagonal[w] = (float)diagonal[w];
}

/* S x of a vertex at rest. */
static sbs_vec3 find_curvature(const sbs_flesh *flesh, const double *entries, const double *diagonal, size_t w) {
  const sbs_vec3 at = sbs_vec3_read(flesh->rest + 3 * w);
  sbs_vec3 sum = sbs_vec3_along((sbs_vec3){0.0, 0.0, 0.0}, diagonal[w], at);
  for (size_t e = flesh->offsets[w]; e < flesh->offsets[w + 1]; e++) {
    sum = sbs_vec3_along(sum, entries[e], sbs_vec3_read(flesh->rest + 3 * (size_t)flesh->neighbors[e]));
  }
  return sum;
}

/* Brings S x into the frames of the triangles around each vertex. */
static void set_curvatures(sbs_flesh *flesh, const double *entries, const double *diagonal) {
  for (size_t w = 0; w < flesh->count; w++) {
    const sbs_vec3 curvature = find_curvature(flesh, entries, diagonal, w);
    flesh->vertices[w].curvature = (float)sbs_vec3_length(curvature);
    for (size_t i = flesh->corner_starts[w]; i < flesh->corner_starts[w + 1]; i++) {
      if ((size_t)flesh->corners[i] >= 3 * flesh->triangle_count) continue; /* of a rim */
      sbs_flesh_triangle *triangle = flesh->triangles + flesh->corners[i] / 3;
      const sbs_vec3 a = sbs_vec3_read(flesh->rest + 3 * (size_t)triangle->corners[0]);
      const sbs_vec3 ab = sbs_vec3_subtract(sbs_vec3_read(flesh->rest + 3 * (size_t)triangle->corners[1]), a);
      const sbs_vec3 ac = sbs_vec3_subtract(sbs_vec3_read(flesh->rest + 3 * (size_t)triangle->corners[2]), a);
      const sbs_vec3 normal = sbs_vec3_cross(ab, ac), across = sbs_vec3_cross(normal, ab);
      float *to = triangle->curvature[flesh->corners[i] % 3];
      to[0] = triangle->area * (float)(sbs_vec3_dot(curvature, ab) / sbs_vec3_length(ab));
      to[1] = triangle->area * (float)(sbs_vec3_dot(curvature, across) / sbs_vec3_length(across));
      to[2] = triangle->area * (float)(sbs_vec3_dot(curvature, normal) / sbs_vec3_length(normal));
    }
  }
}

/* Multiplies strengths by the area of a vertex over the square of its limb's radius; adds them to the diagonal. */
static void set_strengths(sbs_flesh *flesh, const double *areas, double *held) {
  for (size_t w = 0; w < flesh->count; w++) {
    sbs_flesh_vertex *vertex = flesh->vertices + w;
    const double square = (double)vertex->radius * (double)vertex->radius, share = areas[w] / square;
    const size_t neighbors = flesh->offsets[w + 1] - flesh->offsets[w];
    vertex->bending =
        areas[w] > 0.0 && neighbors <= MOST_NEIGHBORS ? (float)(flesh->options.bending * square / areas[w]) : 0.0f;
    vertex->hold *= (float)share;
    held[w] = (double)vertex->hold + LEAST_HELD * share;
    for (size_t k = 0; k < SBS_FLESH_BONES; k++) {
      vertex->strengths[k] *= (float)share;
      held[w] += (double)vertex->strengths[k] * fmax(flesh->options.thinner, flesh->options.thicker);
    }
    for (size_t g = flesh->guard_starts[w]; g < flesh->guard_starts[w + 1]; g++) {
      flesh->guards[g].strength *= (float)share;
      held[w] += (double)flesh->guards[g].strength;
    }
  }
}

/* A row of K as it is summed up. */
typedef struct row {
  double *sums;  /* (W) */
  int32_t *seen; /* (W) the last row that each column is in, plus 1 */
  int32_t *columns;
  size_t count;
} row;

static void add(row *to, int32_t number, int32_t column, double value) {
  if (to->seen[column] != number + 1) {
    to->seen[column] = number + 1;
    to->sums[column] = 0.0;
    to->columns[to->count++] = column;
  }
  to->sums[column] += value;
}

/* Adds factor times row k of S to a row of K. */
static void add_row(const sbs_flesh *flesh, const double *entries, const double *diagonal, int32_t k, double factor,
                    int32_t number, row *to) {
  add(to, number, k, factor * diagonal[k]);
  for (size_t e = flesh->offsets[k]; e < flesh->offsets[k + 1]; e++) {
    add(to, number, flesh->neighbors[e], factor * entries[e]);
  }
}

static void sum_row(const sbs_flesh *flesh, const double *entries, const double *diagonal, int32_t w, row *to) {
  to->count = 0;
  add_row(flesh, entries, diagonal, w, 1.0 + (double)flesh->vertices[w].bending * diagonal[w], w, to);
  for (size_t e = flesh->offsets[w]; e < flesh->offsets[w + 1]; e++) {
    const int32_t k = flesh->neighbors[e];
    if (flesh->vertices[k].bending > 0.0f) {
      add_row(flesh, entries, diagonal, k, (double)flesh->vertices[k].bending * entries[e], w, to);
    }
  }
}

static sbs_status tell(void *context, double share) {
  (void)context;
  return sbs_tell(share);
}

/* Factors K. */
static sbs_status factor(sbs_flesh *flesh, const double *entries, const double *diagonal, double *held,
                         sbs_arena *scratch) {
  const size_t count = flesh->count;
  row sum = {.sums = sbs_arena_take(scratch, count, sizeof *sum.sums),
             .seen = sbs_arena_take(scratch, count, sizeof *sum.seen),
             .columns = sbs_arena_take(scratch, count, sizeof *sum.columns)};
  size_t *offsets = sbs_arena_take(scratch, count + 1, sizeof *offsets);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  int32_t *columns = NULL;
  double *numbers = NULL;
  for (int is_filling = 0; is_filling < 2; is_filling++) {
    size_t made = 0;
    memset(sum.seen, 0, count * sizeof *sum.seen);
    for (size_t w = 0; w < count; w++) {
      const sbs_status status = sbs_tell_some(w, count);
      if (status) return status;
      offsets[w] = made;
      sum_row(flesh, entries, diagonal, (int32_t)w, &sum);
      for (size_t i = 0; i < sum.count; i++) {
        const int32_t column = sum.columns[i];
        if (column == (int32_t)w) {
          if (is_filling) held[w] = fmax(held[w], LEAST_SHARE * sum.sums[column]) + sum.sums[column];
          continue;
        }
        if (is_filling) {
          columns[made] = column;
          numbers[made] = sum.sums[column];
        }
        made++;
      }
    }
    offsets[count] = made;
    if (is_filling) break;
    columns = sbs_arena_take(scratch, made, sizeof *columns);
    numbers = sbs_arena_take(scratch, made, sizeof *numbers);
    if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  }
  const sbs_sparse matrix = {count, offsets, columns, numbers, held, flesh->rest};
  sbs_cholesky factors;
  sbs_status status = sbs_cholesky_factor(&matrix, flesh->free_vertices, flesh->free_count, scratch, &factors,
                                          &(sbs_cholesky_progress){tell, NULL});
  if (status) return status;
  status = sbs_panels_make(&factors, &flesh->arena, &flesh->panels);
  memcpy(flesh->free_vertices, factors.order, flesh->free_count * sizeof *flesh->free_vertices);
  return status;
}

sbs_status sbs_flesh_find_matrix(sbs_flesh *flesh, sbs_arena *scratch) {
  sbs_arena *arena = &flesh->arena;
  const size_t count = flesh->count;
  int32_t *triangles = sbs_flesh_pack(flesh, scratch);
  double *diagonal = sbs_arena_take(scratch, count, sizeof *diagonal);
  double *areas = sbs_arena_take(scratch, count, sizeof *areas);
  double *held = sbs_arena_take(scratch, count, sizeof *held);
  flesh->offsets = sbs_arena_take(arena, count + 1, sizeof *flesh->offsets);
  flesh->neighbors = sbs_arena_take(arena, flesh->triangle_count, 6 * sizeof *flesh->neighbors);
  flesh->diagonal = sbs_arena_take(arena, count, sizeof *flesh->diagonal);
  if (arena->failed || scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  const sbs_mesh_desc mesh = {.vertex_count = count, .triangle_count = flesh->triangle_count, .triangles = triangles};
  sbs_status status = sbs_mesh_adjacency(&mesh, NULL, &flesh->allocator, flesh->offsets, flesh->neighbors, NULL);
  if (status) return status;
  double *entries = sbs_arena_take(scratch, flesh->offsets[count], sizeof *entries);
  flesh->entries = sbs_arena_take(arena, flesh->offsets[count], sizeof *flesh->entries);
  if (arena->failed || scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  set_laplacian(flesh, entries, diagonal, areas);
  set_curvatures(flesh, entries, diagonal);
  set_strengths(flesh, areas, held);
  return factor(flesh, entries, diagonal, held, scratch);
}
