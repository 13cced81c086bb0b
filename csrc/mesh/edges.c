/* SPDX-License-Identifier: MIT */
#include "mesh/edges.h"

#include "base/arena.h"
#include "base/fault.h"
#include "base/key_table.h"
#include "base/progress.h"
#include "mesh/validate.h"

sbs_status sbs_edges_validate(const sbs_mesh_desc *mesh, const int32_t *representatives, sbs_fault *fault) {
  const sbs_status status = sbs_mesh_validate_triangles(mesh, fault);
  if (status) return status;
  if (mesh->triangle_count > SBS_MOST_TRIANGLES) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "triangle_count", (double)mesh->triangle_count,
                            (double)SBS_MOST_TRIANGLES);
  }
  return representatives ? sbs_mesh_validate_representatives(representatives, mesh->vertex_count, fault) : SBS_OK;
}

static uint64_t side_key(const int32_t *triangles, size_t side, const int32_t *representatives, int *is_point) {
  const size_t triangle = side / 3, corner = side % 3;
  int32_t from = triangles[side], to = triangles[3 * triangle + (corner + 1) % 3];
  if (representatives) {
    from = representatives[from];
    to = representatives[to];
  }
  *is_point = from == to;
  return from < to ? sbs_key_of_two(to, from) : sbs_key_of_two(from, to);
}

sbs_status sbs_edges_find(const int32_t *triangles, size_t triangle_count, const int32_t *representatives,
                          const sbs_allocator *allocator, sbs_edges *edges) {
  const size_t side_count = 3 * triangle_count;
  sbs_arena arena = sbs_arena_from(allocator);
  sbs_key_table table = {.slot_count = sbs_key_slots(side_count)};
  table.keys = sbs_arena_take(&arena, side_count, sizeof *table.keys);
  table.slots = sbs_arena_take(&arena, table.slot_count, sizeof *table.slots);
  *edges = (sbs_edges){.of_sides = sbs_allocate(allocator, side_count, sizeof *edges->of_sides)};
  sbs_status status = arena.failed || !edges->of_sides ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  if (!status) sbs_key_clear(&table);
  for (size_t side = 0; side < side_count && !status; side++) {
    int is_point;
    const uint64_t key = side_key(triangles, side, representatives, &is_point);
    edges->of_sides[side] = is_point ? -1 : sbs_key_enter(&table, key);
    status = sbs_tell_some(side, side_count);
  }
  edges->count = table.count;
  sbs_arena_release(&arena);
  if (status) sbs_edges_free(edges, allocator);
  return status;
}

void sbs_edges_pair_sides(const sbs_edges *edges, size_t side_count, int32_t *firsts, int32_t *seconds) {
  for (size_t e = 0; e < edges->count; e++) firsts[e] = seconds[e] = SBS_NO_SIDE;
  for (size_t side = 0; side < side_count; side++) {
    const int32_t e = edges->of_sides[side];
    if (e < 0) continue;
    if (firsts[e] == SBS_NO_SIDE) {
      firsts[e] = (int32_t)side;
    } else {
      seconds[e] = seconds[e] == SBS_NO_SIDE ? (int32_t)side : SBS_MANY_SIDES;
    }
  }
}

void sbs_edges_free(sbs_edges *edges, const sbs_allocator *allocator) {
  sbs_release(allocator, edges->of_sides);
  edges->of_sides = NULL;
}
