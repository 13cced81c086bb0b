/* SPDX-License-Identifier: MIT */
#include "weights/heat_equation.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "weights/laplacian.h"

/* Distances count as at least this share of the mesh's size, so that heat stays finite. */
#define LEAST_DISTANCE 1e-4

typedef struct equations {
  const sbs_heat_surface *surface;
  const sbs_heat_sources *sources;
  const sbs_heat_joins *joins;
  double strength;
  sbs_laplacian laplacian; /* L */
  double *holds;           /* (W) H, times the area of each vertex */
  double *values;          /* (W, B) H p, then the temperatures */
} equations;

/* c / d^2, times the area of the vertex. */
static double find_heat(const equations *system, int32_t vertex, double distance) {
  const double far = fmax(distance, LEAST_DISTANCE);
  return system->strength * system->surface->masses[vertex] / (far * far);
}

/*
 * Assembles H of -L + H, and H p of the vertices that bones heat. Vertices of joined islands take heat only from other
 * islands. Sources and the vertices of depth 0 are both in the order of the vertices.
 */
static void assemble(const equations *system) {
  const sbs_heat_joins *joins = system->joins;
  const size_t count = system->surface->vertex_count, bones = system->sources->bone_count;
  const size_t heated = joins->depth_starts[1];
  size_t place = 0;
  memset(system->holds, 0, count * sizeof *system->holds);
  memset(system->values, 0, count * bones * sizeof *system->values);
  for (size_t i = heated; i < count; i++) {
    system->holds[joins->vertices[i]] = find_heat(system, joins->vertices[i], joins->distances[i]);
  }
  for (size_t i = 0; i < system->sources->count; i++) {
    const sbs_heat_source *source = system->sources->sources + i;
    while (place < heated && joins->vertices[place] < source->vertex) place++;
    if (place == heated) break;
    if (joins->vertices[place] != source->vertex) continue;
    const double heat = find_heat(system, source->vertex, source->distance);
    system->holds[source->vertex] += heat;
    system->values[(size_t)source->vertex * bones + (size_t)source->bone] += heat;
  }
}

/* Adds H p of the vertices of a depth: the heat of the islands that they are joined to, which are solved already. */
static void add_inflow(const equations *system, size_t depth) {
  const sbs_heat_joins *joins = system->joins;
  const size_t bones = system->sources->bone_count;
  for (size_t i = joins->depth_starts[depth]; i < joins->depth_starts[depth + 1]; i++) {
    const size_t vertex = (size_t)joins->vertices[i];
    const int32_t *corners = system->surface->triangles + 3 * (size_t)joins->triangles[i];
    double *row = system->values + vertex * bones;
    for (size_t corner = 0; corner < 3; corner++) {
      const double *from = system->values + (size_t)corners[corner] * bones;
      for (size_t b = 0; b < bones; b++) row[b] += system->holds[vertex] * joins->shares[i][corner] * from[b];
    }
  }
}

static sbs_status solve_depth(const equations *system, size_t depth, const sbs_heat_progress *progress,
                              const sbs_allocator *allocator) {
  const size_t first = system->joins->depth_starts[depth], last = system->joins->depth_starts[depth + 1];
  const double range = (progress->end - progress->begin) / (double)system->surface->vertex_count;
  sbs_heat_progress part = *progress;
  part.begin = progress->begin + range * (double)first;
  part.end = progress->begin + range * (double)last;
  return sbs_laplacian_solve(&system->laplacian, system->holds, system->joins->vertices + first, last - first,
                             system->sources->bone_count, system->values, &part, allocator);
}

/* Makes the temperatures of a vertex positive, with a sum of 1; returns 0 if that is impossible. */
static int normalize(double *row, size_t count) {
  double sum = 0.0, positive = 0.0;
  for (size_t b = 0; b < count; b++) {
    sum += row[b];
    row[b] = fmax(row[b], 0.0);
    positive += row[b];
  }
  for (size_t b = 0; b < count; b++) row[b] /= positive;
  return sum > 0.0 && isfinite(positive);
}

sbs_status sbs_heat_solve(const sbs_heat_surface *surface, const sbs_heat_sources *sources, const sbs_heat_joins *joins,
                          double strength, const sbs_heat_progress *progress, const sbs_allocator *allocator,
                          double *temperatures) {
  const size_t count = surface->vertex_count, bones = sources->bone_count;
  const sbs_mesh_desc mesh = sbs_heat_surface_desc(surface);
  equations system = {
      .surface = surface, .sources = sources, .joins = joins, .strength = strength, .values = temperatures};
  system.holds = sbs_allocate(allocator, count, sizeof *system.holds);
  sbs_status status = system.holds ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = sbs_laplacian_init(&system.laplacian, &mesh, allocator);
  if (!status) assemble(&system);
  for (size_t depth = 0; !status && depth < joins->depth_count; depth++) {
    if (depth) add_inflow(&system, depth);
    status = solve_depth(&system, depth, progress, allocator);
  }
  for (size_t v = 0; !status && v < count; v++) {
    if (!normalize(temperatures + v * bones, bones)) status = SBS_ERROR_NO_CONVERGENCE;
  }
  sbs_laplacian_free(&system.laplacian, allocator);
  sbs_release(allocator, system.holds);
  return status;
}
