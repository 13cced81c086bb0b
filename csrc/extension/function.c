/* SPDX-License-Identifier: MIT */
#include "function.h"

#include <stdatomic.h>
#include <string.h>

#include "convert.h"
#include "errors.h"
#include "shapes.h"

/* What a call was given: the arguments of its function in order, and an object or NULL for each. */
typedef struct given_arguments {
  const core_argument *arguments[CORE_MOST_ARGUMENTS];
  char *fields[CORE_MOST_ARGUMENTS];
  PyObject *objects[CORE_MOST_ARGUMENTS]; /* borrowed */
  size_t count;
} given_arguments;

static void list_arguments(core_call *call, given_arguments *given) {
  given->count = 0;
  for (const core_part *part = call->function->parts; part < call->function->parts + CORE_PARTS; part++) {
    for (size_t i = 0; i < part->count; i++, given->count++) {
      given->arguments[given->count] = &part->arguments[i];
      given->fields[given->count] = (char *)call + part->arguments[i].at;
      given->objects[given->count] = NULL;
    }
  }
}

static PyArrayObject **array_field(void *field) {
  return (PyArrayObject **)field;
}

/* ------------------------------------------------------------------------------------------------------ parsing -- */

static int place(const core_call *call, given_arguments *given, PyObject *const *args, size_t count) {
  const size_t most = call->function->positional;

  if (count > most) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zu positional argument%s (%zu given)", call->function->name,
                 most, most == 1 ? "" : "s", count);
    return 0;
  }
  for (size_t i = 0; i < count; i++) given->objects[i] = args[i];
  return 1;
}

/* Callers mostly name arguments in their order: the search for a name starts after the last one that was found. */
static int place_by_name(const core_call *call, given_arguments *given, PyObject *name, PyObject *object,
                         size_t *start) {
  for (size_t tried = 0; tried < given->count; tried++) {
    const size_t i = *start + tried < given->count ? *start + tried : *start + tried - given->count;
    if (PyUnicode_CompareWithASCIIString(name, given->arguments[i]->name) != 0) continue;
    *start = i + 1 < given->count ? i + 1 : 0;
    if (given->objects[i] == NULL) {
      given->objects[i] = object;
      return 1;
    }
    PyErr_Format(PyExc_TypeError, "%s() got several values for argument %R", call->function->name, name);
    return 0;
  }
  PyErr_Format(PyExc_TypeError, "%R is an invalid keyword argument for %s()", name, call->function->name);
  return 0;
}

/* Numbers and words come first, for some give the length of a letter. */
static int convert_all(core_call *call, const given_arguments *given) {
  for (size_t i = 0; i < given->count; i++) {
    if (given->objects[i] == NULL && !given->arguments[i]->optional) {
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %zu)", call->function->name,
                   given->arguments[i]->name, i + 1);
      return 0;
    }
  }
  for (int arrays = 0; arrays < 2; arrays++) {
    for (size_t i = 0; i < given->count; i++) {
      const core_argument *argument = given->arguments[i];
      if (given->objects[i] == NULL || core_is_array(argument) != arrays) continue;
      if (!core_convert(call, argument, argument->name, given->objects[i], given->fields[i])) return 0;
    }
  }
  return 1;
}

/* Converts what a dict has under a key. */
static int convert_item(PyObject *key, PyObject *value, const core_part *part, const char *within, char *fields) {
  for (size_t i = 0; i < part->count; i++) {
    const core_argument *argument = &part->arguments[i];
    char name[64];
    if (!PyUnicode_Check(key) || PyUnicode_CompareWithASCIIString(key, argument->name) != 0) continue;
    PyOS_snprintf(name, sizeof name, "%s['%s']", within, argument->name);
    return core_convert(NULL, argument, name, value, fields + argument->at);
  }
  PyErr_Format(PyExc_TypeError, "%R is an invalid keyword argument for %s()", key, within);
  return 0;
}

int core_convert_dict(PyObject *dict, const core_part *part, const char *within, void *fields) {
  PyObject *copy = PyDict_Copy(dict), *key, *value; /* for conversion may run code that changes the dict */
  Py_ssize_t position = 0;
  int converted = copy != NULL;

  while (converted && PyDict_Next(copy, &position, &key, &value))
    converted = convert_item(key, value, part, within, fields);
  Py_XDECREF(copy);
  return converted;
}

/* ------------------------------------------------------------------------------------------------------ outputs -- */

static int overlap(PyArrayObject *a, PyArrayObject *b) {
  const uintptr_t a_start = (uintptr_t)PyArray_DATA(a), a_end = a_start + (uintptr_t)PyArray_NBYTES(a);
  const uintptr_t b_start = (uintptr_t)PyArray_DATA(b), b_end = b_start + (uintptr_t)PyArray_NBYTES(b);

  return (a_start > b_start ? a_start : b_start) < (a_end < b_end ? a_end : b_end);
}

