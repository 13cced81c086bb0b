/* SPDX-License-Identifier: MIT */
/* _core.Brush: a sbs_brush. Two threads that use it at once get an error. */
#ifndef SBS_EXTENSION_BRUSH_TYPE_H
#define SBS_EXTENSION_BRUSH_TYPE_H

#include "core.h"

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_brush_type(PyObject *module);

#endif
