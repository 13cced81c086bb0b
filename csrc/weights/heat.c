/* SPDX-License-Identifier: MIT */
#include "sbs/heat.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "weights/heat_equation.h"
#include "weights/heat_islands.h"
#include "weights/row.h"

sbs_heat_options sbs_default_heat_options(void) {
  return (sbs_heat_options){.strength = 4.0, .prune = 1e-3, .allocator = sbs_default_allocator()};
}

/* How far the whole is after each part of the work, roughly. */
static const double seen = 0.3, joined = 0.4, solved = 0.95;

/* -------------------------------------------------------------------------------------------------------- checks -- */

static sbs_status check_bones(const sbs_heat_bones *bones, sbs_fault *fault) {
  if (!bones->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "heads");
  if (bones->joint_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)bones->joint_count, INT32_MAX);
  }
  if (!bones->heads) return sbs_fault_in(fault, SBS_ERROR_NULL, "heads");
  if (!bones->tails) return sbs_fault_in(fault, SBS_ERROR_NULL, "tails");
  sbs_status status = sbs_validate_vectors(bones->heads, 0, SBS_FLOAT64, bones->joint_count, "heads", "heads", fault);
  if (!status) {
    status = sbs_validate_vectors(bones->tails, 0, SBS_FLOAT64, bones->joint_count, "tails", "tails", fault);
  }
  if (status || !bones->enabled) return status;
  for (size_t j = 0; j < bones->joint_count; j++) {
    if (bones->enabled[j]) return SBS_OK;
  }
  return sbs_fault_in(fault, SBS_ERROR_EMPTY, "enabled");
}

/* NaN fails too. */
static sbs_status check_options(const sbs_heat_options *options, sbs_fault *fault) {
  const double strength = options->strength, prune = options->prune;
  if (!(strength > 0.0 && isfinite(strength))) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "strength", strength, 0.0);
  }
  if (!(prune >= 0.0 && prune <= 1.0)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "prune", prune, 1.0);
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------ the work -- */

typedef struct heat_job {
  const sbs_heat_options *options;
  const sbs_allocator *allocator;
  sbs_heat_surface surface;
  sbs_surface *tree; /* NULL if there are no triangles */
  sbs_heat_sources sources;
  signed char *reasons; /* (I) see sbs_heat_sort_islands */
  sbs_heat_joins joins;
  double *temperatures; /* (W, B) */
  sbs_row row;
  sbs_arena arena; /* of the reasons, the temperatures and the scratch of the results */
} heat_job;

static sbs_heat_progress make_progress(const heat_job *job, double begin, double end) {
  return (sbs_heat_progress){job->options->progress, job->options->progress_user, begin, end};
}

static sbs_status find_sources(heat_job *job, const sbs_heat_bones *bones, sbs_heat_trouble *trouble) {
  const sbs_heat_surface *surface = &job->surface;
  const sbs_heat_progress progress = make_progress(job, 0.0, seen);
  sbs_status status = sbs_heat_tell(&progress, 0.0);
  if (!status && surface->triangle_count) {
    const sbs_mesh_desc mesh = sbs_heat_surface_desc(surface);
    status = sbs_surface_new(&mesh, job->allocator, &job->tree, NULL);
  }
  if (!status) {
    status = sbs_heat_sources_init(&job->sources, surface, job->tree, bones, job->options->threads, &progress,
                                   job->allocator);
  }
  if (status) return status;
  job->reasons = sbs_arena_take(&job->arena, surface->island_count, sizeof *job->reasons);
  if (!job->reasons) return SBS_ERROR_OUT_OF_MEMORY;
  return sbs_heat_sort_islands(surface, job->sources.seen, job->allocator, job->reasons, trouble);
}

