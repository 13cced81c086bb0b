/* SPDX-License-Identifier: MIT */
/* The functions of sbs._core about surfaces. */
#ifndef SBS_EXTENSION_SURFACE_FUNCTIONS_H
#define SBS_EXTENSION_SURFACE_FUNCTIONS_H

#include "core.h"

extern const char core_nearest_on_surface_doc[];
extern const char core_segments_blocked_doc[];
extern const char core_islands_doc[];

PyObject *core_nearest_on_surface(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_segments_blocked(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_islands(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
