/* SPDX-License-Identifier: MIT */
/* The mesh without seams, and its triangles at rest. */
#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "flesh/flesh.h"
#include "sbs/mesh.h"
#include "skin/influences.h"

/* Vertices at one place are two, of bodies that touch, if their weights differ by more. */
#define SAME_WEIGHT 1e-4

/* Triangles with a smaller area in relation to the square of their longest edge are slivers. */
#define LEAST_AREA 1e-4

/* Triangles whose longest edge is shorter are slivers, too: single precision can't tell their strain. */
#define LEAST_LENGTH 1e-7

/* Of the box of all triangles. */
static void find_size(sbs_flesh *flesh, const sbs_flesh_desc *desc) {
  for (size_t axis = 0; axis < 3; axis++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < 3 * desc->triangle_count; i++) {
      const size_t vertex = (size_t)desc->triangles[i];
      const double at = sbs_scalar_get(desc->rest_positions, desc->scalar, 3 * vertex + axis);
      low = fmin(low, at);
      high = fmax(high, at);
    }
    flesh->middle[axis] = low + (high - low) / 2.0;
    flesh->size = fmax(flesh->size, high - low);
  }
  if (!(flesh->size > 0.0)) flesh->size = 1.0;
}

/* Whether two vertices have the same weights; both lists ascend. */
static int are_alike(const sbs_flesh_weights *weights, size_t a, size_t b) {
  size_t i = weights->starts[a], j = weights->starts[b];
  const size_t i_end = weights->starts[a + 1], j_end = weights->starts[b + 1];
  while (i < i_end || j < j_end) {
    const int32_t one = i < i_end ? weights->joints[i] : INT32_MAX, other = j < j_end ? weights->joints[j] : INT32_MAX;
    const double first = one <= other ? weights->weights[i++] : 0.0;
    const double second = other <= one ? weights->weights[j++] : 0.0;
    if (fabs(first - second) > SAME_WEIGHT) return 0;
  }
  return 1;
}

/* Gives each vertex its number, and the numbers their weights. */
static sbs_status number_vertices(sbs_flesh *flesh, const sbs_flesh_desc *desc, sbs_flesh_weights *weights,
                                  sbs_arena *scratch) {
  const size_t vertices = desc->vertex_count, room = desc->influences_per_vertex;
  int32_t *representatives = sbs_arena_take(scratch, vertices, sizeof *representatives);
  int32_t *next = sbs_arena_take(scratch, vertices, sizeof *next); /* of the numbers at one place */
  weights->starts = sbs_arena_take(scratch, vertices + 2, sizeof *weights->starts);
  if (room > SIZE_MAX / (vertices + 1)) return SBS_ERROR_TOO_LARGE;
  weights->joints = sbs_arena_take(scratch, (vertices + 1) * room, sizeof *weights->joints);
  weights->weights = sbs_arena_take(scratch, (vertices + 1) * room, sizeof *weights->weights);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  const sbs_mesh_desc mesh = {.vertex_count = vertices, .scalar = desc->scalar, .positions = desc->rest_positions};
  sbs_status status = sbs_mesh_weld(&mesh, &flesh->allocator, representatives, NULL);
  const sbs_skin_desc skin = {.vertex_count = vertices,
                              .joint_count = desc->joint_count,
                              .influences_per_vertex = room,
                              .joint_indices = desc->joint_indices,
                              .weight_scalar = desc->weight_scalar,
                              .joint_weights = desc->joint_weights};
  sbs_influences influences = sbs_influences_new(&flesh->allocator, &skin);
  if (!influences.joints || !influences.weights) status = SBS_ERROR_OUT_OF_MEMORY;
  weights->starts[0] = 0;
  for (size_t v = 0; v < vertices && !status; v++) {
    const size_t made = flesh->count, begin = weights->starts[made];
    status = sbs_tell_some(v, vertices);
    sbs_influences_read(&skin, INFINITY, v, &influences);
    for (size_t i = 0; i < influences.count; i++) {
      weights->joints[begin + i] = influences.joints[i];
      weights->weights[begin + i] = influences.weights[i];
    }
    weights->starts[made + 1] = begin + influences.count;
    int32_t found = representatives[v] == (int32_t)v ? -1 : flesh->numbers[representatives[v]];
    const int32_t first = found;
    while (found >= 0 && !are_alike(weights, (size_t)found, made)) found = next[found];
    if (found < 0) {
      next[made] = -1;
      if (first >= 0) {
        next[made] = next[first];
        next[first] = (int32_t)made;
      }
      flesh->kept[made] = (int32_t)v;
      found = (int32_t)flesh->count++;
    }
    flesh->numbers[v] = found;
  }
  sbs_influences_free(&flesh->allocator, &influences);
  return status;
}

