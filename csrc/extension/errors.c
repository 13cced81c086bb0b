/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <string.h>

static int is(const char *name, const char *other) {
  return name != NULL && strcmp(name, other) == 0;
}

/* The index of an element of an array of some axes, in each of them. */
static void unravel(size_t element, const npy_intp *shape, int axes, size_t *indices) {
  while (axes-- > 0) {
    indices[axes] = element % (size_t)shape[axes];
    element /= (size_t)shape[axes];
  }
}

/* "joint_indices[12, 3]" */
static PyObject *fault_place(const sbs_fault *fault, PyArrayObject *array, int inner_axes) {
  size_t indices[4] = {fault->index[0], fault->index[1]};
  int count = fault->index_count;
  PyObject *text = PyUnicode_FromString(fault->argument != NULL ? fault->argument : "input");

  if (array != NULL && count > 0) {
    const int outer_axes = PyArray_NDIM(array) - inner_axes;
    unravel(fault->index[0], PyArray_DIMS(array), outer_axes, indices);
    unravel(fault->index[1], PyArray_DIMS(array) + outer_axes, inner_axes, indices + outer_axes);
    count = count == 2 ? PyArray_NDIM(array) : outer_axes;
  }
  for (int i = 0; i < count && text != NULL; i++) {
    PyObject *longer =
        PyUnicode_FromFormat("%U%s%zu%s", text, i == 0 ? "[" : ", ", indices[i], i + 1 == count ? "]" : "");
    Py_DECREF(text);
    text = longer;
  }
  return text;
}

/* A row of a table of words. */
typedef struct words_for {
  const char *argument, *words;
} words_for;

/* The words for an argument in a table, whose last row is for all others. */
static const char *find_words(const words_for *table, const char *argument) {
  while (table->argument != NULL && !is(table->argument, argument)) table++;
  return table->words;
}

static const words_for empty_words[] = {
    {"vertex_count", "rest_positions is empty: a skin needs at least one vertex"},
    {"joint_count", "joint_count is 0: a skin needs at least one joint"},
    {"influences_per_vertex", "joint_indices is empty: a vertex needs at least one influence"},
    {"capsule_count", "heads is empty: there must be at least one capsule"},
    {"point_count", "points is empty: there must be at least one point"},
    {"shape_count", "shapes is empty: there must be at least one shape"},
    {"enabled", "no capsule is enabled: outside='nearest' needs one"},
    {NULL, NULL},
};

static void raise_empty(const sbs_fault *fault) {
  const char *words = find_words(empty_words, fault->argument);

  if (words != NULL)
    PyErr_SetString(PyExc_ValueError, words);
  else
    PyErr_Format(PyExc_ValueError, "%s must not be empty", fault->argument);
}

static const words_for option_ranges[] = {
    {"damping", "a finite number above 0"},
    {"rcond", "None or between 0 and 1"},
    {"amount", "between 0 and 1"},
    {"strength", "between 0 and 1"},
    {"mask", "between 0 and 1"},
    {"threshold", "between 0 and 1"},
    {"activations", "between 0 and 1"},
    {"sigma", "finite and at least 1e-6"},
    {"refinement", "at least 0.01"},
    {"tolerance", "finite and at least 0"},
    {"radius", "a finite number above 0"},
    {"size", "a finite number above 0"},
    {"reach", "a finite number above 0"},
    {"zone_scale", "a finite number above 0"},
    {"value", "at least 0 and finite, and at most 1 to replace"},
    {"mirror_position", "a finite number"},
    {"points", "a path from origin to insertion, which differ"},
    {"point_count", "2 to 4"},
    {"profile", "between 0 and 1, and somewhere above 0; there are at least 2"},
    {"tendons", "at least 0, and below 1 together"},
    {"flattening", "finite and at least 1"},
    {"most_growth", "finite and at least 1"},
    {"thin_direction", "a direction across the path"},
    {"contraction", "at least 0 and below 1"},
    {"pull", "finite and at least 0"},
    {"bending", "finite and at least 0"},
    {"volume", "finite and at least 0"},
    {"crease", "finite and at least 0"},
    {"thinner", "finite and at least 0"},
    {"thicker", "finite and at least 0"},
    {"allowed", "true for one joint at least"},
    {"initial_indices", "a joint that the vertex may use, once, of at most as many as influences"},
    {"limit", "at least the number of locked joints that influence a vertex"},
    {NULL, "in its range"},
};

static void raise_joint(const sbs_fault *fault, PyObject *place) {
  PyErr_Format(PyExc_ValueError, "%U = %d is out of range for %zd joints", place, (int)fault->value,
               (Py_ssize_t)fault->limit);
}

