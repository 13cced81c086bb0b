/* SPDX-License-Identifier: MIT */
/* _core.Brush: a sbs_brush. It changes with every stroke; two threads that use it at once are told so. */
#ifndef SBS_EXTENSION_BRUSH_TYPE_H
#define SBS_EXTENSION_BRUSH_TYPE_H

#include "core.h"

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_brush_type(PyObject *module);

#endif
