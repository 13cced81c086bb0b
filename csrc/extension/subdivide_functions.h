/* SPDX-License-Identifier: MIT */
/* The functions of sbs._core that subdivide meshes and measure their curvature. */
#ifndef SBS_EXTENSION_SUBDIVIDE_FUNCTIONS_H
#define SBS_EXTENSION_SUBDIVIDE_FUNCTIONS_H

#include "core.h"

extern const char core_subdivide_doc[];
extern const char core_curvature_doc[];

PyObject *core_subdivide(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_curvature(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
