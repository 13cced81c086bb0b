/* SPDX-License-Identifier: MIT */
/* _core.Skin.inverse_deform. */
#ifndef SBS_EXTENSION_SKIN_INVERSE_H
#define SBS_EXTENSION_SKIN_INVERSE_H

#include "skin_type.h"

extern const char core_inverse_deform_doc[];

PyObject *core_inverse_deform(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