static sbs_status solve(heat_job *job, sbs_heat_trouble *trouble) {
  const sbs_heat_surface *surface = &job->surface;
  const sbs_heat_progress joining = make_progress(job, seen, joined), solving = make_progress(job, joined, solved);
  sbs_status status = sbs_heat_joins_init(&job->joins, surface, job->tree, job->reasons, job->options->threads,
                                          &joining, job->allocator);
  if (status) return status;
  const size_t row = job->sources.bone_count * sizeof *job->temperatures;
  job->temperatures = sbs_arena_take(&job->arena, surface->vertex_count, row);
  if (!job->temperatures) return SBS_ERROR_OUT_OF_MEMORY;
  status = sbs_heat_solve(surface, &job->sources, &job->joins, job->options->strength, &solving, job->allocator,
                          job->temperatures);
  if (status != SBS_ERROR_NO_CONVERGENCE) return status;
  *trouble = SBS_HEAT_NO_SOLUTION;
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------- results -- */

static sbs_heat_report describe(const heat_job *job, const sbs_mesh_desc *mesh, sbs_heat_trouble trouble) {
  const sbs_heat_surface *surface = &job->surface;
  sbs_heat_report report = {
      .trouble = trouble,
      .island_count = surface->island_count,
      .welded = mesh->vertex_count - surface->vertex_count,
  };
  for (size_t i = 0; !trouble && i < surface->island_count; i++) report.join_count += job->reasons[i] >= 0;
  for (size_t t = 0; t < surface->triangle_count; t++) report.degenerate_triangles += !(surface->areas[t] > 0.0);
  for (size_t v = 0; v < surface->vertex_count; v++) report.blind_vertices += !job->sources.seen[v];
  return report;
}

/* A vertex that is joined to another island. */
typedef struct joined_vertex {
  int32_t island, neighbor;
} joined_vertex;

static int compare_joined(const void *left, const void *right) {
  const joined_vertex *a = left, *b = right;
  if (a->island != b->island) return a->island < b->island ? -1 : 1;
  return (a->neighbor > b->neighbor) - (a->neighbor < b->neighbor);
}

/* Lists the islands that are joined to others, in their order. */
static sbs_status list_joins(heat_job *job, size_t mesh_vertex_count, sbs_heat_join *listed) {
  const sbs_heat_surface *surface = &job->surface;
  const sbs_heat_joins *joins = &job->joins;
  const size_t first = joins->depth_starts[1], count = surface->vertex_count - first;
  int32_t *number = sbs_arena_take(&job->arena, surface->island_count, sizeof *number); /* in the list */
  joined_vertex *all = sbs_arena_take(&job->arena, count, sizeof *all);
  if (job->arena.failed) return SBS_ERROR_OUT_OF_MEMORY;
  int32_t used = 0;
  for (size_t i = 0; i < surface->island_count; i++) {
    number[i] = -1;
    if (job->reasons[i] < 0) continue;
    number[i] = used;
    listed[used++] = (sbs_heat_join){
        .island = (int32_t)i, .neighbor = -1, .distance = INFINITY, .reason = (sbs_heat_reason)job->reasons[i]};
  }
  for (size_t i = 0; i < count; i++) {
    const size_t at = first + i;
    all[i].island = surface->island_of[joins->vertices[at]];
    all[i].neighbor = sbs_heat_island_of_triangle(surface, (size_t)joins->triangles[at]);
    sbs_heat_join *join = listed + number[all[i].island];
    join->distance = fmin(join->distance, joins->distances[at] * surface->size);
  }
  for (size_t v = 0; v < mesh_vertex_count; v++) {
    const int32_t at = number[surface->island_of[surface->vertex_of[v]]];
    if (at >= 0) listed[at].vertex_count++;
  }
  /* Sorted, the vertices of an island that are joined to the same one are adjacent and easy to count. */
  qsort(all, count, sizeof *all, compare_joined);
  size_t begin = 0, most = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].island != all[begin].island) most = 0;
    if (compare_joined(all + i, all + begin) != 0) begin = i;
    if (i - begin + 1 <= most) continue;
    most = i - begin + 1;
    listed[number[all[i].island]].neighbor = all[i].neighbor;
  }
  return SBS_OK;
}

