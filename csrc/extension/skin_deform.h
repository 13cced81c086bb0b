/* SPDX-License-Identifier: MIT */
/* The methods of _core.Skin that take skinning matrices. */
#ifndef SBS_EXTENSION_SKIN_DEFORM_H
#define SBS_EXTENSION_SKIN_DEFORM_H

#include "skin_type.h"

extern const char core_deform_doc[];
extern const char core_deform_many_doc[];
extern const char core_rotation_centers_doc[];

PyObject *core_deform(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *core_deform_many(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *core_rotation_centers(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
