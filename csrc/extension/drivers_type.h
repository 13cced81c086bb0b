/* SPDX-License-Identifier: MIT */
/* _core.Drivers: a sbs_drivers, which never changes, so any number of threads may use it. */
#ifndef SBS_EXTENSION_DRIVERS_TYPE_H
#define SBS_EXTENSION_DRIVERS_TYPE_H

#include "function.h"

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_drivers_type(PyObject *module);

#endif