/* Takes the influences of a vertex of the surface that are not pruned: at most `limit`, with a sum of 1. */
static void take_row(heat_job *job, size_t vertex, size_t limit) {
  const size_t bones = job->sources.bone_count;
  const double *temperatures = job->temperatures + vertex * bones;
  sbs_row *row = &job->row;
  double largest = 0.0;
  for (size_t b = 0; b < bones; b++) largest = fmax(largest, temperatures[b]);
  row->count = 0;
  for (size_t b = 0; b < bones; b++) {
    if (!(temperatures[b] > 0.0) || temperatures[b] < job->options->prune * largest) continue;
    row->joints[row->count] = job->sources.joints[b];
    row->weights[row->count++] = temperatures[b];
  }
  sbs_row_sort(row);
  if (row->count > limit) row->count = limit;
  const double sum = sbs_row_sum(row);
  for (size_t i = 0; i < row->count; i++) row->weights[i] /= sum;
}

/* Writes the influences of all vertices of the mesh; returns the most that a vertex has. */
static size_t write_influences(heat_job *job, size_t vertex_count, size_t width, int32_t *joint_indices,
                               double *joint_weights) {
  size_t most = 0;
  for (size_t v = 0; v < vertex_count; v++) {
    take_row(job, (size_t)job->surface.vertex_of[v], width);
    sbs_row_write(&job->row, width, SBS_FLOAT64, v, joint_indices, joint_weights);
    most = job->row.count > most ? job->row.count : most;
  }
  return most;
}

static sbs_status prepare_results(heat_job *job) {
  const sbs_heat_progress progress = make_progress(job, solved, 1.0);
  job->row = sbs_row_new(&job->arena, job->sources.bone_count);
  if (job->arena.failed) return SBS_ERROR_OUT_OF_MEMORY;
  return sbs_heat_tell(&progress, 1.0);
}

static void release_job(heat_job *job) {
  sbs_heat_surface_free(&job->surface, job->allocator);
  sbs_surface_free(job->tree);
  sbs_heat_sources_free(&job->sources, job->allocator);
  sbs_heat_joins_free(&job->joins);
  sbs_arena_release(&job->arena);
}

sbs_status sbs_heat_weights(const sbs_mesh_desc *mesh, const sbs_heat_bones *bones, const sbs_heat_options *options,
                            size_t influences_per_vertex, int32_t *joint_indices, double *joint_weights,
                            int32_t *island_of_vertex, sbs_heat_join *joins, sbs_heat_report *report,
                            sbs_fault *fault) {
  const sbs_heat_options defaults = sbs_default_heat_options();
  sbs_allocator allocator;
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!bones) return sbs_fault_in(fault, SBS_ERROR_NULL, "bones");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (!report) return sbs_fault_in(fault, SBS_ERROR_NULL, "report");
  if (!influences_per_vertex) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "influences_per_vertex");
  if (!options) options = &defaults;
  sbs_status status = sbs_choose_allocator(&options->allocator, &allocator, fault);
  if (!status) status = check_options(options, fault);
  if (!status) status = check_bones(bones, fault);
  if (status) return status;

  heat_job job = {.options = options, .allocator = &allocator, .arena = sbs_arena_from(&allocator)};
  sbs_heat_trouble trouble = SBS_HEAT_WORKS;
  status = sbs_heat_surface_init(&job.surface, mesh, NULL, &allocator, fault); /* checks the mesh, too */
  if (!status) {
    status = find_sources(&job, bones, &trouble);
    if (!status && !trouble) status = solve(&job, &trouble);
    if (!status) status = prepare_results(&job);
    if (!status && !trouble && joins) status = list_joins(&job, mesh->vertex_count, joins);
    if (status) sbs_fault_in(fault, status, NULL);
  }
  if (!status) {
    *report = describe(&job, mesh, trouble);
    for (size_t v = 0; island_of_vertex && v < mesh->vertex_count; v++) {
      island_of_vertex[v] = job.surface.island_of[job.surface.vertex_of[v]];
    }
    if (!trouble) {
      report->max_influences =
          write_influences(&job, mesh->vertex_count, influences_per_vertex, joint_indices, joint_weights);
    }
  }
  release_job(&job);
  return status;
}
