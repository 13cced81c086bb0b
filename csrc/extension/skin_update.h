/* SPDX-License-Identifier: MIT */
/* The method of _core.Skin that changes weights: it makes another skin. */
#ifndef SBS_EXTENSION_SKIN_UPDATE_H
#define SBS_EXTENSION_SKIN_UPDATE_H

#include "skin_type.h"

extern const char core_update_skin_doc[];

PyObject *core_update_skin(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