/* Whether the outputs share memory with no other array; raises if one does. */
static int check_outputs(const given_arguments *given) {
  for (size_t i = 0; i < given->count; i++) {
    if (given->arguments[i]->kind != CORE_OUTPUT) continue;
    PyArrayObject *output = *array_field(given->fields[i]);
    for (size_t k = 0; output != NULL && k < given->count; k++) {
      const core_argument *other = given->arguments[k];
      if (!core_is_array(other) || (other->kind == CORE_OUTPUT && k >= i)) continue;
      PyArrayObject *array = *array_field(given->fields[k]);
      if (array == NULL || !overlap(output, array)) continue;
      if (other->in_place && PyArray_DATA(array) == PyArray_DATA(output)) continue;
      PyErr_Format(PyExc_ValueError, "%s shares memory with %s", given->arguments[i]->name, other->name);
      return 0;
    }
  }
  return 1;
}

/* ------------------------------------------------------------------------------------------------------ results -- */

static PyArrayObject **result_field(core_call *call, size_t i) {
  return array_field((char *)call + call->function->results[i].at);
}

static int make_results(core_call *call) {
  for (size_t i = 0; i < call->function->result_count; i++) {
    const core_argument *result = &call->function->results[i];
    PyArrayObject **field = result_field(call, i);
    npy_intp shape[CORE_MOST_DIMENSIONS];
    if (*field != NULL || (call->skipped >> i & 1)) continue;
    const int count = core_read_shape(result->shape, call->lengths, shape);
    *field = (PyArrayObject *)PyArray_SimpleNew(count, shape, core_type_of(call, result->kind));
    if (*field == NULL) return 0;
  }
  return 1;
}

static PyObject *pack(core_call *call) {
  const size_t count = call->function->result_count;
  PyObject *tuple;

  if (count == 0) Py_RETURN_NONE;
  if (count == 1) return Py_NewRef((PyObject *)*result_field(call, 0));
  tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++) {
    PyArrayObject *array = *result_field(call, i);
    PyTuple_SetItem(tuple, (Py_ssize_t)i, Py_NewRef(array != NULL ? (PyObject *)array : Py_None));
  }
  return tuple;
}

/* ------------------------------------------------------------------------------------------------------ calling -- */

const core_state *core_state_of(const void *address) {
  PyObject *self = ((const core_call *)address)->self;

  if (PyModule_Check(self)) return PyModule_GetState(self);
  return PyType_GetModuleState(PyType_Check(self) ? (PyTypeObject *)self : Py_TYPE(self));
}

static void raise_fault(core_call *call, sbs_status status, const sbs_fault *fault) {
  const npy_intp *dims = NULL;
  npy_intp shape[4] = {0};
  given_arguments given;

  if (call->function->raise != NULL && call->function->raise(call, status, fault)) return;
  list_arguments(call, &given);
  for (size_t i = 0; i < given.count; i++) {
    if (strcmp(given.arguments[i]->name, "skinning_matrices") != 0) continue;
    PyArrayObject *matrices = *array_field(given.fields[i]);
    for (int axis = 0; axis < PyArray_NDIM(matrices); axis++)
      shape[4 - PyArray_NDIM(matrices) + axis] = PyArray_DIM(matrices, axis);
    dims = shape;
  }
  core_raise(core_state_of(call), status, fault, dims);
}

int core_run(void *address, sbs_status (*step)(void *call, sbs_fault *fault)) {
  core_call *call = address;
  sbs_fault fault = {0};
  sbs_status status;

  core_begin_call(&call->unlocked);
  status = step(call, &fault);
  core_end_call(&call->unlocked);
  if (status != SBS_OK) raise_fault(call, status, &fault);
  return status == SBS_OK;
}

int core_hold(void *address, PyObject *object) {
  core_call *call = address;
  int i = 0;

  if (object == NULL) return 0;
  while (call->held[i] != NULL) i++;
  call->held[i] = object;
  return 1;
}

int core_convert_progress(core_call *Py_UNUSED(call), PyObject *object, void *field) {
  if (object != Py_None && !PyCallable_Check(object)) {
    PyErr_Format(PyExc_TypeError, "progress must be None or callable, not %R", (PyObject *)Py_TYPE(object));
    return 0;
  }
  *(PyObject **)field = object == Py_None ? NULL : object;
  return 1;
}

