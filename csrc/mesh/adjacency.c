/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
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

static int compare_vertices(const void *left, const void *right) {
  const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

static void sort_vertices(int32_t *vertices, size_t count) {
  if (count > 64) { /* the hub of a fan */
    qsort(vertices, count, sizeof *vertices, compare_vertices);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    const int32_t vertex = vertices[i];
    size_t at = i;
    for (; at > 0 && vertices[at - 1] > vertex; at--) vertices[at] = vertices[at - 1];
    vertices[at] = vertex;
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
  size_t *ends = sbs_allocate(&chosen, count + 1, sizeof *ends);
  if (!ends) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memset(ends, 0, (count + 1) * sizeof *ends);
  size_t corners[3];
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    if ((status = sbs_tell_some(t, mesh->triangle_count))) goto cleanup;
    read_corners(mesh, representatives, t, corners);
    FOR_EACH_HALF_EDGE(corners, ends[from + 1]++)
  }
  for (size_t v = 0; v < count; v++) ends[v + 1] += ends[v];
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    if ((status = sbs_tell_some(t, mesh->triangle_count))) goto cleanup;
    read_corners(mesh, representatives, t, corners);
    FOR_EACH_HALF_EDGE(corners, neighbors[ends[from]++] = (int32_t)to)
  }

  /* Now ends[v] is where the list of v ends. Two triangles share an edge, so sort and keep each neighbor once. */
  size_t kept = 0, begin = 0;
  for (size_t v = 0; v < count; v++) {
    if ((status = sbs_tell_some(v, count))) goto cleanup;
    sort_vertices(neighbors + begin, ends[v] - begin);
    offsets[v] = kept;
    for (size_t i = begin; i < ends[v]; i++) {
      if (kept == offsets[v] || neighbors[kept - 1] != neighbors[i]) neighbors[kept++] = neighbors[i];
    }
    begin = ends[v];
  }
  offsets[count] = kept;
cleanup:
  sbs_release(&chosen, ends);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
