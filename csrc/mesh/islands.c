/* SPDX-License-Identifier: MIT */
#include "base/fault.h"
#include "mesh/validate.h"
#include "sbs/surface.h"

/* Finds the lowest vertex of a tree and halves the way to it for those who ask later. */
static int32_t find_root(int32_t *parents, int32_t vertex) {
  while (parents[vertex] != vertex) {
    parents[vertex] = parents[parents[vertex]];
    vertex = parents[vertex];
  }
  return vertex;
}

static void unite(int32_t *parents, int32_t a, int32_t b) {
  const int32_t root_a = find_root(parents, a), root_b = find_root(parents, b);
  if (root_a < root_b) {
    parents[root_b] = root_a;
  } else {
    parents[root_a] = root_b;
  }
}

sbs_status sbs_mesh_islands(const sbs_mesh_desc *mesh, int32_t *islands, size_t *island_count, sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!islands) return sbs_fault_in(fault, SBS_ERROR_NULL, "islands");
  if (!island_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "island_count");
  const sbs_status status = sbs_mesh_validate_triangles(mesh, fault);
  if (status) return status;

  for (size_t v = 0; v < mesh->vertex_count; v++) islands[v] = (int32_t)v;
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    unite(islands, mesh->triangles[3 * t], mesh->triangles[3 * t + 1]);
    unite(islands, mesh->triangles[3 * t], mesh->triangles[3 * t + 2]);
  }
  /* A parent is lower than its child: it has its number already, kept below zero to tell it from a parent. */
  int32_t count = 0;
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    islands[v] = islands[v] == (int32_t)v ? -1 - count++ : islands[islands[v]];
  }
  for (size_t v = 0; v < mesh->vertex_count; v++) islands[v] = -1 - islands[v];
  *island_count = (size_t)count;
  return SBS_OK;
}
