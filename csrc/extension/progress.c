/* SPDX-License-Identifier: MIT */
#include "progress.h"

int core_check_progress(PyObject *progress) {
  if (progress == Py_None || PyCallable_Check(progress)) return 1;
  PyErr_Format(PyExc_TypeError, "progress must be None or callable, not %R", (PyObject *)Py_TYPE(progress));
  return 0;
}

int core_tell_progress(double fraction, void *core_caller_address) {
  core_caller *caller = core_caller_address;
  PyObject *result;

  PyEval_RestoreThread(caller->call.thread);
  result = PyObject_CallFunction(caller->progress, "d", fraction);
  Py_XDECREF(result);
  caller->call.thread = PyEval_SaveThread();
  return result == NULL;
}