static sbs_vec3 edge(const double *x, int32_t from, int32_t to) {
  return sbs_vec3_subtract(sbs_vec3_read(x + 3 * (size_t)to), sbs_vec3_read(x + 3 * (size_t)from));
}

static void set_triangles(sbs_flesh *flesh, const sbs_flesh_desc *desc) {
  for (size_t t = 0; t < desc->triangle_count; t++) {
    sbs_flesh_triangle *made = flesh->triangles + flesh->triangle_count;
    for (size_t i = 0; i < 3; i++) made->corners[i] = flesh->numbers[desc->triangles[3 * t + i]];
    const int32_t *corners = made->corners;
    const sbs_vec3 ab = edge(flesh->rest, corners[0], corners[1]), ac = edge(flesh->rest, corners[0], corners[2]);
    const sbs_vec3 bc = edge(flesh->rest, corners[1], corners[2]);
    const double area = sbs_vec3_length(sbs_vec3_cross(ab, ac));
    const double longest = fmax(fmax(sbs_vec3_dot(ab, ab), sbs_vec3_dot(ac, ac)), sbs_vec3_dot(bc, bc));
    if (!(area > LEAST_AREA * longest && longest > LEAST_LENGTH * LEAST_LENGTH)) continue;
    const double length = sbs_vec3_length(ab), height = area / length;
    made->area = (float)(area / 2.0);
    made->inverse[0] = (float)(1.0 / length);
    made->inverse[1] = (float)(-sbs_vec3_dot(ab, ac) / (length * length * height));
    made->inverse[2] = (float)(1.0 / height);
    made->limb = made->piece = -1;
    flesh->triangle_count++;
  }
}

sbs_status sbs_flesh_find_surface(sbs_flesh *flesh, const sbs_flesh_desc *desc, sbs_flesh_weights *weights,
                                  sbs_arena *scratch) {
  sbs_arena *arena = &flesh->arena;
  const size_t vertices = desc->vertex_count;
  find_size(flesh, desc);
  flesh->numbers = sbs_arena_take(arena, vertices, sizeof *flesh->numbers);
  flesh->kept = sbs_arena_take(arena, vertices, sizeof *flesh->kept);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  const sbs_status status = number_vertices(flesh, desc, weights, scratch);
  if (status) return status;
  flesh->rest = sbs_arena_take(arena, flesh->count, 3 * sizeof *flesh->rest);
  flesh->triangles = sbs_arena_take(arena, desc->triangle_count, sizeof *flesh->triangles);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t w = 0; w < flesh->count; w++) {
    for (size_t axis = 0; axis < 3; axis++) {
      const double at = sbs_scalar_get(desc->rest_positions, desc->scalar, 3 * (size_t)flesh->kept[w] + axis);
      flesh->rest[3 * w + axis] = (at - flesh->middle[axis]) / flesh->size;
    }
  }
  set_triangles(flesh, desc);
  return SBS_OK;
}

int32_t *sbs_flesh_pack(const sbs_flesh *flesh, sbs_arena *scratch) {
  int32_t *packed = sbs_arena_take(scratch, flesh->triangle_count, 3 * sizeof *packed);
  for (size_t t = 0; t < flesh->triangle_count && packed; t++) {
    memcpy(packed + 3 * t, flesh->triangles[t].corners, sizeof flesh->triangles[t].corners);
  }
  return packed;
}
