/* SPDX-License-Identifier: MIT */
/*
 * What the files of sbs._core share: Python, NumPy, libsbs and the state of the module. Only this folder knows Python.
 *
 * Each file is compiled for the limited API of Python 3.11 (the build defines Py_LIMITED_API) and against NumPy 2 for
 * NumPy 1.23 and later, so one extension module serves them all.
 */
#ifndef SBS_EXTENSION_CORE_H
#define SBS_EXTENSION_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h> /* which NumPy's headers need, and Python's do not always include */

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL sbs_extension_numpy_api
#ifndef SBS_EXTENSION_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <sbs/sbs.h>

enum {
  CORE_MOST_DEFINITIONS = 7
};

/* The state of the module: each interpreter has its own. Nothing else outlives a call. */
typedef struct core_state {
  PyObject *skin_type;                             /* _core.Skin */
  PyObject *brush_type;                            /* _core.Brush */
  PyObject *twist_type;                            /* _core.Twist */
  PyObject *muscles_type;                          /* _core.Muscles */
  PyObject *drivers_type;                          /* _core.Drivers */
  PyObject *shapes_type;                           /* _core.Shapes */
  PyObject *linalg_error;                          /* sbs.LinAlgError */
  PyMethodDef *definitions[CORE_MOST_DEFINITIONS]; /* of the functions and the methods of each type */
} core_state;

#endif
