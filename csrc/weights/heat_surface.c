/* SPDX-License-Identifier: MIT */
#include "weights/heat_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "mesh/positions.h"
#include "mesh/union_find.h"
#include "mesh/validate.h"
#include "sbs/mesh.h"

/* Vertices nearer to each other than this share of the mesh's size count as one, if no triangle joins them. */
#define NEAR 1e-6

/*
 * The largest distance of a bone, in sizes of the mesh. If a bone is farther, only its direction matters.
 */
#define FAR 1e30

/* ------------------------------------------------------------------------------------------------------- welding -- */

typedef struct height {
  double height;
  int32_t vertex;
} height;

static int compare_heights(const void *left, const void *right) {
  const height *a = left, *b = right;
  if (a->height != b->height) return a->height < b->height ? -1 : 1;
  return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static double measure_square(const double *a, const double *b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/*
 * Unites groups of vertices that steps shorter than NEAR connect. Their lowest vertices are sorted along a line
 * that a mesh is unlikely to be aligned with; few are that near to each other along it, and only those are measured.
 */
static sbs_status weld_near(const double *positions, size_t count, int32_t *groups, const sbs_allocator *allocator) {
  static const double line[3] = {0.3141, 0.5926, 0.7418}; /* of at most length 1 */
  size_t distinct = 0;
  height *heights = sbs_allocate(allocator, count, sizeof *heights);
  if (!heights) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t v = 0; v < count; v++) {
    const double *p = positions + 3 * v;
    if (groups[v] != (int32_t)v) continue;
    heights[distinct++] = (height){line[0] * p[0] + line[1] * p[1] + line[2] * p[2], (int32_t)v};
  }
  qsort(heights, distinct, sizeof *heights, compare_heights);
  sbs_status status = SBS_OK;
  for (size_t i = 0; !status && i < distinct; i++) {
    status = sbs_tell_some(i, distinct);
    for (size_t j = i + 1; j < distinct && heights[j].height - heights[i].height < NEAR; j++) {
      const int32_t a = heights[i].vertex, b = heights[j].vertex;
      if (measure_square(positions + 3 * a, positions + 3 * b) < NEAR * NEAR) sbs_groups_unite(groups, a, b);
    }
  }
  for (size_t v = 0; v < count; v++) groups[v] = sbs_groups_find(groups, (int32_t)v);
  sbs_release(allocator, heights);
  return status;
}

/* --------------------------------------------------------------------------------------------------------- scale -- */

static void measure(sbs_heat_surface *surface, const sbs_mesh_desc *mesh) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, half[3];
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    const sbs_vec3 at = sbs_mesh_position(mesh, v);
    const double position[3] = {at.x, at.y, at.z};
    for (size_t axis = 0; axis < 3; axis++) {
      low[axis] = fmin(low[axis], position[axis]);
      high[axis] = fmax(high[axis], position[axis]);
    }
  }
  for (size_t axis = 0; axis < 3; axis++) {
    surface->center[axis] = low[axis] / 2.0 + high[axis] / 2.0;
    half[axis] = high[axis] / 2.0 - low[axis] / 2.0;
  }
  surface->size = 2.0 * hypot(hypot(half[0], half[1]), half[2]);
  if (surface->size == 0.0) surface->size = 1.0;
}

void sbs_heat_surface_scale(const sbs_heat_surface *surface, const double point[3], double scaled[3]) {
  for (size_t axis = 0; axis < 3; axis++) {
    scaled[axis] = fmin(fmax((point[axis] - surface->center[axis]) / surface->size, -FAR), FAR);
  }
}

/* --------------------------------------------------------------------------------------------------------- areas -- */

static double measure_triangle(const double *a, const double *b, const double *c) {
  const sbs_vec3 from = sbs_vec3_read(a);
  const sbs_vec3 normal =
      sbs_vec3_cross(sbs_vec3_subtract(sbs_vec3_read(b), from), sbs_vec3_subtract(sbs_vec3_read(c), from));
  return sqrt(sbs_vec3_dot(normal, normal)) / 2.0;
}

