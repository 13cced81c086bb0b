/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "weights/average.h"

sbs_influences_smooth_options sbs_default_influences_smooth_options(void) {
  return (sbs_influences_smooth_options){
      .iterations = 1, .strength = 0.5, .normalize = 1, .allocator = sbs_default_allocator()};
}

/* Rows of any length, one after the other; grown by doubling. */
typedef struct row_list {
  size_t *offsets; /* (V + 1) */
  int32_t *joints;
  double *weights;
  size_t capacity;
} row_list;

typedef struct smoother {
  const sbs_influences_table *table;
  const sbs_influences_smooth_options *options;
  sbs_allocator allocator;
  sbs_arena arena;          /* of all arrays but the joints and weights of lists, which grow */
  int32_t *representatives; /* (V) */
  double *strengths;        /* (V) of representatives; 0: not smoothed */
  size_t *offsets;          /* (V + 1) */
  int32_t *neighbors;
  sbs_average average;
  sbs_row row;         /* room for as many influences as joints or columns */
  row_list rows, next; /* of representatives; other vertices have none */
  int changed;         /* whether the last iteration has changed a bit */
} smoother;

static sbs_status grow(const sbs_allocator *allocator, row_list *list, size_t used, size_t needed) {
  if (needed <= list->capacity) return SBS_OK;
  const size_t capacity = 2 * needed;
  int32_t *joints = sbs_allocate(allocator, capacity, sizeof *joints);
  double *weights = sbs_allocate(allocator, capacity, sizeof *weights);
  if (!joints || !weights) {
    sbs_release(allocator, joints);
    sbs_release(allocator, weights);
    return SBS_ERROR_OUT_OF_MEMORY;
  }
  if (used) {
    memcpy(joints, list->joints, used * sizeof *joints);
    memcpy(weights, list->weights, used * sizeof *weights);
  }
  sbs_release(allocator, list->joints);
  sbs_release(allocator, list->weights);
  list->joints = joints;
  list->weights = weights;
  list->capacity = capacity;
  return SBS_OK;
}

static sbs_row see_row(const row_list *list, size_t vertex) {
  const size_t begin = list->offsets[vertex];
  return (sbs_row){list->joints + begin, list->weights + begin, list->offsets[vertex + 1] - begin};
}

static sbs_status append(const sbs_allocator *allocator, row_list *list, size_t vertex, const sbs_row *row) {
  const size_t begin = list->offsets[vertex];
  sbs_status status = grow(allocator, list, begin, begin + row->count);
  if (status) return status;
  list->offsets[vertex + 1] = begin + row->count;
  sbs_row appended = see_row(list, vertex);
  sbs_row_copy(row, &appended);
  return SBS_OK;
}

static sbs_status read_rows(smoother *work) {
  /* Allocate at least something, because offsets are added to the address even if no vertex has influences. */
  sbs_status status = grow(&work->allocator, &work->rows, 0, work->table->vertex_count);
  if (!status) status = grow(&work->allocator, &work->next, 0, work->table->vertex_count);
  work->rows.offsets[0] = work->next.offsets[0] = 0;
  for (size_t v = 0; v < work->table->vertex_count && !status; v++) {
    if ((status = sbs_tell_some(v, work->table->vertex_count))) break;
    work->row.count = 0;
    if (work->representatives[v] == (int32_t)v) sbs_row_read(work->table, v, &work->row);
    status = append(&work->allocator, &work->rows, v, &work->row);
  }
  return status;
}

static void smooth_row(smoother *work, size_t vertex) {
  const sbs_row before = see_row(&work->rows, vertex);
  sbs_average_begin(&work->average, &before);
  for (size_t i = work->offsets[vertex]; i < work->offsets[vertex + 1]; i++) {
    const sbs_row beside = see_row(&work->rows, (size_t)work->neighbors[i]);
    sbs_average_add(&work->average, &beside);
  }
  sbs_average_end(&work->average, work->strengths[vertex], work->options->locked, &work->row);
}

static sbs_status iterate(smoother *work) {
  work->changed = 0;
  for (size_t v = 0; v < work->table->vertex_count; v++) {
    const sbs_row before = see_row(&work->rows, v);
    sbs_status status = v % 64 ? SBS_OK : sbs_tell((double)v / (double)work->table->vertex_count);
    if (status) return status;
    if (work->strengths[v] > 0.0) {
      smooth_row(work, v);
      work->changed |= sbs_row_differs(&work->row, &before);
      status = append(&work->allocator, &work->next, v, &work->row);
    } else {
      status = append(&work->allocator, &work->next, v, &before);
    }
    if (status) return status;
  }
  const row_list swapped = work->rows;
  work->rows = work->next;
  work->next = swapped;
  return SBS_OK;
}

