/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "skin_methods.h"

/* ------------------------------------------------------------------------------------------------------- update -- */

typedef struct update_call {
  core_call call;
  PyArrayObject *vertices, *joint_indices, *joint_weights;
  PyArrayObject *arrays[CORE_HELD_COUNT]; /* those of the new skin; borrowed */
  sbs_skin_options options;
  sbs_weight_report report;
  sbs_skin *skin;
} update_call;

static const core_argument update_arguments[] = {
    {"vertices", CORE_INT32, .at = offsetof(update_call, vertices), "(M,)"},
    {"joint_indices", CORE_INT32, .at = offsetof(update_call, joint_indices), "(M, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(update_call, joint_weights), "(M, K)"},
    {"strict", CORE_FLAG, .at = offsetof(update_call, options.strict), .optional = 1},
};

static void set_update_defaults(void *address) {
  ((update_call *)address)->options = sbs_default_skin_options();
}

/*
 * Copies the rows of one matrix to another of the same type that is at least as wide. rows: their places there, or
 * NULL: in order.
 */
static void copy_rows(PyArrayObject *to, const npy_int32 *rows, PyArrayObject *from) {
  const size_t size = (size_t)PyArray_ITEMSIZE(to);
  const size_t width = (size_t)PyArray_DIM(to, 1) * size, given = (size_t)PyArray_DIM(from, 1) * size;
  const npy_intp count = PyArray_DIM(from, 0);

  if (rows == NULL && width == given) {
    memcpy(PyArray_DATA(to), PyArray_DATA(from), (size_t)count * width);
    return;
  }
  for (npy_intp i = 0; i < count; i++) {
    char *row = (char *)PyArray_DATA(to) + (size_t)(rows != NULL ? rows[i] : i) * width;
    memcpy(row, (const char *)PyArray_DATA(from) + (size_t)i * given, given);
    memset(row + given, 0, width - given);
  }
}

/* A copy of a skin's array with some rows replaced, as wide and of as large a type as both need. */
static PyObject *replace_rows(PyArrayObject *held, PyArrayObject *vertices, PyArrayObject *rows) {
  const npy_intp width = PyArray_DIM(held, 1), given = PyArray_DIM(rows, 1);
  const npy_intp shape[2] = {PyArray_DIM(held, 0), width > given ? width : given};
  const int type = PyArray_TYPE(held) == NPY_FLOAT ? PyArray_TYPE(rows) : PyArray_TYPE(held);
  PyArrayObject *from = (PyArrayObject *)PyArray_FromArray(held, PyArray_DescrFromType(type), NPY_ARRAY_IN_ARRAY);
  PyArrayObject *to = (PyArrayObject *)PyArray_FromArray(rows, PyArray_DescrFromType(type), NPY_ARRAY_IN_ARRAY);
  PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(2, shape, type);

  if (from == NULL || to == NULL) Py_CLEAR(result);
  if (result != NULL) {
    copy_rows(result, NULL, from);
    copy_rows(result, PyArray_DATA(vertices), to);
  }
  Py_XDECREF((PyObject *)from);
  Py_XDECREF((PyObject *)to);
  return (PyObject *)result;
}

static int check_vertices(const core_skin *self, PyArrayObject *vertices) {
  const npy_int32 *vertex = PyArray_DATA(vertices);
  const npy_intp count = PyArray_DIM(vertices, 0);

  for (npy_intp i = 0; i < count; i++) {
    if (vertex[i] < 0 || (size_t)vertex[i] >= self->info.vertex_count) {
      PyErr_Format(PyExc_ValueError, "vertices[%zd] = %d is out of range for %zd vertices", (Py_ssize_t)i,
                   (int)vertex[i], (Py_ssize_t)self->info.vertex_count);
      return 0;
    }
  }
  return 1;
}

static int prepare_update(void *address) {
  update_call *given = address;
  const core_skin *self = core_self(given);
  PyObject *indices, *weights;

  if (!check_vertices(self, given->vertices)) return 0;
  indices = replace_rows(self->held[CORE_JOINT_INDICES], given->vertices, given->joint_indices);
  weights = replace_rows(self->held[CORE_JOINT_WEIGHTS], given->vertices, given->joint_weights);
  if ((core_hold(given, indices) & core_hold(given, weights)) == 0) return 0;
  memcpy(given->arrays, self->held, sizeof given->arrays);
  given->arrays[CORE_JOINT_INDICES] = (PyArrayObject *)indices;
  given->arrays[CORE_JOINT_WEIGHTS] = (PyArrayObject *)weights;
  return 1;
}

/* Turns a fault at a vertex into one at the row that the caller gave for it, the last if there are several. */
static void name_row(sbs_fault *fault, PyArrayObject *vertices) {
  const npy_int32 *vertex = PyArray_DATA(vertices);

  if (fault->index_count == 0) return;
  for (npy_intp i = PyArray_DIM(vertices, 0) - 1; i >= 0; i--) {
    if ((size_t)vertex[i] == fault->index[0]) {
      fault->index[0] = (size_t)i;
      return;
    }
  }
}

static sbs_status run_update(void *address, sbs_fault *fault) {
  update_call *given = address;
  const core_skin *self = core_self(given);
  const sbs_skin_desc desc = core_describe_skin(given->arrays, self->twist, self->info.joint_count);
  const sbs_status status =
      sbs_skin_update(self->skin, &desc, PyArray_DATA(given->vertices), core_length(&given->call, 'M'), &given->options,
                      &given->skin, &given->report, fault);

  if (status != SBS_OK) name_row(fault, given->vertices);
  return status;
}

static PyObject *finish_update(void *address) {
  update_call *given = address;

  return core_wrap_skin((PyObject *)Py_TYPE(given->call.self), given->skin, &given->report, given->arrays,
                        ((core_skin *)given->call.self)->twist);
}

CORE_ENTRY(enter_update, core_update_skin, update_call)

const core_function core_update_skin = {
    .name = "update",
    .summary = "A skin with other influences at some vertices; the same as if it was made anew.",
    .parts = {CORE_PART(update_arguments)},
    .positional = 3,
    .returns = "Skin",
    .size = sizeof(update_call),
    .set_defaults = set_update_defaults,
    .prepare = prepare_update,
    .run = run_update,
    .finish = finish_update,
    .entry = enter_update,
};

/* ---------------------------------------------------------------------------------------------- other positions -- */

static double number_at(PyArrayObject *array, size_t at) {
  const void *numbers = PyArray_DATA(array);

  return PyArray_TYPE(array) == NPY_FLOAT ? (double)((const float *)numbers)[at] : ((const double *)numbers)[at];
}

/* The centers that go with other rest positions: what is blended linearly stays its own center. */
static PyObject *centers_at(const core_skin *self, PyArrayObject *rest_positions) {
  const npy_intp shape[2] = {(npy_intp)self->info.vertex_count, 3};
  const double *held = PyArray_DATA(self->held[CORE_CENTERS]);
  PyObject *result = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  double *centers;

  if (result == NULL) return NULL;
  centers = PyArray_DATA((PyArrayObject *)result);
  for (size_t at = 0; at < 3 * self->info.vertex_count; at += 3) {
    int is_own = 1;
    for (size_t i = at; i < at + 3; i++) is_own &= held[i] == number_at(self->held[CORE_REST_POSITIONS], i);
    for (size_t i = at; i < at + 3; i++) centers[i] = is_own ? number_at(rest_positions, i) : held[i];
  }
  return result;
}

int core_prepare_positions(void *call, core_positions *given) {
  const core_skin *self = core_self(call);
  PyObject *centers;

  if (given->rest == NULL || self->held[CORE_CENTERS] == NULL) return 1;
  centers = centers_at(self, given->rest);
  given->centers = (PyArrayObject *)centers;
  return core_hold(call, centers);
}

sbs_skin_desc core_describe_positions(const core_skin *self, const core_positions *given) {
  sbs_skin_desc desc = core_describe_skin(self->held, self->twist, self->info.joint_count);

  if (given->rest != NULL) desc.rest_positions = PyArray_DATA(given->rest);
  if (given->centers != NULL) desc.centers = PyArray_DATA(given->centers);
  return desc;
}

sbs_status core_with_positions(const core_skin *self, const core_positions *given, sbs_skin **moved, sbs_fault *fault) {
  const sbs_skin_desc desc = core_describe_positions(self, given);

  *moved = NULL;
  return given->rest != NULL ? sbs_skin_with_positions(self->skin, &desc, moved, fault) : SBS_OK;
}
