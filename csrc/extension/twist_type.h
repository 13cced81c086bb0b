/* SPDX-License-Identifier: MIT */
/* _core.Twist: a sbs_twist, which never changes, so any number of threads may use it. */
#ifndef SBS_EXTENSION_TWIST_TYPE_H
#define SBS_EXTENSION_TWIST_TYPE_H

#include "core.h"

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_twist_type(PyObject *module);

#endif
