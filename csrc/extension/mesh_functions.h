/* SPDX-License-Identifier: MIT */
/* The functions of sbs._core about meshes. */
#ifndef SBS_EXTENSION_MESH_FUNCTIONS_H
#define SBS_EXTENSION_MESH_FUNCTIONS_H

#include "arguments.h"

#include <sbs/mesh.h>

extern const char core_weld_doc[];
extern const char core_adjacency_doc[];

PyObject *core_weld(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_adjacency(PyObject *module, PyObject *args, PyObject *kwargs);

/*
 * Describes a mesh by converted arrays (V, 3) and (T, 3); the second may be NULL or without an array. Raises and
 * returns 0 if shapes are wrong.
 */
int core_describe_mesh(const core_array *positions, const core_array *triangles, sbs_mesh_desc *mesh);

#endif
