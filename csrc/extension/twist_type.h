/* SPDX-License-Identifier: MIT */
/* _core.Twist: a sbs_twist, which never changes, so any number of threads may use it. */
#ifndef SBS_EXTENSION_TWIST_TYPE_H
#define SBS_EXTENSION_TWIST_TYPE_H

#include "function.h"

#include <sbs/twist.h>

/* Makes the type. A new reference, or NULL with an exception set. */
PyObject *core_new_twist_type(PyObject *module);

/* The twist of a _core.Twist, valid as long as that; NULL of NULL. */
const sbs_twist *core_get_twist(PyObject *twist);

/* `convert` of an argument "twist": a _core.Twist or None, into a PyObject *. Its joints and bones are J and B. */
int core_convert_twist(core_call *call, PyObject *object, void *field);

#endif
