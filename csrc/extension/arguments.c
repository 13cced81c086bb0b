/* SPDX-License-Identifier: MIT */
#include "arguments.h"

/* ----------------------------------------------------------------------------------------------------- messages -- */

static PyObject *shape_of(const core_array *argument) {
  return PyObject_GetAttrString((PyObject *)argument->array, "shape");
}

void core_raise_shape(const core_array *argument, const char *expected) {
  PyObject *shape = shape_of(argument);

  if (shape == NULL) return;
  PyErr_Format(PyExc_ValueError, "%s has shape %R, expected %s", argument->name, shape, expected);
  Py_DECREF(shape);
}

static void raise_type(const core_array *argument, const char *expected) {
  PyErr_Format(PyExc_TypeError, "%s must hold %s, not %S", argument->name, expected,
               (PyObject *)PyArray_DESCR(argument->array));
}

/* Prefixes NumPy's message with the name of the argument. */
static void name_in_exception(const char *name) {
  PyObject *kind = PyErr_ExceptionMatches(PyExc_ValueError) ? PyExc_ValueError : PyExc_TypeError;
  PyObject *type, *value, *traceback;

  if (!PyErr_ExceptionMatches(kind)) return;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_Format(kind, "%s: %S", name, value != NULL ? value : Py_None);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}

int core_check_length(const core_array *argument, int axis, npy_intp length) {
  if (PyArray_DIM(argument->array, axis) == length) return 1;
  core_raise_shape(argument, argument->shape);
  return 0;
}

