/* SPDX-License-Identifier: MIT */
#include "base/fault.h"
#include "mesh/union_find.h"
#include "mesh/validate.h"
#include "sbs/surface.h"

sbs_status sbs_mesh_islands(const sbs_mesh_desc *mesh, int32_t *islands, size_t *island_count, sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!islands) return sbs_fault_in(fault, SBS_ERROR_NULL, "islands");
  if (!island_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "island_count");
  const sbs_status status = sbs_mesh_validate_triangles(mesh, fault);
  if (status) return status;

  sbs_groups_init(islands, mesh->vertex_count);
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    sbs_groups_unite(islands, mesh->triangles[3 * t], mesh->triangles[3 * t + 1]);
    sbs_groups_unite(islands, mesh->triangles[3 * t], mesh->triangles[3 * t + 2]);
  }
  /* A parent is lower than its child, so it already has its number, which is stored as a negative one. */
  int32_t count = 0;
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    islands[v] = islands[v] == (int32_t)v ? -1 - count++ : islands[islands[v]];
  }
  for (size_t v = 0; v < mesh->vertex_count; v++) islands[v] = -1 - islands[v];
  *island_count = (size_t)count;
  return SBS_OK;
}
