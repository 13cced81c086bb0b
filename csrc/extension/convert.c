/* SPDX-License-Identifier: MIT */
#include "convert.h"

#include <limits.h>
#include <string.h>

#include "shapes.h"

/* ----------------------------------------------------------------------------------------------------- messages -- */

static PyObject *get_shape(PyArrayObject *array) {
  return PyObject_GetAttrString((PyObject *)array, "shape");
}

static void raise_type(const char *name, PyArrayObject *array, const char *expected) {
  PyErr_Format(PyExc_TypeError, "%s must hold %s, not %S", name, expected, (PyObject *)PyArray_DESCR(array));
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

/* ------------------------------------------------------------------------------------------------------- shapes -- */

/* Nouns for letters of shapes whose length an object or a number gives. */
static const char *const counted[26] = {['B' - 'A'] = "bones",   ['F' - 'A'] = "frames",   ['J' - 'A'] = "joints",
                                        ['M' - 'A'] = "muscles", ['V' - 'A'] = "vertices", ['W' - 'A'] = "influences"};

/* An array that gave a letter its length, best one of the same shape; NULL if none did. */
static const core_value *find_other(const core_call *call, const core_row *row, char letter) {
  const core_value *found = NULL;

  for (size_t i = 0; i < call->argument_count; i++) {
    const core_value *other = &call->values[i];
    if (other->array == NULL || strchr(other->row->shape, letter) == NULL) continue;
    if (strcmp(other->row->shape, row->shape) == 0) return other;
    if (found == NULL) found = other;
  }
  return found;
}

static void raise_expected(const core_call *call, const core_row *row, PyArrayObject *array, char letter) {
  const int is_known = letter != '\0' || row->kind == CORE_OUTPUT;
  const char *hint = !is_known && row->hint != NULL ? row->hint : "";
  const char *noun = letter != '\0' ? counted[letter - 'A'] : NULL;
  PyObject *shape = get_shape(array);
  char expected[120];

  if (shape == NULL) return;
  if (is_known)
    core_write_shape(row->shape, call->lengths, expected, sizeof expected);
  else
    PyOS_snprintf(expected, sizeof expected, "%s", row->shape);
  if (noun != NULL)
    PyErr_Format(PyExc_ValueError, "%s has shape %R, expected %s for %zd %s", row->name, shape, expected,
                 (Py_ssize_t)core_length(call, letter), noun);
  else
    PyErr_Format(PyExc_ValueError, "%s has shape %R, expected %s%s", row->name, shape, expected, hint);
  Py_DECREF(shape);
}

static void raise_disagreement(const core_value *other, const char *name, PyArrayObject *array) {
  PyObject *other_shape = get_shape(other->array), *shape = get_shape(array);

  if (other_shape != NULL && shape != NULL)
    PyErr_Format(PyExc_ValueError, "%s has shape %R, %s %R", other->row->name, other_shape, name, shape);
  Py_XDECREF(other_shape);
  Py_XDECREF(shape);
}

/* Whether an array has the shape of its argument; raises if not. */
static int check_shape(core_call *call, const core_row *row, PyArrayObject *array) {
  char letter = '\0';
  const core_value *other = NULL;
  const int match = core_match_shape(row->shape, array, call->lengths, &letter);

  if (match == CORE_SHAPE_FITS) return 1;
  if (match == CORE_SHAPE_OTHER) letter = '\0';
  if (letter != '\0' && row->kind != CORE_OUTPUT) other = find_other(call, row, letter);
  if (other != NULL)
    raise_disagreement(other, row->name, array);
  else
    raise_expected(call, row, array, letter);
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- arrays -- */

/* Whether nobody can write to an array: neither through it nor through the array that it is a view of. */
static int is_frozen(PyArrayObject *array) {
  for (;;) {
    PyObject *base = PyArray_BASE(array);
    if (PyArray_ISWRITEABLE(array)) return 0;
    if (base == NULL) return PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA);
    if (!PyArray_Check(base)) return PyBytes_Check(base);
    array = (PyArrayObject *)base;
  }
}

/* Whether an array has to be copied if it is kept. A list was copied when it became an array. */
static int is_shared(PyObject *object, PyArrayObject *array) {
  return !PyList_Check(object) && !PyTuple_Check(object) && !is_frozen(array);
}

/* An array of any type and layout; a new reference. */
static PyArrayObject *find_array(PyObject *object, const char *name) {
  PyObject *array = PyArray_FromAny(object, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);

  if (array == NULL) name_in_exception(name);
  return (PyArrayObject *)array;
}

/* An array as one of another type; takes the reference. */
static PyArrayObject *cast(PyArrayObject *array, int type, int copies) {
  const int flags = NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST | (copies ? NPY_ARRAY_ENSURECOPY : 0);
  PyObject *result = PyArray_FromArray(array, PyArray_DescrFromType(type), flags);

  Py_DECREF(array);
  return (PyArrayObject *)result;
}

PyArrayObject *core_find_array(PyObject *object, const char *name, int keeps, PyArray_Descr *dtype) {
  PyArrayObject *array = find_array(object, name);

  if (array == NULL) return NULL;
  return cast(array, dtype != NULL ? dtype->type_num : PyArray_TYPE(array), keeps && is_shared(object, array));
}

int core_numpy_type(const core_call *call, core_kind kind) {
  switch (kind) {
    case CORE_REALS:
    case CORE_MATRICES:
    case CORE_SAME:
    case CORE_OUTPUT: return call->type;
    case CORE_INT32: return NPY_INT32;
    case CORE_FLAGS: return NPY_BOOL;
    case CORE_INTP: return NPY_INTP;
    case CORE_FLOATS: return NPY_FLOAT;
    default: return NPY_DOUBLE;
  }
}

/* The type that an array is cast to for a kind; raises and returns -1 if its own is unfit. */
static int find_type(core_call *call, core_kind kind, const char *name, PyArrayObject *array) {
  const int is_real = kind == CORE_REALS || kind == CORE_MATRICES;
  int type = PyArray_TYPE(array);

  if (kind == CORE_FLAGS) {
    if (type == NPY_BOOL) return type;
    raise_type(name, array, "bool");
    return -1;
  }
  if (kind == CORE_INT32) {
    if (!PyTypeNum_ISINTEGER(type)) {
      raise_type(name, array, "integers");
      return -1;
    }
    if (PyArray_CanCastSafely(type, NPY_INT32)) return NPY_INT32;
    return PyTypeNum_ISUNSIGNED(type) ? NPY_UINT64 : NPY_INT64;
  }
  if (type == NPY_HALF) {
    type = NPY_FLOAT;
  } else if (type == NPY_BOOL || PyTypeNum_ISINTEGER(type)) {
    type = NPY_DOUBLE;
  } else if (type != NPY_FLOAT && type != NPY_DOUBLE) {
    raise_type(name, array, "real numbers (float32, float64 or numbers that fit in them)");
    return -1;
  }
  if (is_real && call->typed_by == NULL) {
    call->type = type;
    call->typed_by = name;
  }
  return is_real ? type : core_numpy_type(call, kind);
}

/* Raises that a number in an array does not fit. */
static void raise_does_not_fit(const char *name, PyArrayObject *array, npy_intp position) {
  PyObject *number = PyArray_GETITEM(array, PyArray_BYTES(array) + position * PyArray_ITEMSIZE(array));

  if (number == NULL) return;
  if (PyArray_NDIM(array) == 2) {
    const npy_intp columns = PyArray_DIM(array, 1);
    PyErr_Format(PyExc_ValueError, "%s[%zd, %zd] = %S is out of range", name, (Py_ssize_t)(position / columns),
                 (Py_ssize_t)(position % columns), number);
  } else {
    PyErr_Format(PyExc_ValueError, "%s[%zd] = %S is out of range", name, (Py_ssize_t)position, number);
  }
  Py_DECREF(number);
}

/* Makes int32 of a contiguous array of int64 or uint64, value by value, so that nothing wraps; takes the reference. */
static PyArrayObject *narrow(const char *name, PyArrayObject *wide) {
  const int is_signed = PyArray_TYPE(wide) == NPY_INT64;
  const npy_intp size = PyArray_SIZE(wide);
  PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(wide), PyArray_DIMS(wide), NPY_INT32);
  npy_int32 *out = result != NULL ? PyArray_DATA(result) : NULL;

  for (npy_intp i = 0; result != NULL && i < size; i++) {
    const npy_int64 value = ((const npy_int64 *)PyArray_DATA(wide))[i]; /* of a uint64: the same if it fits */
    if (value > NPY_MAX_INT32 || value < (is_signed ? NPY_MIN_INT32 : 0)) {
      raise_does_not_fit(name, wide, i);
      Py_CLEAR(result);
    } else {
      out[i] = (npy_int32)value;
    }
  }
  Py_DECREF(wide);
  return result;
}

