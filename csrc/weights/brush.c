/* SPDX-License-Identifier: MIT */
#include "weights/brush.h"

#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "mesh/validate.h"

sbs_brush_options sbs_default_brush_options(void) {
  return (sbs_brush_options){.joint = -1,
                             .mode = SBS_BRUSH_ADD,
                             .strength = 1.0,
                             .value = 1.0,
                             .falloff = SBS_BRUSH_FALLOFF_SMOOTH,
                             .distance = SBS_BRUSH_DISTANCE_SPACE,
                             .normalize = 1,
                             .mirror_axis = -1};
}

/* ----------------------------------------------------------------------------------------------------- new and free */

static void release_rows(const sbs_allocator *allocator, sbs_brush_rows *rows) {
  sbs_release(allocator, rows->vertices);
  sbs_release(allocator, rows->joints);
  sbs_release(allocator, rows->weights);
}

void sbs_brush_free(sbs_brush *brush) {
  if (!brush) return;
  const sbs_allocator allocator = brush->allocator;
  sbs_arena_release(&brush->arena);
  sbs_point_index_free(&brush->index, &allocator);
  release_rows(&allocator, &brush->dab);
  release_rows(&allocator, &brush->before);
  release_rows(&allocator, &brush->after);
  sbs_release(&allocator, brush);
}

static sbs_status allocate(sbs_brush *brush, size_t triangle_count) {
  sbs_arena *arena = &brush->arena;
  const size_t count = brush->vertex_count, limit = brush->limit;
  const size_t room = limit + 2 > brush->joint_count ? limit + 2 : brush->joint_count;
  brush->joints = sbs_arena_take(arena, count, limit * sizeof *brush->joints);
  brush->weights = sbs_arena_take(arena, count, limit * sizeof *brush->weights);
  brush->next = sbs_arena_take(arena, count, sizeof *brush->next);
  brush->places = sbs_arena_take(arena, count, sizeof *brush->places);
  brush->offsets = sbs_arena_take(arena, count + 1, sizeof *brush->offsets);
  brush->neighbors = sbs_arena_take(arena, triangle_count, 6 * sizeof *brush->neighbors);
  brush->points = sbs_arena_take(arena, count, sizeof *brush->points);
  brush->reached = sbs_arena_take(arena, count, sizeof *brush->reached);
  brush->distances = sbs_arena_take(arena, count, sizeof *brush->distances);
  brush->heap = sbs_arena_take(arena, count, sizeof *brush->heap);
  brush->heap_at = sbs_arena_take(arena, count, sizeof *brush->heap_at);
  brush->ways = sbs_arena_take(arena, count, sizeof *brush->ways);
  brush->amounts[0] = sbs_arena_take(arena, count, sizeof(double));
  brush->amounts[1] = sbs_arena_take(arena, count, sizeof(double));
  brush->touched = sbs_arena_take(arena, count, sizeof *brush->touched);
  brush->stamps = sbs_arena_take(arena, count, sizeof *brush->stamps);
  brush->row = sbs_row_new(arena, room);
  brush->kinds = sbs_arena_take(arena, room, 1);
  const sbs_status status = sbs_average_init(&brush->average, brush->joint_count, arena);
  if (status) return status;
  memset(brush->heap_at, -1, count * sizeof *brush->heap_at);
  memset(brush->amounts[0], 0, count * sizeof(double));
  memset(brush->amounts[1], 0, count * sizeof(double));
  memset(brush->stamps, 0, count * sizeof *brush->stamps);
  return SBS_OK;
}

static void read_influences(sbs_brush *brush, const sbs_influences_table *table) {
  for (size_t v = 0; v < brush->vertex_count; v++) {
    sbs_row_read(table, v, &brush->row);
    sbs_row_write(&brush->row, brush->limit, SBS_FLOAT64, v, brush->joints, brush->weights);
  }
}

/* Links the vertices at one point to each other; `last` (V) is scratch. */
static void link_copies(sbs_brush *brush, const int32_t *representatives, int32_t *last) {
  for (size_t v = 0; v < brush->vertex_count; v++) {
    const int32_t first = representatives[v];
    brush->next[v] = -1;
    if (first != (int32_t)v) brush->next[last[first]] = (int32_t)v;
    last[first] = (int32_t)v;
  }
}

static sbs_status index_points(sbs_brush *brush, const sbs_mesh_desc *mesh, const int32_t *representatives) {
  const size_t stride = mesh->positions_stride ? mesh->positions_stride : 3 * sbs_scalar_size(mesh->scalar);
  size_t count = 0;
  for (size_t v = 0; v < brush->vertex_count; v++) {
    if (representatives[v] != (int32_t)v) continue;
    sbs_indexed_point *point = brush->points + count++;
    for (size_t axis = 0; axis < 3; axis++) {
      point->position[axis] = sbs_scalar_get((const char *)mesh->positions + v * stride, mesh->scalar, axis);
    }
    point->id = (int32_t)v;
  }
  sbs_status status = sbs_point_index_init(&brush->index, brush->points, count, &brush->allocator);
  if (status) return status;
  for (size_t v = 0; v < brush->vertex_count; v++) brush->places[v] = -1;
  for (size_t i = 0; i < count; i++) brush->places[brush->points[i].id] = (int32_t)i;
  return SBS_OK;
}

