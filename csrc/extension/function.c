/* SPDX-License-Identifier: MIT */
#include "function.h"

#include <stdatomic.h>
#include <string.h>

#include "convert.h"
#include "errors.h"
#include "shapes.h"

/* Lists the arguments, then the other rows. */
static void list_values(core_call *call) {
  for (int others = 0; others < 2; others++) {
    for (const core_part *part = call->function->parts; part < call->function->parts + CORE_PARTS; part++) {
      for (size_t i = 0; i < part->count; i++) {
        const core_row *row = &part->rows[i];
        if (core_is_argument(row) == others) continue;
        call->values[call->count++] = (core_value){.row = row, .field = (char *)call + part->at + row->at};
      }
    }
    if (!others) call->argument_count = call->count;
  }
}

/* ------------------------------------------------------------------------------------------------------ parsing -- */

static int place(core_call *call, PyObject *const *args, size_t count) {
  const size_t most = call->function->positional;

  if (count > most) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zu positional argument%s (%zu given)", call->function->name,
                 most, most == 1 ? "" : "s", count);
    return 0;
  }
  for (size_t i = 0; i < count; i++) call->values[i].object = args[i];
  return 1;
}

/* Callers mostly name arguments in their order: the search for a name starts after the last one that was found. */
static int place_by_name(core_call *call, PyObject *name, PyObject *object, size_t *start) {
  for (size_t tried = 0; tried < call->argument_count; tried++) {
    const size_t i = *start + tried < call->argument_count ? *start + tried : *start + tried - call->argument_count;
    core_value *value = &call->values[i];
    if (PyUnicode_CompareWithASCIIString(name, value->row->name) != 0) continue;
    *start = i + 1 < call->argument_count ? i + 1 : 0;
    if (value->object == NULL) {
      value->object = object;
      return 1;
    }
    PyErr_Format(PyExc_TypeError, "%s() got several values for argument %R", call->function->name, name);
    return 0;
  }
  PyErr_Format(PyExc_TypeError, "%R is an invalid keyword argument for %s()", name, call->function->name);
  return 0;
}

/* Puts the address of an array's numbers into its field, and their type and rows where the library wants them. */
static void fill(const core_value *value) {
  const sbs_scalar scalar = core_scalar(value->array);
  const void *data = PyArray_DATA(value->array);

  if (data == NULL) data = value; /* an empty array of others: NULL would say None */
  memcpy(value->field, &data, sizeof data);
  if (value->row->scalar > 0) memcpy(value->field - value->row->at + value->row->scalar, &scalar, sizeof scalar);
  if (value->row->kind == CORE_MATRICES) {
    sbs_pose *pose = (sbs_pose *)(void *)value->field;
    pose->scalar = scalar;
    pose->rows = (size_t)PyArray_DIM(value->array, PyArray_NDIM(value->array) - 2);
  }
}

static int convert_value(core_call *call, core_value *value) {
  const core_row *row = value->row;

  if (!core_is_array(row)) return core_convert(call, row, value->object, value->field);
  if (value->object == Py_None && (row->optional || row->none)) return 1;
  value->array = core_convert_array(call, row, value->object);
  if (value->array != NULL) fill(value);
  return value->array != NULL;
}

/* Numbers and words come first, for some give the length of a letter. */
static int convert_all(core_call *call) {
  for (size_t i = 0; i < call->argument_count; i++) {
    const core_row *row = call->values[i].row;
    if (call->values[i].object == NULL && !row->optional) {
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %zu)", call->function->name, row->name,
                   i + 1);
      return 0;
    }
  }
  for (int arrays = 0; arrays < 2; arrays++) {
    for (size_t i = 0; i < call->argument_count; i++) {
      core_value *value = &call->values[i];
      if (value->object != NULL && core_is_array(value->row) == arrays && !convert_value(call, value)) return 0;
    }
  }
  for (size_t i = call->argument_count; i < call->count; i++) {
    const core_row *row = call->values[i].row;
    if (row->kind != CORE_LENGTH || !core_has_length(call, row->name[0])) continue;
    *(size_t *)(void *)call->values[i].field = core_length(call, row->name[0]);
  }
  return 1;
}

/* ------------------------------------------------------------------------------------------------------ outputs -- */

static int overlap(PyArrayObject *a, PyArrayObject *b) {
  const uintptr_t a_start = (uintptr_t)PyArray_DATA(a), a_end = a_start + (uintptr_t)PyArray_NBYTES(a);
  const uintptr_t b_start = (uintptr_t)PyArray_DATA(b), b_end = b_start + (uintptr_t)PyArray_NBYTES(b);

  return (a_start > b_start ? a_start : b_start) < (a_end < b_end ? a_end : b_end);
}

