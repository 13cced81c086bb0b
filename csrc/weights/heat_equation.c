/* SPDX-License-Identifier: MIT */
#include "weights/heat_equation.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "weights/cholesky.h"
#include "weights/laplacian.h"

/* Distances count as at least this share of the mesh's size, so that heat stays finite. */
#define LEAST_DISTANCE 1e-4

typedef struct equation {
  const sbs_heat_surface *surface;
  const sbs_heat_sources *sources;
  const sbs_heat_joins *joins;
  double strength;
  sbs_laplacian laplacian;
  double *diagonal; /* (W) */
  double *values;   /* (W, B) */
} equation;

/* H, times the area of the vertex. */
static double vertex_heat(const equation *of, int32_t vertex, double distance) {
  const double far = fmax(distance, LEAST_DISTANCE);
  return of->strength * of->surface->masses[vertex] / (far * far);
}

/* The diagonal of -L + H, and the part of H p that comes from bones. */
static void assemble(const equation *of) {
  const size_t bones = of->sources->bone_count;
  for (size_t v = 0; v < of->surface->vertex_count; v++) {
    of->diagonal[v] = 0.0;
    for (size_t e = of->laplacian.offsets[v]; e < of->laplacian.offsets[v + 1]; e++) {
      of->diagonal[v] += of->laplacian.weights[e];
    }
  }
  memset(of->values, 0, of->surface->vertex_count * bones * sizeof *of->values);
  /* Vertices that are joined to other islands take heat only from there. */
  for (size_t i = of->joins->depth_starts[1]; i < of->surface->vertex_count; i++) {
    of->diagonal[of->joins->vertices[i]] += vertex_heat(of, of->joins->vertices[i], of->joins->distances[i]);
  }
}

/* Adds the heat of bones. Sources and the vertices of depth 0 are both in the order of the vertices. */
static void add_sources(const equation *of) {
  const size_t bones = of->sources->bone_count, last = of->joins->depth_starts[1];
  size_t place = 0;
  for (size_t i = 0; i < of->sources->count; i++) {
    const sbs_heat_source *source = of->sources->sources + i;
    while (place < last && of->joins->vertices[place] < source->vertex) place++;
    if (place == last) break;
    if (of->joins->vertices[place] != source->vertex) continue;
    const double heat = vertex_heat(of, source->vertex, source->distance);
    of->diagonal[source->vertex] += heat;
    of->values[(size_t)source->vertex * bones + (size_t)source->bone] += heat;
  }
}

/* H p of the vertices of a depth, from the islands that they are joined to, which are solved already. */
static void add_inflow(const equation *of, size_t depth) {
  const size_t bones = of->sources->bone_count;
  for (size_t i = of->joins->depth_starts[depth]; i < of->joins->depth_starts[depth + 1]; i++) {
    const int32_t vertex = of->joins->vertices[i];
    const int32_t *corners = of->surface->triangles + 3 * (size_t)of->joins->triangles[i];
    const double heat = vertex_heat(of, vertex, of->joins->distances[i]);
    double *row = of->values + (size_t)vertex * bones;
    for (size_t corner = 0; corner < 3; corner++) {
      const double *from = of->values + (size_t)corners[corner] * bones;
      for (size_t b = 0; b < bones; b++) row[b] += heat * of->joins->shares[i][corner] * from[b];
    }
  }
}

static int all_finite(const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) return 0;
  }
  return 1;
}

static sbs_status solve_depth(const equation *of, size_t depth, const sbs_heat_progress *progress,
                              const sbs_allocator *allocator) {
  const sbs_heat_surface *surface = of->surface;
  const size_t first = of->joins->depth_starts[depth], last = of->joins->depth_starts[depth + 1];
  const double range = (progress->end - progress->begin) / (double)surface->vertex_count;
  sbs_heat_progress part = *progress;
  part.begin = progress->begin + range * (double)first;
  part.end = progress->begin + range * (double)last;
  const sbs_sparse_matrix matrix = {
      .size = surface->vertex_count,
      .graph = {of->laplacian.offsets, of->laplacian.neighbors, surface->positions},
      .weights = of->laplacian.weights,
      .diagonal = of->diagonal,
  };
  return sbs_cholesky_solve(&matrix, of->joins->vertices + first, last - first, of->sources->bone_count, of->values,
                            &part, allocator);
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
  equation of = {.surface = surface, .sources = sources, .joins = joins, .strength = strength, .values = temperatures};
  of.diagonal = sbs_allocate(allocator, count, sizeof *of.diagonal);
  sbs_status status = of.diagonal ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = sbs_laplacian_init(&of.laplacian, &mesh, allocator);
  if (!status) {
    assemble(&of);
    add_sources(&of);
    if (!all_finite(of.diagonal, count)) status = SBS_ERROR_NO_CONVERGENCE;
  }
  for (size_t depth = 0; !status && depth < joins->depth_count; depth++) {
    if (depth) add_inflow(&of, depth);
    status = solve_depth(&of, depth, progress, allocator);
  }
  if (!status && !all_finite(temperatures, count * bones)) status = SBS_ERROR_NO_CONVERGENCE;
  for (size_t v = 0; !status && v < count; v++) {
    if (!normalize(temperatures + v * bones, bones)) status = SBS_ERROR_NO_CONVERGENCE;
  }
  sbs_laplacian_free(&of.laplacian, allocator);
  sbs_release(allocator, of.diagonal);
  return status;
}
