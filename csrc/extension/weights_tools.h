/* SPDX-License-Identifier: MIT */
/* The functions of sbs._core that repair, normalize, limit, prune and smooth weights. */
#ifndef SBS_EXTENSION_WEIGHTS_TOOLS_H
#define SBS_EXTENSION_WEIGHTS_TOOLS_H

#include "core.h"

extern const char core_clean_weights_doc[];
extern const char core_smooth_weights_doc[];
extern const char core_tidy_weights_doc[];

PyObject *core_clean_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_smooth_weights(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *core_tidy_weights(PyObject *module, PyObject *args, PyObject *kwargs);

#endif