/* Whether the outputs share memory with no other array; raises if one does. */
static int check_outputs(const core_call *call) {
  const core_value *end = call->values + call->argument_count;

  for (const core_value *output = call->values; output < end; output++) {
    if (output->row->kind != CORE_OUTPUT || output->array == NULL) continue;
    for (const core_value *other = call->values; other < end; other++) {
      if (other->array == NULL || (other->row->kind == CORE_OUTPUT && other >= output)) continue;
      if (!overlap(output->array, other->array)) continue;
      if (other->row->in_place && PyArray_DATA(other->array) == PyArray_DATA(output->array)) continue;
      PyErr_Format(PyExc_ValueError, "%s shares memory with %s", output->row->name, other->row->name);
      return 0;
    }
  }
  return 1;
}

/* ------------------------------------------------------------------------------------------------------ results -- */

/* The array that was given for a result; NULL if there is none. */
static PyArrayObject *find_output(const core_call *call, const char *field) {
  for (size_t i = 0; i < call->argument_count; i++) {
    const core_value *value = &call->values[i];
    if (value->row->kind == CORE_OUTPUT && value->field == field && value->array != NULL)
      return (PyArrayObject *)Py_NewRef((PyObject *)value->array);
  }
  return NULL;
}

static int make_results(core_call *call) {
  unsigned int skipped = call->skipped;

  for (core_value *value = call->values + call->argument_count; value < call->values + call->count; value++) {
    npy_intp shape[CORE_MOST_DIMENSIONS];
    if (!value->row->result) continue;
    if ((skipped & 1) == 0) {
      value->array = find_output(call, value->field);
      if (value->array == NULL) {
        const int count = core_read_shape(value->row->shape, call->lengths, shape);
        value->array = (PyArrayObject *)PyArray_SimpleNew(count, shape, core_numpy_type(call, value->row->kind));
      }
      if (value->array == NULL) return 0;
      fill(value);
    }
    skipped >>= 1;
  }
  return 1;
}

static size_t count_results(const core_call *call) {
  size_t count = 0;

  for (size_t i = call->argument_count; i < call->count; i++) count += call->values[i].row->result != 0;
  return count;
}

PyObject *core_result(const void *address, size_t number) {
  const core_call *call = address;
  const core_value *value = call->values + call->argument_count;

  for (; !value->row->result || number > 0; value++) number -= value->row->result != 0;
  return value->array != NULL ? (PyObject *)value->array : Py_None;
}

static PyObject *pack(const core_call *call) {
  const size_t count = count_results(call);
  PyObject *tuple;

  if (count == 0) Py_RETURN_NONE;
  if (count == 1) return Py_NewRef(core_result(call, 0));
  tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++)
    PyTuple_SetItem(tuple, (Py_ssize_t)i, Py_NewRef(core_result(call, i)));
  return tuple;
}

/* ------------------------------------------------------------------------------------------------------ objects -- */

/* The object whose method is called, or NULL. */
static core_object *find_object(PyObject *self) {
  return PyModule_Check(self) || PyType_Check(self) ? NULL : (core_object *)self;
}

core_object *core_new_object(const core_class *class, PyTypeObject *type, void *made, const npy_intp *lengths) {
  const allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  core_object *object = (core_object *)allocate(type, 0);

  if (object == NULL) {
    class->release(made);
    return NULL;
  }
  object->class = class;
  object->made = made;
  memcpy(object->lengths, lengths, sizeof object->lengths);
  atomic_flag_clear(&object->busy);
  return object;
}

/* ------------------------------------------------------------------------------------------------------ calling -- */

/* The argument that a fault of the library is in, or NULL. */
static const core_value *find_argument(const core_call *call, const sbs_fault *fault) {
  for (size_t i = 0; i < call->argument_count && fault->argument != NULL; i++) {
    const core_row *row = call->values[i].row;
    if (strcmp(row->fault != NULL ? row->fault : row->name, fault->argument) == 0) return &call->values[i];
  }
  return NULL;
}

