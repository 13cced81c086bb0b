/* SPDX-License-Identifier: MIT */
/* Rotation centers that are found once, as functions of sbs._core. */
#ifndef SBS_EXTENSION_CENTERS_FUNCTIONS_H
#define SBS_EXTENSION_CENTERS_FUNCTIONS_H

#include "core.h"

extern const char core_optimized_centers_doc[];
PyObject *core_optimized_centers(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
