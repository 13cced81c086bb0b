/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_POSITIONS_H
#define SBS_MESH_POSITIONS_H

#include "base/algebra.h"
#include "base/scalar.h"
#include "sbs/mesh.h"

/* One position of a mesh, of any type and stride. */
static inline sbs_vec3 sbs_mesh_position(const sbs_mesh_desc *mesh, size_t vertex) {
  const size_t stride = mesh->positions_stride ? mesh->positions_stride : 3 * sbs_scalar_size(mesh->scalar);
  const char *row = (const char *)mesh->positions + vertex * stride;
  return (sbs_vec3){sbs_scalar_get(row, mesh->scalar, 0), sbs_scalar_get(row, mesh->scalar, 1),
                    sbs_scalar_get(row, mesh->scalar, 2)};
}

#endif
