/* SPDX-License-Identifier: MIT */
#include "solve/center_patches.h"

#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/progress.h"
#include "base/scalar.h"

/* ------------------------------------------------------------------------------------------------------- points -- */

static double coordinate(const sbs_skin_desc *desc, size_t vertex, size_t axis) {
  const size_t packed = 3 * sbs_scalar_size(desc->scalar);
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : packed;
  return sbs_scalar_get((const char *)desc->rest_positions + vertex * stride, desc->scalar, axis);
}

static void place_points(sbs_patches *patches, const sbs_skin_desc *desc) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, reach = 0.0;
  for (size_t v = 0; v < desc->vertex_count; v++) {
    for (size_t axis = 0; axis < 3; axis++) { /* in this order, or gcc 12 fails for arm64 */
      low[axis] = fmin(low[axis], coordinate(desc, v, axis));
      high[axis] = fmax(high[axis], coordinate(desc, v, axis));
    }
  }
  for (size_t axis = 0; axis < 3; axis++) {
    patches->middle[axis] = 0.5 * low[axis] + 0.5 * high[axis];
    reach = fmax(reach, fmax(fabs(low[axis] - patches->middle[axis]), fabs(high[axis] - patches->middle[axis])));
  }
  int exponent = 0;
  if (reach > 0.0) frexp(reach, &exponent);
  patches->scale = ldexp(1.0, exponent < -1000 ? 1000 : -exponent); /* for smaller numbers the power would be infinite
  */
  for (size_t v = 0; v < desc->vertex_count; v++) {
    for (size_t axis = 0; axis < 3; axis++) {
      patches->points[v][axis] = patches->scale * (coordinate(desc, v, axis) - patches->middle[axis]);
    }
  }
}

double sbs_patch_area(const sbs_patches *patches, size_t triangle) {
  const int32_t *corners = patches->triangles + 3 * triangle;
  const sbs_vec3 a = sbs_vec3_read(patches->points[corners[0]]), b = sbs_vec3_read(patches->points[corners[1]]);
  const sbs_vec3 c = sbs_vec3_read(patches->points[corners[2]]);
  const sbs_vec3 normal = sbs_vec3_cross(sbs_vec3_subtract(b, a), sbs_vec3_subtract(c, a));
  return 0.5 * sqrt(sbs_vec3_dot(normal, normal));
}

/* --------------------------------------------------------------------------------------------------- influences -- */

/* |w_a - w_b|^2, from two ascending lists. */
static double squared_difference(const sbs_rows *rows, size_t a, size_t b) {
  size_t i = rows->offsets[a], j = rows->offsets[b];
  const size_t i_end = rows->offsets[a + 1], j_end = rows->offsets[b + 1];
  double sum = 0.0;
  while (i < i_end || j < j_end) {
    const int take_a = j == j_end || (i < i_end && rows->joints[i] <= rows->joints[j]);
    const int take_b = i == i_end || (j < j_end && rows->joints[j] <= rows->joints[i]);
    const double difference = (take_a ? rows->weights[i] : 0.0) - (take_b ? rows->weights[j] : 0.0);
    sum += difference * difference;
    i += (size_t)take_a;
    j += (size_t)take_b;
  }
  return sum;
}

static uint16_t choose_split(const sbs_patches *patches, const sbs_rows *rows, size_t triangle, double refinement) {
  const int32_t *corners = patches->triangles + 3 * triangle;
  double largest = 0.0;
  if (!(sbs_patch_area(patches, triangle) > 0.0)) return 0;
  for (size_t i = 0; i < 3; i++) {
    largest = fmax(largest, squared_difference(rows, (size_t)corners[i], (size_t)corners[(i + 1) % 3]));
  }
  const double parts = ceil(sqrt(largest) / refinement); /* the vectors are at most sqrt(2) apart */
  return parts > 1.0 ? (uint16_t)parts : 1;
}