static PyArrayObject *convert_input(core_call *call, const core_row *row, PyObject *object) {
  PyArrayObject *array = find_array(object, row->name);
  int type;

  if (array == NULL) return NULL;
  if (!check_shape(call, row, array) || (type = find_type(call, row->kind, row->name, array)) < 0) {
    Py_DECREF(array);
    return NULL;
  }
  const int is_wide = type == NPY_INT64 || type == NPY_UINT64;
  /* Indices are checked first and used without the global interpreter lock, when others may write to their array. */
  const int copies = call->keeps || row->kind == CORE_INT32;
  array = cast(array, type, copies && !is_wide && is_shared(object, array));
  return array != NULL && is_wide ? narrow(row->name, array) : array;
}

/* A property that an output must have and lacks; NULL if there is none. */
static const char *find_lack(PyArrayObject *array) {
  if (!PyArray_ISWRITEABLE(array)) return "writeable";
  if (!PyArray_IS_C_CONTIGUOUS(array)) return "C-contiguous";
  if (!PyArray_ISALIGNED(array)) return "aligned";
  if (!PyArray_ISNOTSWAPPED(array)) return "in native byte order";
  return NULL;
}

static PyArrayObject *convert_output(core_call *call, const core_row *row, PyObject *object) {
  PyArrayObject *array = (PyArrayObject *)object;

  if (!PyArray_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be an array, not %R", row->name, (PyObject *)Py_TYPE(object));
    return NULL;
  }
  const int type = PyArray_TYPE(array);
  const char *lack = find_lack(array);
  if (lack != NULL) {
    PyErr_Format(PyExc_ValueError, "%s must be %s", row->name, lack);
    return NULL;
  }
  if (!check_shape(call, row, array)) return NULL;
  if (call->typed_by == NULL && type != NPY_FLOAT && type != NPY_DOUBLE) {
    PyErr_Format(PyExc_ValueError, "%s must be float32 or float64, not %S", row->name,
                 (PyObject *)PyArray_DESCR(array));
    return NULL;
  }
  if (call->typed_by != NULL && type != call->type) {
    PyErr_Format(PyExc_ValueError, "%s must be %s like %s, not %S", row->name,
                 call->type == NPY_FLOAT ? "float32" : "float64", call->typed_by, (PyObject *)PyArray_DESCR(array));
    return NULL;
  }
  if (call->typed_by == NULL) {
    call->type = type;
    call->typed_by = row->name;
  }
  return (PyArrayObject *)Py_NewRef(object);
}

