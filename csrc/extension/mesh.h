/* SPDX-License-Identifier: MIT */
/* Meshes as arguments. */
#ifndef SBS_EXTENSION_MESH_H
#define SBS_EXTENSION_MESH_H

#include "function.h"

#include <sbs/mesh.h>

/* Describes a mesh by positions (V, 3) and triangles (T, 3), which may be NULL. */
sbs_mesh_desc core_mesh_of(PyArrayObject *positions, PyArrayObject *triangles);

#endif
