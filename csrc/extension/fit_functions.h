/* SPDX-License-Identifier: MIT */
/* Functions of sbs._core: weights, centers and matrices fitted to examples. */
#ifndef SBS_EXTENSION_FIT_FUNCTIONS_H
#define SBS_EXTENSION_FIT_FUNCTIONS_H

#include "core.h"

extern const char core_fit_weights_doc[];

PyObject *core_fit_weights(PyObject *module, PyObject *args, PyObject *kwargs);

extern const char core_fit_centers_doc[];

PyObject *core_fit_centers(PyObject *module, PyObject *args, PyObject *kwargs);

extern const char core_fit_matrices_doc[];

PyObject *core_fit_matrices(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