/* The fault is a single weight, or the weights of a vertex together: their sum, or a joint that occurs twice. */
static void raise_weight(const sbs_fault *fault, PyObject *place, PyObject *value) {
  if (fault->index_count == 2)
    PyErr_Format(PyExc_ValueError, "%U = %S: a weight must be finite and not negative with strict=True", place, value);
  else
    PyErr_Format(PyExc_ValueError, "%U: weights must sum to 1, and joints occur once, with strict=True", place);
}

static void raise_radius(const sbs_fault *fault, PyObject *place, PyObject *value) {
  PyObject *limit;

  if (is(fault->argument, "radius")) {
    PyErr_Format(PyExc_ValueError,
                 "radius[%zd] is too large, or the muscle not within the mesh: vertex %zd is inside it, by %S",
                 (Py_ssize_t)fault->index[0], (Py_ssize_t)fault->index[1], value);
    return;
  }
  limit = PyFloat_FromDouble(fault->limit);
  if (limit == NULL) return;
  PyErr_Format(PyExc_ValueError, "%U is %S, above the outer radius, %S", place, value, limit);
  Py_DECREF(limit);
}

/* Raises statuses with a value at a place. */
static void raise_value(sbs_status status, const sbs_fault *fault, PyObject *place, PyObject *value) {
  switch (status) {
    case SBS_ERROR_TOO_LARGE: PyErr_Format(PyExc_ValueError, "%U = %S is too large", place, value); break;
    case SBS_ERROR_OPTION:
      if (is(fault->argument, "centers")) {
        PyErr_SetString(
            PyExc_ValueError,
            "center='optimized' needs a skin with centers, such as Character.optimized_skin() or Skin(..., centers=)");
        break;
      }
      PyErr_Format(PyExc_ValueError, "%U must be %s, not %S", place, find_words(option_ranges, fault->argument), value);
      break;
    case SBS_ERROR_NOT_FINITE:
      PyErr_Format(PyExc_ValueError, "%U is %S, where a finite number is needed", place, value);
      break;
    case SBS_ERROR_NEGATIVE: PyErr_Format(PyExc_ValueError, "%U is %S, but must not be negative", place, value); break;
    case SBS_ERROR_JOINT_INDEX: raise_joint(fault, place); break;
    case SBS_ERROR_VERTEX_INDEX:
      PyErr_Format(PyExc_ValueError, "%U = %zd is out of range for %zd vertices", place, (Py_ssize_t)fault->value,
                   (Py_ssize_t)fault->limit);
      break;
    case SBS_ERROR_PARENT:
      if (fault->value < -1.0 || fault->value >= fault->limit)
        raise_joint(fault, place);
      else
        PyErr_Format(PyExc_ValueError, "%U = %d: the parents of this joint run in a circle", place, (int)fault->value);
      break;
    case SBS_ERROR_WEIGHT: raise_weight(fault, place, value); break;
    case SBS_ERROR_NOT_AFFINE:
      PyErr_Format(PyExc_ValueError, "%U = %S: the last row of a matrix must be (0, 0, 0, 1); is it transposed?", place,
                   value);
      break;
    case SBS_ERROR_RADIUS: raise_radius(fault, place, value); break;
    case SBS_ERROR_UNWEIGHTED:
      PyErr_Format(PyExc_ValueError, "%zd of %zd points are outside of all outer capsules, the first is %U",
                   (Py_ssize_t)fault->value, (Py_ssize_t)fault->limit, place);
      break;
    default: PyErr_Format(PyExc_SystemError, "%U: %s", place, sbs_status_string(status)); break;
  }
}

void core_raise(const core_state *state, sbs_status status, const sbs_fault *fault, PyArrayObject *array,
                int inner_axes) {
  PyObject *place, *value;

  switch (status) {
    case SBS_ERROR_OUT_OF_MEMORY: PyErr_NoMemory(); return;
    case SBS_ERROR_CANCELLED: /* the exception that cancelled it is raised already */
      if (PyErr_Occurred()) return;
      break;
    case SBS_ERROR_EMPTY: raise_empty(fault); return;
    case SBS_ERROR_NO_CONVERGENCE: PyErr_SetString(state->linalg_error, sbs_status_string(status)); return;
    default: break;
  }
  place = fault_place(fault, array, inner_axes);
  value = PyFloat_FromDouble(fault->value);
  if (place != NULL && value != NULL) raise_value(status, fault, place, value);
  Py_XDECREF(place);
  Py_XDECREF(value);
}
