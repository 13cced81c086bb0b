/* SPDX-License-Identifier: MIT */
/* _core.Brush: a sbs_brush. Two threads that use it at once get an error. W is the width of its rows. */
#ifndef SBS_EXTENSION_BRUSH_TYPE_H
#define SBS_EXTENSION_BRUSH_TYPE_H

#include <sbs/brush.h>

#include "function.h"

/* The words of options that strokes and drags share. */
extern const char *const core_falloff_words[];
extern const char *const core_distance_words[];
extern const char *const core_axis_words[];

/* brush_drag.c */
extern const core_function core_drag;

/* The vertices that a call changed, as a new tuple of arrays; NULL with an exception set. */
PyObject *core_copy_change(const void *call, const sbs_brush_change *change);

/* Its type, for the contracts. */
#define CORE_CHANGE_TYPE \
  "tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]"

#endif
