/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_VALIDATE_H
#define SBS_MESH_VALIDATE_H

#include "sbs/mesh.h"

/* Checks the number of vertices and their positions. */
sbs_status sbs_mesh_validate_positions(const sbs_mesh_desc *mesh, sbs_fault *fault);

/* Checks the number of vertices and the corners of the triangles. */
sbs_status sbs_mesh_validate_triangles(const sbs_mesh_desc *mesh, sbs_fault *fault);

/* Checks that the representatives (V) of sbs_mesh_weld are vertices. */
sbs_status sbs_mesh_validate_representatives(const int32_t *representatives, size_t vertex_count, sbs_fault *fault);

#endif
