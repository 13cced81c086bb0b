/* SPDX-License-Identifier: MIT */
/* _core.Muscles: a sbs_muscles, which never changes, so any number of threads may use it. */
#ifndef SBS_EXTENSION_MUSCLES_TYPE_H
#define SBS_EXTENSION_MUSCLES_TYPE_H

#include "core.h"

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_muscles_type(PyObject *module);

#endif
