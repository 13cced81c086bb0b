/* SPDX-License-Identifier: MIT */
/* The gradient of deformations: methods of _core.Skin. */
#ifndef SBS_EXTENSION_SKIN_GRADIENT_H
#define SBS_EXTENSION_SKIN_GRADIENT_H

#include "skin_type.h"

extern const char core_deform_vjp_doc[];

PyObject *core_deform_vjp(PyObject *self, PyObject *args, PyObject *kwargs);

extern const char core_weight_jacobian_doc[];

PyObject *core_weight_jacobian(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
