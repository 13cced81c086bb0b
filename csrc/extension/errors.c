/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <string.h>

static int is(const char *name, const char *other) {
  return name != NULL && strcmp(name, other) == 0;
}

/* "joint_indices[12, 3]" */
static PyObject *fault_place(const sbs_fault *fault, const npy_intp *shape) {
  const Py_ssize_t row = (Py_ssize_t)fault->index[0], column = (Py_ssize_t)fault->index[1];

  if (shape != NULL && is(fault->argument, "skinning_matrices") && fault->index_count > 0) {
    PyObject *matrix = shape[0] > 0 ? PyUnicode_FromFormat("%zd, %zd", row / shape[1], row % shape[1])
                                    : PyUnicode_FromFormat("%zd", row);
    PyObject *place = NULL;
    if (matrix != NULL && fault->index_count == 1)
      place = PyUnicode_FromFormat("skinning_matrices[%U]", matrix);
    else if (matrix != NULL)
      place = PyUnicode_FromFormat("skinning_matrices[%U, %zd, %zd]", matrix, column / shape[3], column % shape[3]);
    Py_XDECREF(matrix);
    return place;
  }
  if (shape != NULL && is(fault->argument, "posed") && fault->index_count == 2)
    return PyUnicode_FromFormat("posed[%zd, %zd, %zd]", row / shape[2], row % shape[2], column);
  switch (fault->index_count) {
    case 0: return PyUnicode_FromString(fault->argument != NULL ? fault->argument : "input");
    case 1: return PyUnicode_FromFormat("%s[%zd]", fault->argument, row);
    default: return PyUnicode_FromFormat("%s[%zd, %zd]", fault->argument, row, column);
  }
}

static void raise_empty(const sbs_fault *fault) {
  if (is(fault->argument, "vertex_count"))
    PyErr_SetString(PyExc_ValueError, "rest_positions is empty: a skin needs at least one vertex");
  else if (is(fault->argument, "joint_count"))
    PyErr_SetString(PyExc_ValueError, "joint_count is 0: a skin needs at least one joint");
  else if (is(fault->argument, "influences_per_vertex"))
    PyErr_SetString(PyExc_ValueError, "joint_indices is empty: a vertex needs at least one influence");
  else if (is(fault->argument, "capsule_count"))
    PyErr_SetString(PyExc_ValueError, "heads is empty: there must be at least one capsule");
  else if (is(fault->argument, "point_count"))
    PyErr_SetString(PyExc_ValueError, "points is empty: there must be at least one point");
  else if (is(fault->argument, "shape_count"))
    PyErr_SetString(PyExc_ValueError, "shapes is empty: there must be at least one shape");
  else if (is(fault->argument, "enabled"))
    PyErr_SetString(PyExc_ValueError, "no capsule is enabled: outside='nearest' needs one");
  else
    PyErr_Format(PyExc_ValueError, "%s must not be empty", fault->argument);
}

static const char *option_range(const char *option) {
  if (is(option, "damping")) return "a finite number above 0";
  if (is(option, "rcond")) return "None or between 0 and 1";
  if (is(option, "amount") || is(option, "strength") || is(option, "mask") || is(option, "threshold"))
    return "between 0 and 1";
  if (is(option, "sigma")) return "finite and at least 1e-6";
  if (is(option, "refinement")) return "at least 0.01";
  if (is(option, "tolerance")) return "finite and at least 0";
  if (is(option, "radius") || is(option, "size")) return "a finite number above 0";
  if (is(option, "value")) return "at least 0 and finite, and at most 1 to replace";
  if (is(option, "mirror_position")) return "a finite number";
  if (is(option, "points")) return "a path from origin to insertion, which differ";
  if (is(option, "point_count")) return "2 to 4";
  if (is(option, "profile")) return "between 0 and 1, and somewhere above 0; there are at least 2";
  if (is(option, "tendons")) return "at least 0, and below 1 together";
  if (is(option, "flattening") || is(option, "most_growth")) return "finite and at least 1";
  if (is(option, "thin_direction")) return "a direction across the path";
  if (is(option, "contraction")) return "at least 0 and below 1";
  if (is(option, "reach") || is(option, "zone_scale")) return "a finite number above 0";
  if (is(option, "activations")) return "between 0 and 1";
  if (is(option, "pull") || is(option, "bending") || is(option, "volume") || is(option, "crease") ||
      is(option, "thinner") || is(option, "thicker"))
    return "finite and at least 0";
  if (is(option, "allowed")) return "true for one joint at least";
  if (is(option, "initial_indices")) return "a joint that the vertex may use, once, of at most as many as influences";
  if (is(option, "limit")) return "at least the number of locked joints that influence a vertex";
  return "in its range";
}

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
      PyErr_Format(PyExc_ValueError, "%U must be %s, not %S", place, option_range(fault->argument), value);
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

void core_raise(const core_state *state, sbs_status status, const sbs_fault *fault, const npy_intp *shape) {
  PyObject *place, *value;

  switch (status) {
    case SBS_ERROR_OUT_OF_MEMORY: PyErr_NoMemory(); return;
    case SBS_ERROR_CANCELLED: /* the exception that cancelled it is raised already */
      if (PyErr_Occurred()) return;
      break;
    case SBS_ERROR_EMPTY: raise_empty(fault); return;
    case SBS_ERROR_NO_CONVERGENCE: PyErr_SetString(state->linalg_error, sbs_status_string(status)); return;
    case SBS_ERROR_NO_LAPACK: PyErr_SetString(PyExc_RuntimeError, sbs_status_string(status)); return;
    default: break;
  }
  place = fault_place(fault, shape);
  value = PyFloat_FromDouble(fault->value);
  if (place != NULL && value != NULL) raise_value(status, fault, place, value);
  Py_XDECREF(place);
  Py_XDECREF(value);
}