int core_check_agreement(const core_array *first, const core_array *second, int axis) {
  PyObject *first_shape, *second_shape;

  if (PyArray_DIM(first->array, axis) == PyArray_DIM(second->array, axis)) return 1;
  first_shape = shape_of(first);
  second_shape = shape_of(second);
  if (first_shape != NULL && second_shape != NULL)
    PyErr_Format(PyExc_ValueError, "%s has shape %R, %s %R", first->name, first_shape, second->name, second_shape);
  Py_XDECREF(first_shape);
  Py_XDECREF(second_shape);
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- arrays -- */

void core_release(core_array *argument) {
  Py_CLEAR(argument->array);
}

/* Whether nobody can write to an array: neither through it nor through what it is a view of. */
static int is_frozen(PyArrayObject *array) {
  for (;;) {
    PyObject *base = PyArray_BASE(array);
    if (PyArray_ISWRITEABLE(array)) return 0;
    if (base == NULL) return PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
    if (!PyArray_Check(base)) return PyBytes_Check(base);
    array = (PyArrayObject *)base;
  }
}

/* Any object as an array with the right number of dimensions, of any type and layout. *done: it is an allowed None. */
static int convert_any(PyObject *object, core_array *argument, int *done) {
  *done = argument->optional && object == Py_None;
  if (*done) return 1;
  argument->array = (PyArrayObject *)PyArray_FromAny(object, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
  if (argument->array == NULL) {
    name_in_exception(argument->name);
    return 0;
  }
  if (argument->dimensions != CORE_ANY_DIMENSIONS && PyArray_NDIM(argument->array) != argument->dimensions) {
    core_raise_shape(argument, argument->shape);
    return 0;
  }
  /* what lists hold was copied just now; other objects may go on showing their memory to others */
  if (PyList_Check(object) || PyTuple_Check(object) || is_frozen(argument->array)) argument->kept = 0;
  return 1;
}

int core_cast(core_array *argument, int type) {
  PyArrayObject *array = argument->array;
  const int flags = NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST | (argument->kept ? NPY_ARRAY_ENSURECOPY : 0);

  argument->kept = 0;
  argument->array = (PyArrayObject *)PyArray_FromArray(array, PyArray_DescrFromType(type), flags);
  Py_DECREF(array);
  return argument->array != NULL ? 0 : -1;
}

static int convert_to_reals(PyObject *object, core_array *argument, int always_double) {
  int done, type;

  if (!convert_any(object, argument, &done)) return 0;
  if (done) return 1;
  type = PyArray_TYPE(argument->array);
  if (type == NPY_HALF) {
    type = NPY_FLOAT;
  } else if (type == NPY_BOOL || PyTypeNum_ISINTEGER(type)) {
    type = NPY_DOUBLE;
  } else if (type != NPY_FLOAT && type != NPY_DOUBLE) {
    raise_type(argument, "real numbers (float32, float64 or what fits in them)");
    return 0;
  }
  return core_cast(argument, always_double ? NPY_DOUBLE : type) == 0;
}

int core_convert_reals(PyObject *object, void *core_array_address) {
  return convert_to_reals(object, core_array_address, 0);
}

int core_convert_doubles(PyObject *object, void *core_array_address) {
  return convert_to_reals(object, core_array_address, 1);
}

int core_convert_flags(PyObject *object, void *core_array_address) {
  core_array *argument = core_array_address;
  int done;

  if (!convert_any(object, argument, &done)) return 0;
  if (done) return 1;
  if (PyArray_TYPE(argument->array) != NPY_BOOL) {
    raise_type(argument, "bool");
    return 0;
  }
  return core_cast(argument, NPY_BOOL) == 0;
}

/* Raises that a number in an array of one or two dimensions does not fit. */
static void raise_does_not_fit(const core_array *argument, npy_intp position) {
  PyObject *number =
      PyArray_GETITEM(argument->array, PyArray_BYTES(argument->array) + position * PyArray_ITEMSIZE(argument->array));

  if (number == NULL) return;
  if (argument->dimensions == 2) {
    const npy_intp columns = PyArray_DIM(argument->array, 1);
    PyErr_Format(PyExc_ValueError, "%s[%zd, %zd] = %S is out of range", argument->name,
                 (Py_ssize_t)(position / columns), (Py_ssize_t)(position % columns), number);
  } else {
    PyErr_Format(PyExc_ValueError, "%s[%zd] = %S is out of range", argument->name, (Py_ssize_t)position, number);
  }
  Py_DECREF(number);
}

/* Makes int32 of a contiguous array of int64 or uint64, value by value, so that nothing wraps. */
static int narrow(core_array *argument) {
  PyArrayObject *wide = argument->array;
  const int is_signed = PyArray_TYPE(wide) == NPY_INT64;
  const npy_intp size = PyArray_SIZE(wide);
  PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(argument->dimensions, PyArray_DIMS(wide), NPY_INT32);
  npy_int32 *out;

  if (result == NULL) return -1;
  out = PyArray_DATA(result);
  for (npy_intp i = 0; i < size; i++) {
    const npy_int64 value = ((const npy_int64 *)PyArray_DATA(wide))[i]; /* of a uint64: the same if it fits */
    if (value > NPY_MAX_INT32 || value < (is_signed ? NPY_MIN_INT32 : 0)) {
      raise_does_not_fit(argument, i);
      Py_DECREF(result);
      return -1;
    }
    out[i] = (npy_int32)value;
  }
  argument->array = result;
  Py_DECREF(wide);
  return 0;
}

int core_convert_int32(PyObject *object, void *core_array_address) {
  core_array *argument = core_array_address;
  int done, type;

  if (!convert_any(object, argument, &done)) return 0;
  if (done) return 1;
  type = PyArray_TYPE(argument->array);
  if (!PyTypeNum_ISINTEGER(type)) {
    raise_type(argument, "integers");
    return 0;
  }
  if (PyArray_CanCastSafely(type, NPY_INT32)) return core_cast(argument, NPY_INT32) == 0;
  argument->kept = 0; /* it is copied below */
  if (core_cast(argument, PyTypeNum_ISUNSIGNED(type) ? NPY_UINT64 : NPY_INT64) < 0) return 0;
  return narrow(argument) == 0;
}

int core_convert_output(PyObject *object, void *core_array_address) {
  core_array *argument = core_array_address;
  const char *wrong = NULL;
  PyArrayObject *array;

  if (argument->optional && object == Py_None) return 1;
  if (!PyArray_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be an array, not %R", argument->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  array = (PyArrayObject *)object;
  if (!PyArray_ISWRITEABLE(array))
    wrong = "writeable";
  else if (!PyArray_IS_C_CONTIGUOUS(array))
    wrong = "C-contiguous";
  else if (!PyArray_ISALIGNED(array))
    wrong = "aligned";
  else if (!PyArray_ISNOTSWAPPED(array))
    wrong = "in native byte order";
  if (wrong != NULL) {
    PyErr_Format(PyExc_ValueError, "%s must be %s", argument->name, wrong);
    return 0;
  }
  Py_INCREF(object);
  argument->array = array;
  return 1;
}

/* ------------------------------------------------------------------------------------------------------ numbers -- */

int core_convert_count(PyObject *object, void *core_count_address) {
  core_count *argument = core_count_address;
  PyObject *integer;
  Py_ssize_t value;

  if (object == Py_None) return 1;
  integer = PyNumber_Index(object);
  if (integer == NULL) {
    PyErr_Format(PyExc_TypeError, "%s must be None or an integer, not %R", argument->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  value = PyNumber_AsSsize_t(integer, NULL); /* NULL: clipped to the range of Py_ssize_t */
  if (value < 1) {
    PyErr_Format(PyExc_ValueError, "%s must be None or at least 1, not %S", argument->name, integer);
    Py_DECREF(integer);
    return 0;
  }
  Py_DECREF(integer);
  argument->value = value < argument->largest ? value : argument->largest;
  return 1;
}

int core_convert_real(PyObject *object, void *core_real_address) {
  core_real *argument = core_real_address;
  double value;

  if (argument->optional && object == Py_None) return 1;
  value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s must be a real number, not %R", argument->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  argument->value = value;
  argument->given = 1;
  return 1;
}

static void raise_choice(const core_choice *argument, PyObject *object) {
  PyObject *words = PyList_New(0);

  for (int i = 0; words != NULL && argument->words[i] != NULL; i++) {
    PyObject *word = PyUnicode_FromString(argument->words[i]);
    if (word == NULL || PyList_Append(words, word) < 0) Py_CLEAR(words);
    Py_XDECREF(word);
  }
  if (words == NULL) return;
  PyErr_Format(PyExc_ValueError, "%s must be one of %R, not %R", argument->name, words, object);
  Py_DECREF(words);
}

int core_convert_choice(PyObject *object, void *core_choice_address) {
  core_choice *argument = core_choice_address;

  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", argument->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  for (int i = 0; argument->words[i] != NULL; i++) {
    if (PyUnicode_CompareWithASCIIString(object, argument->words[i]) == 0) {
      argument->value = i;
      return 1;
    }
  }
  raise_choice(argument, object);
  return 0;
}
