/* SPDX-License-Identifier: MIT */
/* Bones and bones blending as functions of sbs._core. */
#ifndef SBS_EXTENSION_BLENDING_FUNCTIONS_H
#define SBS_EXTENSION_BLENDING_FUNCTIONS_H

#include "core.h"

extern const char core_bone_tails_doc[];
PyObject *core_bone_tails(PyObject *module, PyObject *args, PyObject *kwargs);

extern const char core_blend_bones_doc[];
PyObject *core_blend_bones(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
