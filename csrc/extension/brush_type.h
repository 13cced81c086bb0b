/* SPDX-License-Identifier: MIT */
/* _core.Brush: a sbs_brush. Two threads that use it at once get an error. */
#ifndef SBS_EXTENSION_BRUSH_TYPE_H
#define SBS_EXTENSION_BRUSH_TYPE_H

#include <sbs/brush.h>
#include <stdatomic.h>

#include "arguments.h"

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

/* Converts an axis or None, for "O&" with a core_choice. */
int core_convert_axis(PyObject *object, void *core_choice_address);

/* Whether there is a joint on the other side for each, or none are given; raises if not. */
int core_check_mirror_joints(const core_brush *self, const core_array *mirror_joints);

/* Takes the brush for this thread; raises and returns 0 if another thread uses it. */
int core_brush_take(core_brush *self);

void core_brush_give_back(core_brush *self);

/* What a stroke changed, as a new tuple of arrays; NULL with an exception set. */
PyObject *core_copy_change(const core_brush *self, const sbs_brush_change *change);

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_brush_type(PyObject *module);

#endif