/* A sbs_progress. Cancels the call if Python's function, or a signal's handler while it runs, raises an exception. */
static int tell_progress(double fraction, void *user) {
  core_call *call = user;
  PyObject *result;

  PyEval_RestoreThread(call->unlocked.thread);
  result = PyObject_CallFunction(call->progress, "d", fraction);
  Py_XDECREF(result);
  call->unlocked.thread = PyEval_SaveThread();
  return result == NULL;
}

sbs_progress *core_progress(core_call *call, void **user) {
  *user = call;
  return call->progress != NULL ? tell_progress : NULL;
}

static void release(core_call *call, const given_arguments *given) {
  for (size_t i = 0; i < given->count; i++) {
    if (core_is_array(given->arguments[i])) Py_CLEAR(*array_field(given->fields[i]));
  }
  for (size_t i = 0; i < call->function->result_count; i++) Py_CLEAR(*result_field(call, i));
  for (int i = 0; i < CORE_MOST_HELD; i++) Py_CLEAR(call->held[i]);
}

static void begin(const core_function *function, PyObject *self, core_call *call, given_arguments *given) {
  memset(call, 0, function->size);
  call->function = function;
  call->self = self;
  memset(call->lengths, 0xff, sizeof call->lengths);
  if (function->set_defaults != NULL) function->set_defaults(call);
  if (function->begin != NULL) function->begin(call);
  list_arguments(call, given);
}

/* From the conversion of the arguments on. */
static PyObject *go_through(core_call *call, const given_arguments *given) {
  const core_function *function = call->function;

  if (!convert_all(call, given) || !check_outputs(given)) return NULL;
  if (function->prepare != NULL && !function->prepare(call)) return NULL;
  if (!make_results(call) || (function->run != NULL && !core_run(call, function->run))) return NULL;
  return function->finish != NULL ? function->finish(call) : pack(call);
}

static PyObject *enter(const core_function *function, PyObject *self, PyObject *const *args, Py_ssize_t count,
                       PyObject *names, void *call) {
  const Py_ssize_t name_count = names != NULL ? PyTuple_Size(names) : 0;
  size_t start = (size_t)count;
  PyObject *result = NULL;
  given_arguments given;
  int placed;

  begin(function, self, call, &given);
  placed = place(call, &given, args, (size_t)count);
  for (Py_ssize_t i = 0; placed && i < name_count; i++)
    placed = place_by_name(call, &given, PyTuple_GetItem(names, i), args[count + i], &start);
  if (placed) result = go_through(call, &given);
  release(call, &given);
  return result;
}

PyObject *core_enter(const core_function *function, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names, void *call) {
  atomic_flag *busy = function->busy_at > 0 ? (atomic_flag *)(void *)((char *)self + function->busy_at) : NULL;
  PyObject *result;

  if (busy != NULL && atomic_flag_test_and_set(busy)) {
    PyObject *name = PyType_GetName(Py_TYPE(self));
    if (name != NULL) PyErr_Format(PyExc_RuntimeError, "the %U is in use by another thread", name);
    Py_XDECREF(name);
    return NULL;
  }
  result = enter(function, self, args, count, names, call);
  if (busy != NULL) atomic_flag_clear(busy);
  return result;
}

PyObject *core_enter_new(const core_function *function, PyTypeObject *type, PyObject *args, PyObject *kwargs,
                         void *call) {
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject *placed_objects[CORE_MOST_ARGUMENTS], *name, *object, *result = NULL;
  size_t start = (size_t)count;
  Py_ssize_t position = 0;
  given_arguments given;
  int placed;

  begin(function, (PyObject *)type, call, &given);
  for (Py_ssize_t i = 0; i < count && i < CORE_MOST_ARGUMENTS; i++) placed_objects[i] = PyTuple_GetItem(args, i);
  placed = place(call, &given, placed_objects, (size_t)count);
  while (placed && kwargs != NULL && PyDict_Next(kwargs, &position, &name, &object))
    placed = place_by_name(call, &given, name, object, &start);
  if (placed) result = go_through(call, &given);
  release(call, &given);
  return result;
}

npy_int32 core_largest(PyArrayObject *integers) {
  const npy_int32 *integer = PyArray_DATA(integers);
  const npy_intp size = PyArray_SIZE(integers);
  npy_int32 largest = 0;

  for (npy_intp i = 0; i < size; i++) largest = integer[i] > largest ? integer[i] : largest;
  return largest;
}

PyObject *core_copy(const void *numbers, size_t rows, size_t columns, int type) {
  const npy_intp shape[2] = {(npy_intp)rows, (npy_intp)columns};
  PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(columns > 0 ? 2 : 1, shape, type);

  if (array != NULL && PyArray_SIZE(array) > 0) memcpy(PyArray_DATA(array), numbers, (size_t)PyArray_NBYTES(array));
  return (PyObject *)array;
}
