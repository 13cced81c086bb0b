/* SPDX-License-Identifier: MIT */
/* _core.Shapes: a sbs_shapes, which never changes, so any number of threads may use it, and the skin that it is of. */
#ifndef SBS_EXTENSION_SHAPES_TYPE_H
#define SBS_EXTENSION_SHAPES_TYPE_H

#include "function.h"

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_shapes_type(PyObject *module);

/* Shapes of the skin whose method is called, and their weights, of one frame and of many: about a core_pose_call. */
extern const core_row core_shapes_rows[2], core_shapes_of_frames_rows[2];

/* Part of `prepare`: whether there are both or neither; raises if not. */
int core_check_shapes(const sbs_deform_options *options);

/* Makes a fault in the weights of one frame one at a shape, not at frame and shape. */
void core_place_in_shapes(sbs_fault *fault, const core_call *call);

#endif