PyArrayObject *core_convert_array(core_call *call, const core_row *row, PyObject *object) {
  return row->kind == CORE_OUTPUT ? convert_output(call, row, object) : convert_input(call, row, object);
}

/* ------------------------------------------------------------------------------------------------------ numbers -- */

/* An integer, cut off at the range of Py_ssize_t; raises and returns 0 if it is none. */
static int convert_integer(const core_row *row, PyObject *object, PyObject **integer, Py_ssize_t *value) {
  *integer = PyNumber_Index(object);
  if (*integer == NULL) {
    PyErr_Format(PyExc_TypeError, "%s must be %san integer, not %R", row->name,
                 row->kind != CORE_INDEX || row->none ? "None or " : "", (PyObject *)Py_TYPE(object));
    return 0;
  }
  *value = PyNumber_AsSsize_t(*integer, NULL); /* NULL: cut off */
  return 1;
}

static int convert_count(core_call *call, const core_row *row, PyObject *object, void *field) {
  PyObject *integer;
  Py_ssize_t value;

  if (object == Py_None) return 1;
  if (!convert_integer(row, object, &integer, &value)) return 0;
  if (value < 1) PyErr_Format(PyExc_ValueError, "%s must be None or at least 1, not %S", row->name, integer);
  Py_DECREF(integer);
  if (value < 1) return 0;
  if (row->kind == CORE_THREADS)
    *(int *)field = value < INT_MAX ? (int)value : INT_MAX;
  else
    *(size_t *)field = (size_t)value;
  if (row->shape != NULL) core_set_length(call, row->shape[0], (size_t)value);
  return 1;
}