/* The joints that influence a corner, ascending; returns how many. */
static size_t unite(const sbs_rows *rows, const int32_t corners[3], int32_t *joints) {
  size_t count = 0;
  for (size_t c = 0; c < 3; c++) {
    for (size_t i = rows->offsets[corners[c]]; i < rows->offsets[corners[c] + 1]; i++) {
      const int32_t joint = rows->joints[i];
      size_t at = count;
      while (at > 0 && joints[at - 1] > joint) at--;
      if (at > 0 && joints[at - 1] == joint) continue;
      memmove(joints + at + 1, joints + at, (count - at) * sizeof *joints);
      joints[at] = joint;
      count++;
    }
  }
  return count;
}

/* Visits the pairs of a triangle: counts them (`owners` NULL), or appends the triangle to the list of each. */
static void visit_pairs(sbs_patches *patches, const sbs_pairs *pairs, const sbs_rows *rows, size_t triangle,
                        int32_t *joints, int32_t *owners) {
  const size_t count = unite(rows, patches->triangles + 3 * triangle, joints);
  for (size_t a = 0; a < count; a++) {
    for (size_t b = a + 1; b < count; b++) {
      const int32_t pair = sbs_pairs_find(pairs, joints[a], joints[b]);
      if (pair < 0) continue;
      const size_t at = patches->offsets[pair + 1]++;
      if (owners) owners[at] = (int32_t)triangle;
    }
  }
}

static sbs_status visit_triangles(sbs_patches *patches, const sbs_pairs *pairs, const sbs_rows *rows, int32_t *joints,
                                  int32_t *owners) {
  for (size_t t = 0; t < patches->triangle_count; t++) {
    const sbs_status status = t % 64 ? SBS_OK : sbs_tell((double)t / (double)patches->triangle_count);
    if (status) return status;
    if (patches->splits[t]) visit_pairs(patches, pairs, rows, t, joints, owners);
  }
  return SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- new -- */

/* Makes the lists by a counting sort, so that triangles are ascending in each. */
static sbs_status list_owners(sbs_patches *patches, const sbs_pairs *pairs, const sbs_rows *rows, sbs_arena *arena) {
  int32_t *joints = sbs_arena_take(arena, 3 * rows->largest, sizeof *joints);
  if (!joints) return SBS_ERROR_OUT_OF_MEMORY;
  memset(patches->offsets, 0, (pairs->table.count + 1) * sizeof *patches->offsets);
  const sbs_status status = visit_triangles(patches, pairs, rows, joints, NULL);
  /* entry i + 1 has the count of pair i. Turn it into where its list begins; filling the list moves it to the end */
  size_t total = 0;
  for (size_t i = 1; i <= pairs->table.count; i++) {
    const size_t count = patches->offsets[i];
    patches->offsets[i] = total;
    total += count;
  }
  if (status) return status;
  patches->owners = sbs_arena_take(arena, total, sizeof *patches->owners);
  return patches->owners ? visit_triangles(patches, pairs, rows, joints, patches->owners) : SBS_ERROR_OUT_OF_MEMORY;
}

sbs_status sbs_patches_new(sbs_patches *patches, const sbs_skin_desc *desc, const sbs_rows *rows,
                           const sbs_pairs *pairs, size_t triangle_count, const int32_t *triangles, double refinement,
                           sbs_arena *arena) {
  *patches = (sbs_patches){.triangle_count = triangle_count,
                           .triangles = sbs_arena_take(arena, triangle_count, 3 * sizeof *triangles),
                           .points = sbs_arena_take(arena, desc->vertex_count, sizeof *patches->points),
                           .splits = sbs_arena_take(arena, triangle_count, sizeof *patches->splits),
                           .offsets = sbs_arena_take(arena, pairs->table.count + 1, sizeof *patches->offsets)};
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  memcpy(patches->triangles, triangles, 3 * triangle_count * sizeof *triangles);
  place_points(patches, desc);
  for (size_t t = 0; t < triangle_count; t++) {
    const sbs_status status = sbs_tell_some(t, triangle_count);
    if (status) return status;
    patches->splits[t] = choose_split(patches, rows, t, refinement);
  }
  return list_owners(patches, pairs, rows, arena);
}
