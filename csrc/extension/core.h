/* SPDX-License-Identifier: MIT */
/*
 * Included by all files of sbs._core: Python, NumPy, libsbs and the state of the module. Only this folder knows
 * Python.
 *
 * Each file is compiled for the limited API of Python 3.11 (the build defines Py_LIMITED_API) and against NumPy 2 for
 * NumPy 1.23 and later, so one extension module serves them all.
 */
#ifndef SBS_EXTENSION_CORE_H
#define SBS_EXTENSION_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h> /* NumPy's headers need it, and Python's do not always include it */

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sbs_extension_numpy_api
#ifndef SBS_EXTENSION_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <sbs/sbs.h>

/* The types of the module. */
enum {
  CORE_SKIN,
  CORE_BRUSH,
  CORE_TWIST,
  CORE_FLESH,
  CORE_MUSCLES,
  CORE_DRIVERS,
  CORE_SHAPES,
  CORE_TYPE_COUNT
};

/* The state of the module: each interpreter has its own. Nothing else outlives a call. */
typedef struct core_state {
  PyObject *types[CORE_TYPE_COUNT];
  PyObject *linalg_error;                        /* sbs.LinAlgError */
  PyMethodDef *definitions[CORE_TYPE_COUNT + 1]; /* the methods of each type, then the functions */
} core_state;

#endif