static void measure_areas(sbs_heat_surface *surface) {
  double sum = 0.0;
  for (size_t v = 0; v < surface->vertex_count; v++) surface->masses[v] = 0.0;
  for (size_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corners = surface->triangles + 3 * t;
    const double *at = surface->positions;
    surface->areas[t] = measure_triangle(at + 3 * corners[0], at + 3 * corners[1], at + 3 * corners[2]);
    for (size_t i = 0; i < 3; i++) surface->masses[corners[i]] += surface->areas[t] / 3.0;
  }
  for (size_t v = 0; v < surface->vertex_count; v++) sum += surface->masses[v];
  const double least = 1e-3 * (sum / (double)surface->vertex_count);
  for (size_t v = 0; v < surface->vertex_count; v++) surface->masses[v] = fmax(surface->masses[v], least);
}

/* --------------------------------------------------------------------------------------------------- the surface -- */

sbs_mesh_desc sbs_heat_surface_desc(const sbs_heat_surface *surface) {
  return (sbs_mesh_desc){.vertex_count = surface->vertex_count,
                         .scalar = SBS_FLOAT64,
                         .positions = surface->positions,
                         .triangle_count = surface->triangle_count,
                         .triangles = surface->triangles};
}

/* Keeps the lowest vertex of each group; `vertex_of` then has numbers of these in place of groups. */
static void keep_lowest(sbs_heat_surface *surface, size_t mesh_vertex_count) {
  double *positions = surface->positions;
  size_t count = 0;
  for (size_t v = 0; v < mesh_vertex_count; v++) {
    const size_t lowest = (size_t)surface->vertex_of[v];
    if (lowest < v) {
      surface->vertex_of[v] = surface->vertex_of[lowest];
      continue;
    }
    memmove(positions + 3 * count, positions + 3 * v, 3 * sizeof *positions);
    surface->vertex_of[v] = (int32_t)count++;
  }
  surface->vertex_count = count;
}

sbs_status sbs_heat_surface_init(sbs_heat_surface *surface, const sbs_mesh_desc *mesh, const int32_t *groups,
                                 const sbs_allocator *allocator, sbs_fault *fault) {
  *surface = (sbs_heat_surface){.triangle_count = mesh->triangle_count};
  sbs_status status = sbs_mesh_validate_positions(mesh, fault);
  if (!status) status = sbs_mesh_validate_triangles(mesh, fault);
  if (status) return status;

  const size_t count = mesh->vertex_count, triangle_count = mesh->triangle_count;
  surface->vertex_of = sbs_allocate(allocator, count, sizeof *surface->vertex_of);
  surface->island_of = sbs_allocate(allocator, count, sizeof *surface->island_of);
  surface->positions = sbs_allocate(allocator, count, 3 * sizeof *surface->positions);
  surface->masses = sbs_allocate(allocator, count, sizeof *surface->masses);
  surface->triangles = sbs_allocate(allocator, triangle_count, 3 * sizeof *surface->triangles);
  surface->areas = sbs_allocate(allocator, triangle_count, sizeof *surface->areas);
  if (!surface->vertex_of || !surface->island_of || !surface->positions || !surface->masses || !surface->triangles ||
      !surface->areas) {
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  if (groups) {
    memcpy(surface->vertex_of, groups, count * sizeof *groups);
  } else {
    status = sbs_mesh_weld(mesh, allocator, surface->vertex_of, fault);
    if (status) return status;
  }
  measure(surface, mesh);
  for (size_t v = 0; v < count; v++) {
    const sbs_vec3 at = sbs_mesh_position(mesh, v);
    const double position[3] = {at.x, at.y, at.z};
    sbs_heat_surface_scale(surface, position, surface->positions + 3 * v);
  }
  if (!groups) status = weld_near(surface->positions, count, surface->vertex_of, allocator);
  if (status) return sbs_fault_in(fault, status, NULL);
  keep_lowest(surface, count);
  for (size_t i = 0; i < 3 * triangle_count; i++) surface->triangles[i] = surface->vertex_of[mesh->triangles[i]];
  measure_areas(surface);
  const sbs_mesh_desc welded = sbs_heat_surface_desc(surface);
  return sbs_mesh_islands(&welded, surface->island_of, &surface->island_count, fault);
}

void sbs_heat_surface_free(sbs_heat_surface *surface, const sbs_allocator *allocator) {
  sbs_release(allocator, surface->vertex_of);
  sbs_release(allocator, surface->island_of);
  sbs_release(allocator, surface->positions);
  sbs_release(allocator, surface->masses);
  sbs_release(allocator, surface->triangles);
  sbs_release(allocator, surface->areas);
}
