/* SPDX-License-Identifier: MIT */
/* The method of _core.Brush that drags vertices of a posed mesh. */
#ifndef SBS_EXTENSION_BRUSH_DRAG_H
#define SBS_EXTENSION_BRUSH_DRAG_H

#include "core.h"

extern const char core_brush_drag_doc[];
PyObject *core_brush_drag(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
