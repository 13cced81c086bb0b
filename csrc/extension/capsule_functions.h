/* SPDX-License-Identifier: MIT */
/* The functions of sbs._core that make weights by capsules. */
#ifndef SBS_EXTENSION_CAPSULE_FUNCTIONS_H
#define SBS_EXTENSION_CAPSULE_FUNCTIONS_H

#include "core.h"

extern const char core_check_capsules_doc[];
extern const char core_capsule_weights_doc[];
extern const char core_count_outside_doc[];

PyObject *core_check_capsules(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_capsule_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_count_outside(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
