/* SPDX-License-Identifier: MIT */
/* The methods of _core.Skin that change weights, which makes another skin, and rest positions, in place. */
#ifndef SBS_EXTENSION_SKIN_UPDATE_H
#define SBS_EXTENSION_SKIN_UPDATE_H

#include "skin_type.h"

extern const char core_update_skin_doc[];

PyObject *core_update_skin(PyObject *self, PyObject *args, PyObject *kwargs);

extern const char core_move_skin_doc[];

PyObject *core_move_skin(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
