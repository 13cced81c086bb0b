/* SPDX-License-Identifier: MIT */
#include "weights/laplacian.h"

#include <math.h>

#include "base/algebra.h"
#include "base/memory.h"
#include "mesh/neighbors.h"

/* The cotangent of 0.6 degrees. Smaller angles count as that, so that slivers do not tie their corners together. */
#define LARGEST_COTANGENT 100.0

/*
 * The least weight of an edge. With obtuse angles the sum of cotangents can be negative, which would make negative
 * skinning weights; and with zero an island could fall apart.
 */
#define LEAST_WEIGHT 1e-3

static double find_cotangent(const double *positions, int32_t apex, int32_t first, int32_t second) {
  const sbs_vec3 at = sbs_vec3_read(positions + 3 * (size_t)apex);
  const sbs_vec3 a = sbs_vec3_subtract(sbs_vec3_read(positions + 3 * (size_t)first), at);
  const sbs_vec3 b = sbs_vec3_subtract(sbs_vec3_read(positions + 3 * (size_t)second), at);
  const sbs_vec3 normal = sbs_vec3_cross(a, b);
  const double across = sqrt(sbs_vec3_dot(normal, normal)), limit = LARGEST_COTANGENT * across;
  return across > 0.0 ? fmin(fmax(sbs_vec3_dot(a, b), -limit), limit) / across : 0.0;
}

sbs_status sbs_laplacian_init(sbs_laplacian *laplacian, const sbs_mesh_desc *mesh, const sbs_allocator *allocator) {
  const size_t count = mesh->vertex_count;
  *laplacian = (sbs_laplacian){.vertex_count = count, .positions = mesh->positions};
  laplacian->offsets = sbs_allocate(allocator, count + 1, sizeof *laplacian->offsets);
  laplacian->neighbors = sbs_allocate(allocator, mesh->triangle_count, 6 * sizeof *laplacian->neighbors);
  if (!laplacian->offsets || !laplacian->neighbors) return SBS_ERROR_OUT_OF_MEMORY;
  const sbs_status status = sbs_mesh_adjacency(mesh, NULL, allocator, laplacian->offsets, laplacian->neighbors, NULL);
  if (status) return status;
  laplacian->weights = sbs_allocate(allocator, laplacian->offsets[count], sizeof *laplacian->weights);
  if (!laplacian->weights) return SBS_ERROR_OUT_OF_MEMORY;

  for (size_t i = 0; i < laplacian->offsets[count]; i++) laplacian->weights[i] = 0.0;
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    for (size_t corner = 0; corner < 3; corner++) {
      const int32_t apex = mesh->triangles[3 * t + corner];
      const int32_t a = mesh->triangles[3 * t + (corner + 1) % 3], b = mesh->triangles[3 * t + (corner + 2) % 3];
      if (a == b) continue;
      const double half = find_cotangent(mesh->positions, apex, a, b) / 2.0;
      laplacian->weights[sbs_find_neighbor(laplacian->offsets, laplacian->neighbors, a, b)] += half;
      laplacian->weights[sbs_find_neighbor(laplacian->offsets, laplacian->neighbors, b, a)] += half;
    }
  }
  for (size_t i = 0; i < laplacian->offsets[count]; i++) {
    laplacian->weights[i] = fmax(laplacian->weights[i], LEAST_WEIGHT);
  }
  return SBS_OK;
}

void sbs_laplacian_free(sbs_laplacian *laplacian, const sbs_allocator *allocator) {
  sbs_release(allocator, laplacian->offsets);
  sbs_release(allocator, laplacian->neighbors);
  sbs_release(allocator, laplacian->weights);
}
