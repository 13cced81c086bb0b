/* SPDX-License-Identifier: MIT */
/* _core.Brush: a sbs_brush. Two threads that use it at once get an error. */
#ifndef SBS_EXTENSION_BRUSH_TYPE_H
#define SBS_EXTENSION_BRUSH_TYPE_H

#include <sbs/brush.h>
#include <stdatomic.h>

#include "function.h"

typedef struct core_brush {
  PyObject_HEAD
  sbs_brush *brush;
  size_t vertex_count, joint_count, limit;
  atomic_flag busy; /* while a thread works on it */
} core_brush;

/* The words of options that strokes and drags share. */
extern const char *const core_falloff_words[];
extern const char *const core_distance_words[];
extern const char *const core_axis_words[];

/* brush_drag.c */
extern const core_function core_drag;

/* `begin` of the methods: V, J and W, the width of rows, are those of the brush. */
void core_begin_with_brush(void *call);

/* What a stroke changed, as a new tuple of arrays; NULL with an exception set. */
PyObject *core_copy_change(const core_brush *self, const sbs_brush_change *change);

/* What that is, for the contracts. */
#define CORE_CHANGE_TYPE \
  "tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]"

/* Makes the type and adds it to the module. A new reference, or NULL with an exception set. */
PyObject *core_new_brush_type(PyObject *module);

#endif
