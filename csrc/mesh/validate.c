/* SPDX-License-Identifier: MIT */
#include "mesh/validate.h"

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"

sbs_mesh_desc sbs_default_mesh_desc(void) {
  return (sbs_mesh_desc){.scalar = SBS_FLOAT32};
}

static sbs_status check_vertex_count(const sbs_mesh_desc *mesh, sbs_fault *fault) {
  if (!mesh->vertex_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "positions");
  if (mesh->vertex_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "vertex_count", (double)mesh->vertex_count, INT32_MAX);
  }
  return SBS_OK;
}

sbs_status sbs_mesh_validate_positions(const sbs_mesh_desc *mesh, sbs_fault *fault) {
  if (!mesh->positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  if (!sbs_scalar_is_valid(mesh->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)mesh->scalar, 0.0);
  }
  sbs_status status = check_vertex_count(mesh, fault);
  if (status) return status;
  return sbs_validate_vectors(mesh->positions, mesh->positions_stride, mesh->scalar, mesh->vertex_count, "positions",
                              "positions_stride", fault);
}

sbs_status sbs_mesh_validate_triangles(const sbs_mesh_desc *mesh, sbs_fault *fault) {
  if (mesh->triangle_count && !mesh->triangles) return sbs_fault_in(fault, SBS_ERROR_NULL, "triangles");
  sbs_status status = check_vertex_count(mesh, fault);
  if (status) return status;
  const size_t most = SIZE_MAX / (6 * sizeof(size_t)); /* each has six half edges */
  if (mesh->triangle_count > most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "triangle_count", (double)mesh->triangle_count, (double)most);
  }
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    for (size_t corner = 0; corner < 3; corner++) {
      const int32_t vertex = mesh->triangles[3 * t + corner];
      if (vertex < 0 || (size_t)vertex >= mesh->vertex_count) {
        return sbs_fault_at(fault, SBS_ERROR_VERTEX_INDEX, "triangles", t, corner, vertex, (double)mesh->vertex_count);
      }
    }
  }
  return SBS_OK;
}

sbs_status sbs_mesh_validate_representatives(const int32_t *representatives, size_t vertex_count, sbs_fault *fault) {
  for (size_t v = 0; v < vertex_count; v++) {
    if (representatives[v] < 0 || (size_t)representatives[v] >= vertex_count) {
      return sbs_fault_row(fault, SBS_ERROR_VERTEX_INDEX, "representatives", v, representatives[v],
                           (double)vertex_count);
    }
  }
  return SBS_OK;
}
