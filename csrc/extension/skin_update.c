/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "skin.h"

typedef struct update_call {
  core_call call;
  const int32_t *vertices;
  const void *joint_indices, *joint_weights;
  PyObject *kept[CORE_KEPT_TWIST + 1]; /* by the new skin; borrowed */
  sbs_skin_desc desc;
  sbs_skin_options options;
  sbs_weight_report report;
  sbs_skin *skin;
} update_call;

/* The numbers of the arguments. */
enum {
  JOINT_INDICES = 1,
  JOINT_WEIGHTS
};

static const core_row update_rows[] = {
    {"vertices", CORE_INT32, .at = offsetof(update_call, vertices), "(M,)"},
    {"joint_indices", CORE_INT32, .at = offsetof(update_call, joint_indices), "(M, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(update_call, joint_weights), "(M, K)"},
    {"strict", CORE_FLAG, .at = offsetof(update_call, options.strict), .optional = 1},
};

/* K may be another than that of the skin. */
static void set_update_defaults(void *address) {
  update_call *given = address;

  given->options = sbs_default_skin_options();
  given->call.lengths['K' - 'A'] = -1;
}

/*
 * Copies the rows of one matrix to another of the same type that is at least as wide. rows: their places there, or
 * NULL: in order.
 */
static void copy_rows(PyArrayObject *to, const int32_t *rows, PyArrayObject *from) {
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
static PyArrayObject *replace_rows(PyObject *kept, const int32_t *vertices, PyArrayObject *rows) {
  PyArrayObject *held = (PyArrayObject *)kept;
  const npy_intp width = PyArray_DIM(held, 1), given = PyArray_DIM(rows, 1);
  const npy_intp shape[2] = {PyArray_DIM(held, 0), width > given ? width : given};
  const int type = PyArray_TYPE(held) == NPY_FLOAT ? PyArray_TYPE(rows) : PyArray_TYPE(held);
  PyArrayObject *from = (PyArrayObject *)PyArray_FromArray(held, PyArray_DescrFromType(type), NPY_ARRAY_IN_ARRAY);
  PyArrayObject *to = (PyArrayObject *)PyArray_FromArray(rows, PyArray_DescrFromType(type), NPY_ARRAY_IN_ARRAY);
  PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(2, shape, type);

  if (from == NULL || to == NULL) Py_CLEAR(result);
  if (result != NULL) {
    copy_rows(result, NULL, from);
    copy_rows(result, vertices, to);
  }
  Py_XDECREF((PyObject *)from);
  Py_XDECREF((PyObject *)to);
  return result;
}

static int check_vertices(const update_call *given, size_t vertex_count) {
  for (size_t i = 0; i < core_length(given, 'M'); i++) {
    if (given->vertices[i] < 0 || (size_t)given->vertices[i] >= vertex_count) {
      PyErr_Format(PyExc_ValueError, "vertices[%zd] = %d is out of range for %zd vertices", (Py_ssize_t)i,
                   (int)given->vertices[i], (Py_ssize_t)vertex_count);
      return 0;
    }
  }
  return 1;
}

static int prepare_update(void *address) {
  update_call *given = address;
  const core_skin *self = core_self(given);
  sbs_skin_desc *desc = &given->desc;
  PyArrayObject *indices, *weights;

  if (!check_vertices(given, self->info.vertex_count)) return 0;
  memcpy(given->kept, self->object.kept, sizeof given->kept);
  indices = replace_rows(given->kept[CORE_JOINT_INDICES], given->vertices, core_array(given, JOINT_INDICES));
  weights = replace_rows(given->kept[CORE_JOINT_WEIGHTS], given->vertices, core_array(given, JOINT_WEIGHTS));
  if ((core_hold(given, (PyObject *)indices) & core_hold(given, (PyObject *)weights)) == 0) return 0;
  given->kept[CORE_JOINT_INDICES] = (PyObject *)indices;
  given->kept[CORE_JOINT_WEIGHTS] = (PyObject *)weights;
  *desc = self->desc;
  desc->influences_per_vertex = (size_t)PyArray_DIM(indices, 1);
  desc->joint_indices = PyArray_DATA(indices);
  desc->weight_scalar = core_scalar(weights);
  desc->joint_weights = PyArray_DATA(weights);
  return 1;
}

/* Turns a fault at a vertex into one at the row that the caller gave for it, the last if there are several. */
static void name_row(sbs_fault *fault, const update_call *given) {
  if (fault->index_count == 0) return;
  for (size_t i = core_length(given, 'M'); i > 0; i--) {
    if ((size_t)given->vertices[i - 1] == fault->index[0]) {
      fault->index[0] = i - 1;
      return;
    }
  }
}

static sbs_status run_update(void *address, sbs_fault *fault) {
  update_call *given = address;
  const sbs_status status = sbs_skin_update(core_made(given), &given->desc, given->vertices, core_length(given, 'M'),
                                            &given->options, &given->skin, &given->report, fault);

  if (status != SBS_OK) name_row(fault, given);
  return status;
}

static PyObject *finish_update(void *address) {
  const update_call *given = address;
  const core_skin *self = core_self(given);

  return core_wrap_skin(&given->call, given->skin, &given->report, &given->desc, self->object.lengths, given->kept);
}

CORE_FUNCTION(core_update_skin, update_call, .name = "update",
              .summary = "A skin with other influences at some vertices.", .parts = {CORE_PART(update_rows)},
              .positional = 3, .returns = "Skin", .set_defaults = set_update_defaults, .prepare = prepare_update,
              .run = run_update, .finish = finish_update)