/* Gives each representative the largest strength of the vertices at its point. */
static void spread_strengths(smoother *work) {
  const double *mask = work->options->mask;
  memset(work->strengths, 0, work->table->vertex_count * sizeof *work->strengths);
  for (size_t v = 0; v < work->table->vertex_count; v++) {
    double *strength = work->strengths + work->representatives[v];
    *strength = fmax(*strength, work->options->strength * (mask ? mask[v] : 1.0));
  }
}

/* Makes the final row of a vertex. */
static void finish_row(smoother *work, size_t vertex, size_t width) {
  const size_t first = (size_t)work->representatives[vertex];
  const int smoothed = work->strengths[first] > 0.0 && work->options->iterations;
  if (smoothed) {
    const sbs_row found = see_row(&work->rows, first);
    sbs_row_copy(&found, &work->row);
    sbs_row_round(&work->row, work->table->scalar);
  } else {
    sbs_row_read(work->table, vertex, &work->row);
  }
  const int dropped = work->row.count > width;
  sbs_row_limit(&work->row, width, work->options->locked);
  if (work->options->normalize && (smoothed || dropped)) {
    sbs_row_normalize(&work->row, work->options->locked, work->table->scalar);
  }
}

static sbs_status check_options(const sbs_influences_smooth_options *options, size_t vertex_count, sbs_fault *fault) {
  if (!(options->strength >= 0.0 && options->strength <= 1.0)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "strength", options->strength, 1.0);
  }
  for (size_t v = 0; options->mask && v < vertex_count; v++) {
    if (!(options->mask[v] >= 0.0 && options->mask[v] <= 1.0)) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "mask", v, options->mask[v], 1.0);
    }
  }
  return SBS_OK;
}

static sbs_status allocate(smoother *work, size_t triangle_count) {
  const size_t count = work->table->vertex_count, columns = work->table->influences_per_vertex;
  const size_t joints = work->table->joint_count;
  sbs_arena *arena = &work->arena;
  *arena = sbs_arena_from(&work->allocator);
  work->representatives = sbs_arena_take(arena, count, sizeof *work->representatives);
  work->strengths = sbs_arena_take(arena, count, sizeof *work->strengths);
  work->offsets = sbs_arena_take(arena, count + 1, sizeof *work->offsets);
  work->neighbors = sbs_arena_take(arena, triangle_count, 6 * sizeof *work->neighbors);
  work->rows.offsets = sbs_arena_take(arena, count + 1, sizeof *work->rows.offsets);
  work->next.offsets = sbs_arena_take(arena, count + 1, sizeof *work->next.offsets);
  work->row = sbs_row_new(arena, joints > columns ? joints : columns);
  return sbs_average_init(&work->average, joints, arena);
}

static void release(smoother *work) {
  const sbs_allocator *allocator = &work->allocator;
  sbs_release(allocator, work->rows.joints);
  sbs_release(allocator, work->rows.weights);
  sbs_release(allocator, work->next.joints);
  sbs_release(allocator, work->next.weights);
  sbs_arena_release(&work->arena);
}

static sbs_status smooth(smoother *work, const sbs_mesh_desc *mesh, size_t width, int32_t *joint_indices,
                         void *joint_weights, sbs_fault *fault) {
  sbs_status status = allocate(work, mesh->triangle_count);
  if (status) return sbs_fault_in(fault, status, NULL);
  status = sbs_influences_validate_limit(work->table, work->options->locked, width, &work->row, fault);
  if (!status) status = sbs_mesh_weld(mesh, &work->allocator, work->representatives, fault);
  if (!status) {
    status = sbs_mesh_adjacency(mesh, work->representatives, &work->allocator, work->offsets, work->neighbors, fault);
  }
  if (status) return status;

  spread_strengths(work);
  status = read_rows(work);
  work->changed = 1;
  for (size_t i = 0; i < work->options->iterations && work->changed && !status; i++) status = iterate(work);
  if (status) return sbs_fault_in(fault, status, NULL);
  for (size_t v = 0; v < work->table->vertex_count; v++) {
    finish_row(work, v, width);
    sbs_row_write(&work->row, width, work->table->scalar, v, joint_indices, joint_weights);
  }
  return SBS_OK;
}

sbs_status sbs_influences_smooth(const sbs_influences_table *table, const sbs_mesh_desc *mesh,
                                 const sbs_influences_smooth_options *options, size_t limit, int32_t *joint_indices,
                                 void *joint_weights, sbs_fault *fault) {
  const sbs_influences_smooth_options defaults = sbs_default_influences_smooth_options();
  smoother work = {.table = table, .options = options ? options : &defaults};
  sbs_status status = sbs_influences_validate_over_surface(table, mesh, limit, joint_indices, joint_weights, fault);
  if (!status) status = sbs_choose_allocator(&work.options->allocator, &work.allocator, fault);
  if (!status) status = check_options(work.options, table->vertex_count, fault);
  if (!status) status = sbs_influences_validate_joints(table, fault);
  if (status) return status;
  status = smooth(&work, mesh, limit, joint_indices, joint_weights, fault);
  release(&work);
  return status;
}
