/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "mesh/validate.h"

/* Runs `body` with from and to for each of the six half edges of a triangle whose ends differ. */
#define FOR_EACH_HALF_EDGE(corners, body) \
  for (int half_edge = 0; half_edge < 6; half_edge++) { \
    const size_t from = (corners)[half_edge % 3]; \
    const size_t to = (corners)[(half_edge % 3 + 1 + half_edge / 3) % 3]; \
    if (from != to) { \
      body; \
    } \
  }

static void read_corners(const sbs_mesh_desc *mesh, const int32_t *representatives, size_t triangle,
                         size_t corners[3]) {
  for (size_t i = 0; i < 3; i++) {
    const int32_t vertex = mesh->triangles[3 * triangle + i];
    corners[i] = (size_t)(representatives ? representatives[vertex] : vertex);
  }
}

sbs_status sbs_mesh_adjacency(const sbs_mesh_desc *mesh, const int32_t *representatives, const sbs_allocator *allocator,
                              size_t *offsets, int32_t *neighbors, sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!offsets) return sbs_fault_in(fault, SBS_ERROR_NULL, "offsets");
  if (!neighbors && mesh->triangle_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "neighbors");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = sbs_mesh_validate_triangles(mesh, fault);
  if (!status && representatives)
    status = sbs_mesh_validate_representatives(representatives, mesh->vertex_count, fault);
  if (status) return status;

  const size_t count = mesh->vertex_count;
  sbs_arena arena = sbs_arena_from(&chosen);
  size_t *ends = sbs_arena_take(&arena, count + 1, sizeof *ends); /* the list of v is from ends[v - 1] to ends[v] */
  int32_t *unsorted = sbs_arena_take(&arena, mesh->triangle_count, 6 * sizeof *unsorted);
  if (arena.failed) {
    status = SBS_ERROR_OUT_OF_MEMORY;
    goto cleanup;
  }
  memset(ends, 0, (count + 1) * sizeof *ends);
  size_t corners[3];
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    if ((status = sbs_tell_some(t, mesh->triangle_count))) goto cleanup;
    read_corners(mesh, representatives, t, corners);
    FOR_EACH_HALF_EDGE(corners, ends[from + 1]++)
  }
  for (size_t v = 0; v < count; v++) ends[v + 1] += ends[v];
  memcpy(offsets, ends, (count + 1) * sizeof *offsets);
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    if ((status = sbs_tell_some(t, mesh->triangle_count))) goto cleanup;
    read_corners(mesh, representatives, t, corners);
    FOR_EACH_HALF_EDGE(corners, unsorted[ends[from]++] = (int32_t)to)
  }

  /* An edge is in the lists of both ends, so by entering v with all its neighbors, v by v, each list is sorted. */
  for (size_t v = 0, i = 0; v < count; v++) {
    if ((status = sbs_tell_some(v, count))) goto cleanup;
    for (; i < ends[v]; i++) {
      const size_t of_neighbor = (size_t)unsorted[i], begin = of_neighbor ? ends[of_neighbor - 1] : 0;
      size_t *end = offsets + of_neighbor;
      if (*end == begin || neighbors[*end - 1] != (int32_t)v) neighbors[(*end)++] = (int32_t)v;
    }
  }
  for (size_t v = 0, kept = 0; v <= count; v++) {
    const size_t begin = v ? ends[v - 1] : 0, size = v < count ? offsets[v] - begin : 0;
    if (size) memmove(neighbors + kept, neighbors + begin, size * sizeof *neighbors);
    offsets[v] = kept;
    kept += size;
  }
cleanup:
  sbs_arena_release(&arena);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