/* Raises a fault of the library in terms of the arguments. */
static void raise_fault(core_call *call, sbs_status status, sbs_fault *fault) {
  const core_value *value = find_argument(call, fault);
  PyArrayObject *array = NULL;
  int inner_axes = 1;

  if (call->function->raise != NULL && call->function->raise(call, status, fault)) return;
  if (value != NULL) fault->argument = value->row->name;
  if (value != NULL && value->row->rows_in_faults) array = value->array;
  if (value != NULL && value->row->kind == CORE_MATRICES) {
    array = value->array;
    inner_axes = 2;
  }
  if (array != NULL) {
    size_t rows = 1; /* of a frame */
    for (int axis = 1; axis < PyArray_NDIM(array) - inner_axes; axis++) rows *= (size_t)PyArray_DIM(array, axis);
    fault->index[0] += call->frame * rows;
  }
  core_raise(core_get_state(call), status, fault, array, inner_axes);
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

/* A step: goes through the frames of the call. */
static sbs_status run_frames(void *address, sbs_fault *fault) {
  core_call *call = address;
  const core_value *matrices = call->values;
  sbs_status status = SBS_OK;
  sbs_pose pose;

  while (matrices->row->kind != CORE_MATRICES) matrices++;
  pose = *(const sbs_pose *)(const void *)matrices->field;
  for (size_t frame = 0; frame < core_length(call, 'F') && status == SBS_OK; frame++) {
    call->frame = frame;
    status = core_look_for_signals(0.0, &call->unlocked) ? SBS_ERROR_CANCELLED
                                                         : call->function->run_frame(call, frame, &pose, fault);
    pose.skinning_matrices = (const char *)pose.skinning_matrices + PyArray_STRIDE(matrices->array, 0);
  }
  return status;
}

int core_hold(void *address, PyObject *object) {
  core_call *call = address;
  int i = 0;

  if (object == NULL) return 0;
  while (call->held[i] != NULL) i++;
  call->held[i] = object;
  return 1;
}

void *core_hold_memory(void *call, size_t size) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  return core_hold(call, bytes) ? PyBytes_AsString(bytes) : NULL;
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

static void begin(const core_function *function, PyObject *self, core_call *call) {
  const core_object *object = find_object(self);

  memset(call, 0, function->size);
  call->function = function;
  call->self = self;
  call->keeps = function->keeps;
  memset(call->lengths, 0xff, sizeof call->lengths);
  if (object != NULL) {
    memcpy(call->lengths, object->lengths, sizeof call->lengths);
    call->type = object->type;
    call->typed_by = object->typed_by;
  }
  if (function->set_defaults != NULL) function->set_defaults(call);
  list_values(call);
}

static PyObject *make_object(core_call *call, const core_class *class) {
  void *made;

  memcpy(&made, (const char *)call + class->made_at, sizeof made);
  return (PyObject *)core_new_object(class, (PyTypeObject *)call->self, made, call->lengths);
}

/* All steps after the arguments have their places. class: of the object that the call makes, or NULL. */
static PyObject *go_through(core_call *call, const core_class *class) {
  const core_function *function = call->function;

  if (!convert_all(call) || !check_outputs(call)) return NULL;
  if (function->prepare != NULL && !function->prepare(call)) return NULL;
  if (!make_results(call)) return NULL;
  if (function->run != NULL && !core_run(call, function->run)) return NULL;
  if (function->run_frame != NULL && !core_run(call, run_frames)) return NULL;
  if (function->finish != NULL) return function->finish(call);
  return class != NULL ? make_object(call, class) : pack(call);
}

/* Ends a call whose arguments have their places, or have not, if an exception is set. */
static PyObject *end(core_call *call, const core_class *class, int placed) {
  PyObject *result = placed ? go_through(call, class) : NULL;

  for (size_t i = 0; i < call->count; i++) Py_CLEAR(call->values[i].array);
  for (int i = 0; i < CORE_MOST_HELD; i++) Py_CLEAR(call->held[i]);
  return result;
}

PyObject *core_enter(const core_function *function, PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names, void *call) {
  const Py_ssize_t name_count = names != NULL ? PyTuple_Size(names) : 0;
  core_object *object = find_object(self);
  const int is_exclusive = object != NULL && object->class->exclusive;
  size_t start = (size_t)count;
  PyObject *result;
  int placed;

  if (is_exclusive && atomic_flag_test_and_set(&object->busy))
    return PyErr_Format(PyExc_RuntimeError, "the %s is in use by another thread", object->class->make.name);
  begin(function, self, call);
  placed = place(call, args, (size_t)count);
  for (Py_ssize_t i = 0; placed && i < name_count; i++)
    placed = place_by_name(call, PyTuple_GetItem(names, i), args[count + i], &start);
  result = end(call, NULL, placed);
  if (is_exclusive) atomic_flag_clear(&object->busy);
  return result;
}

PyObject *core_enter_new(const core_class *class, PyTypeObject *type, PyObject *args, PyObject *kwargs, void *call) {
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject *objects[CORE_MOST_ROWS], *name, *object;
  size_t start = (size_t)count;
  Py_ssize_t position = 0;
  int placed;

  begin(&class->make, (PyObject *)type, call);
  for (Py_ssize_t i = 0; i < count && i < CORE_MOST_ROWS; i++) objects[i] = PyTuple_GetItem(args, i);
  placed = place(call, objects, (size_t)count);
  while (placed && kwargs != NULL && PyDict_Next(kwargs, &position, &name, &object))
    placed = place_by_name(call, name, object, &start);
  return end(call, class, placed);
}

int32_t core_largest(const int32_t *integers, size_t count) {
  int32_t largest = 0;

  for (size_t i = 0; i < count; i++) largest = integers[i] > largest ? integers[i] : largest;
  return largest;
}

PyObject *core_copy(const void *numbers, size_t rows, size_t columns, int type) {
  const npy_intp shape[2] = {(npy_intp)rows, (npy_intp)columns};
  PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(columns > 0 ? 2 : 1, shape, type);

  if (array != NULL && PyArray_SIZE(array) > 0) memcpy(PyArray_DATA(array), numbers, (size_t)PyArray_NBYTES(array));
  return (PyObject *)array;
}