static int convert_index(const core_row *row, PyObject *object, Py_ssize_t *field) {
  PyObject *integer;

  if (object == Py_None && row->none) {
    *field = -1;
    return 1;
  }
  if (!convert_integer(row, object, &integer, field)) return 0;
  if (row->none && *field < 0) PyErr_Format(PyExc_ValueError, "%s = %S is out of range", row->name, integer);
  Py_DECREF(integer);
  return !row->none || *field >= 0;
}

static int convert_real(const core_row *row, PyObject *object, double *field) {
  double value;

  if (row->none && object == Py_None) return 1;
  value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s must be a real number, not %R", row->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  if (row->none && value == 0.0) {
    PyErr_Format(PyExc_ValueError, "%s must be None or between 0 and 1, not 0.0", row->name);
    return 0;
  }
  *field = value;
  return 1;
}

static int convert_flag(PyObject *object, int *field) {
  *field = PyObject_IsTrue(object);
  return *field >= 0;
}

static void raise_word(const core_row *row, PyObject *object) {
  PyObject *words = PyList_New(0);

  for (int i = 0; words != NULL && row->words[i] != NULL; i++) {
    PyObject *word = PyUnicode_FromString(row->words[i]);
    if (word == NULL || PyList_Append(words, word) < 0) Py_CLEAR(words);
    Py_XDECREF(word);
  }
  if (words == NULL) return;
  PyErr_Format(PyExc_ValueError, "%s must be one of %R, not %R", row->name, words, object);
  Py_DECREF(words);
}

static int convert_word(const core_row *row, PyObject *object, int *field) {
  if (row->none && object == Py_None) {
    *field = -1;
    return 1;
  }
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", row->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  for (int i = 0; row->words[i] != NULL; i++) {
    if (PyUnicode_CompareWithASCIIString(object, row->words[i]) == 0) {
      *field = i;
      return 1;
    }
  }
  raise_word(row, object);
  return 0;
}

static int convert_callable(const core_row *row, PyObject *object, PyObject **field) {
  if (object != Py_None && !PyCallable_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be None or callable, not %R", row->name, (PyObject *)Py_TYPE(object));
    return 0;
  }
  *field = object == Py_None ? NULL : object;
  return 1;
}

static int convert_instance(core_call *call, const core_row *row, PyObject *object, void *field) {
  PyTypeObject *type = (PyTypeObject *)core_get_state(call)->types[row->type_number];
  const core_object *instance = (const core_object *)object;

  if (object == Py_None && row->optional) return 1;
  if (!PyObject_TypeCheck(object, type)) {
    PyErr_Format(PyExc_TypeError, "%s must be %s%s, not %R", row->name, row->optional ? "None or " : "", row->type,
                 (PyObject *)Py_TYPE(object));
    return 0;
  }
  for (const char *letter = row->shape != NULL ? row->shape : ""; *letter != '\0'; letter++) {
    const npy_intp length = instance->lengths[*letter - 'A'], known = call->lengths[*letter - 'A'];
    if (known >= 0 && known != length) {
      PyErr_Format(PyExc_ValueError, "%s is of %zd %s, where there are %zd", row->name, (Py_ssize_t)length,
                   counted[*letter - 'A'], (Py_ssize_t)known);
      return 0;
    }
    core_set_length(call, *letter, (size_t)length);
  }
  memcpy(field, &instance, sizeof instance);
  return 1;
}

int core_convert(core_call *call, const core_row *row, PyObject *object, void *field) {
  switch (row->kind) {
    case CORE_REAL: return convert_real(row, object, field);
    case CORE_INDEX: return convert_index(row, object, field);
    case CORE_FLAG: return convert_flag(object, field);
    case CORE_WORD: return convert_word(row, object, field);
    case CORE_OBJECT: *(PyObject **)field = object == Py_None ? NULL : object; return 1;
    case CORE_CALLABLE: return convert_callable(row, object, field);
    case CORE_INSTANCE: return convert_instance(call, row, object, field);
    default: return convert_count(call, row, object, field);
  }
}
