/* SPDX-License-Identifier: MIT */
/* Weights by heat, as a function of sbs._core. */
#ifndef SBS_EXTENSION_HEAT_FUNCTIONS_H
#define SBS_EXTENSION_HEAT_FUNCTIONS_H

#include "core.h"

extern const char core_heat_weights_doc[];
PyObject *core_heat_weights(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
