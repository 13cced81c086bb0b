/* SPDX-License-Identifier: MIT */
#include "weights/heat_report.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* A vertex that is joined to another island. */
typedef struct hanging {
  int32_t island, neighbor;
} hanging;

static int compare_hanging(const void *left, const void *right) {
  const hanging *a = left, *b = right;
  if (a->island != b->island) return a->island < b->island ? -1 : 1;
  return (a->neighbor > b->neighbor) - (a->neighbor < b->neighbor);
}

sbs_status sbs_heat_list_joins(const sbs_heat_joins *joins, const sbs_heat_surface *surface, size_t mesh_vertex_count,
                               const signed char *reasons, const sbs_allocator *allocator, sbs_heat_join *listed) {
  const size_t first = joins->depth_starts[1], count = surface->vertex_count - first;
  int32_t *number = sbs_allocate(allocator, surface->island_count, sizeof *number); /* of each island in the list */
  hanging *all = sbs_allocate(allocator, count, sizeof *all);
  if (number && all) {
    int32_t used = 0;
    for (size_t i = 0; i < surface->island_count; i++) {
      number[i] = reasons[i] < 0 ? -1 : used;
      if (reasons[i] < 0) continue;
      listed[used++] = (sbs_heat_join){
          .island = (int32_t)i, .neighbor = -1, .distance = INFINITY, .reason = (sbs_heat_reason)reasons[i]};
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
    qsort(all, count, sizeof *all, compare_hanging);
    size_t begin = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
      if (all[i].island != all[begin].island) most = 0;
      if (compare_hanging(all + i, all + begin) != 0) begin = i;
      if (i - begin + 1 <= most) continue;
      most = i - begin + 1;
      listed[number[all[i].island]].neighbor = all[i].neighbor;
    }
  }
  const sbs_status status = number && all ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  sbs_release(allocator, number);
  sbs_release(allocator, all);
  return status;
}
