/* SPDX-License-Identifier: MIT */
/* The only place where Python objects become arrays and numbers. */
#ifndef SBS_EXTENSION_CONVERT_H
#define SBS_EXTENSION_CONVERT_H

#include "call.h"

/* Puts an object into the field of an argument that is no array. Raises and returns 0 if it is of another type. */
int core_convert(core_call *call, const core_row *row, PyObject *object, void *field);

/* The array that an object is for an argument. Raises and returns NULL if it is of another type or shape. */
PyArrayObject *core_convert_array(core_call *call, const core_row *row, PyObject *object);

/* NumPy's type of the arrays of a kind. */
int core_numpy_type(const core_call *call, core_kind kind);

/*
 * An object as an array of its own type, or of another: C-contiguous, aligned, in native byte order. It is the object
 * itself, if it is such an array. A copy is made if it is kept, unless nobody can write to it.
 */
PyArrayObject *core_find_array(PyObject *object, const char *name, int keeps, PyArray_Descr *dtype);

#endif