static sbs_status build(sbs_brush *brush, const sbs_influences_table *table, const sbs_mesh_desc *mesh,
                        sbs_fault *fault) {
  sbs_status status = allocate(brush, mesh->triangle_count);
  if (status) return sbs_fault_in(fault, status, NULL);
  int32_t *representatives = brush->touched; /* needed only here */
  status = sbs_mesh_weld(mesh, &brush->allocator, representatives, fault);
  if (status) return status;
  read_influences(brush, table);
  link_copies(brush, representatives, brush->reached);
  status = sbs_mesh_adjacency(mesh, representatives, &brush->allocator, brush->offsets, brush->neighbors, fault);
  if (status) return status;
  status = index_points(brush, mesh, representatives);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}

sbs_status sbs_brush_new(const sbs_influences_table *table, const sbs_mesh_desc *mesh, size_t limit,
                         const sbs_allocator *allocator, sbs_brush **brush, sbs_fault *fault) {
  if (!table) return sbs_fault_in(fault, SBS_ERROR_NULL, "table");
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!brush) return sbs_fault_in(fault, SBS_ERROR_NULL, "brush");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = sbs_influences_validate_table(table, fault);
  if (!status && mesh->vertex_count != table->vertex_count) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex_count", (double)mesh->vertex_count,
                              (double)table->vertex_count);
  }
  if (!status && (limit < table->influences_per_vertex || limit > INT32_MAX)) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "limit", (double)limit, (double)table->influences_per_vertex);
  }
  if (!status) status = sbs_mesh_validate_triangles(mesh, fault);
  if (!status) status = sbs_influences_validate_joints(table, fault);
  if (status) return status;

  sbs_brush *made = sbs_allocate(&chosen, 1, sizeof *made);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  *made = (sbs_brush){
      .allocator = chosen, .vertex_count = table->vertex_count, .joint_count = table->joint_count, .limit = limit};
  made->arena = sbs_arena_from(&made->allocator);
  status = build(made, table, mesh, fault);
  if (status) {
    sbs_brush_free(made);
    return status;
  }
  *brush = made;
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------- influences */

sbs_status sbs_brush_get_influences(const sbs_brush *brush, int32_t *joint_indices, double *joint_weights) {
  if (!brush || !joint_indices || !joint_weights) return SBS_ERROR_NULL;
  memcpy(joint_indices, brush->joints, brush->vertex_count * brush->limit * sizeof *joint_indices);
  memcpy(joint_weights, brush->weights, brush->vertex_count * brush->limit * sizeof *joint_weights);
  return SBS_OK;
}

sbs_status sbs_brush_restore(sbs_brush *brush, const int32_t *vertices, const int32_t *joint_indices,
                             const double *joint_weights, size_t vertex_count, sbs_fault *fault) {
  if (!brush) return sbs_fault_in(fault, SBS_ERROR_NULL, "brush");
  if (!vertex_count) return SBS_OK;
  if (!vertices) return sbs_fault_in(fault, SBS_ERROR_NULL, "vertices");
  const sbs_influences_table rows = {.vertex_count = vertex_count,
                                     .joint_count = brush->joint_count,
                                     .influences_per_vertex = brush->limit,
                                     .joint_indices = joint_indices,
                                     .scalar = SBS_FLOAT64,
                                     .joint_weights = joint_weights};
  sbs_status status = sbs_influences_validate_table(&rows, fault);
  if (!status) status = sbs_influences_validate_joints(&rows, fault);
  for (size_t i = 0; i < vertex_count && !status; i++) {
    if (vertices[i] < 0 || (size_t)vertices[i] >= brush->vertex_count) {
      status = sbs_fault_row(fault, SBS_ERROR_VERTEX_INDEX, "vertices", i, vertices[i], (double)brush->vertex_count);
    }
  }
  for (size_t i = 0; i < vertex_count && !status; i++) {
    sbs_row_read(&rows, i, &brush->row); /* puts the caller's rows in order; rows of a stroke do not change */
    sbs_row_write(&brush->row, brush->limit, SBS_FLOAT64, (size_t)vertices[i], brush->joints, brush->weights);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

sbs_status sbs_brush_reserve(const sbs_brush *brush, sbs_brush_rows *rows, size_t more) {
  if (more <= rows->capacity - rows->count) return SBS_OK;
  const sbs_allocator *allocator = &brush->allocator;
  const size_t limit = brush->limit, used = rows->count;
  const size_t capacity = 2 * (used + more);
  sbs_brush_rows larger = {
      .count = used,
      .capacity = capacity,
      .vertices = sbs_allocate(allocator, capacity, sizeof *larger.vertices),
      .joints = sbs_allocate(allocator, capacity, limit * sizeof *larger.joints),
      .weights = sbs_allocate(allocator, capacity, limit * sizeof *larger.weights),
  };
  if (!larger.vertices || !larger.joints || !larger.weights) {
    release_rows(allocator, &larger);
    return SBS_ERROR_OUT_OF_MEMORY;
  }
  if (used) {
    memcpy(larger.vertices, rows->vertices, used * sizeof *larger.vertices);
    memcpy(larger.joints, rows->joints, used * limit * sizeof *larger.joints);
    memcpy(larger.weights, rows->weights, used * limit * sizeof *larger.weights);
  }
  release_rows(allocator, rows);
  *rows = larger;
  return SBS_OK;
}

void sbs_brush_append(const sbs_brush *brush, sbs_brush_rows *rows, int32_t vertex, const int32_t *joints,
                      const double *weights) {
  const size_t limit = brush->limit, at = rows->count++;
  rows->vertices[at] = vertex;
  memcpy(rows->joints + at * limit, joints, limit * sizeof *joints);
  memcpy(rows->weights + at * limit, weights, limit * sizeof *weights);
}
