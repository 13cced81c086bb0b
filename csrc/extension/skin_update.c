/* SPDX-License-Identifier: MIT */
#include "skin_update.h"

#include <string.h>

#include "arguments.h"
#include "errors.h"
#include "interrupts.h"

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
static PyArrayObject *replace_rows(PyArrayObject *held, const npy_int32 *vertices, core_array *rows) {
  const npy_intp width = PyArray_DIM(held, 1), given = PyArray_DIM(rows->array, 1);
  const npy_intp shape[2] = {PyArray_DIM(held, 0), width > given ? width : given};
  const int held_type = PyArray_TYPE(held), type = held_type == NPY_FLOAT ? PyArray_TYPE(rows->array) : held_type;
  PyArrayObject *base = NULL, *result = NULL;

  if (PyArray_TYPE(rows->array) != type && core_cast(rows, type) < 0) return NULL;
  base = (PyArrayObject *)PyArray_FromArray(held, PyArray_DescrFromType(type), NPY_ARRAY_IN_ARRAY);
  if (base != NULL) result = (PyArrayObject *)PyArray_SimpleNew(2, shape, type);
  if (result != NULL) {
    copy_rows(result, NULL, base);
    copy_rows(result, vertices, rows->array);
  }
  Py_XDECREF((PyObject *)base);
  return result;
}

static int check_vertices(const core_skin *self, const core_array *vertices) {
  const npy_int32 *vertex = PyArray_DATA(vertices->array);
  const npy_intp count = PyArray_DIM(vertices->array, 0);

  for (npy_intp i = 0; i < count; i++) {
    if (vertex[i] < 0 || (size_t)vertex[i] >= self->info.vertex_count) {
      PyErr_Format(PyExc_ValueError, "vertices[%zd] = %d is out of range for %zd vertices", (Py_ssize_t)i,
                   (int)vertex[i], (Py_ssize_t)self->info.vertex_count);
      return 0;
    }
  }
  return 1;
}

/*
 * Turns a fault at a vertex into one at the row that the caller gave for it, the last if there are several.
 */
static void name_row(sbs_fault *fault, const core_array *vertices) {
  const npy_int32 *vertex = PyArray_DATA(vertices->array);

  if (fault->index_count == 0) return;
  for (npy_intp i = PyArray_DIM(vertices->array, 0) - 1; i >= 0; i--) {
    if ((size_t)vertex[i] == fault->index[0]) {
      fault->index[0] = (size_t)i;
      return;
    }
  }
}

const char core_update_skin_doc[] =
    "update($self, vertices, joint_indices, joint_weights, *, strict=False)\n--\n\n"
    "A skin with other influences (M, K) at vertices (M,); the same as if it was made anew.";

PyObject *core_update_skin(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"vertices", "joint_indices", "joint_weights", "strict", NULL};
  const core_skin *self = (core_skin *)object;
  core_array vertices = {.name = "vertices", .shape = "(M,)", .dimensions = 1};
  core_array joint_indices = {.name = "joint_indices", .shape = "(M, K)", .dimensions = 2};
  core_array joint_weights = {.name = "joint_weights", .shape = "(M, K)", .dimensions = 2};
  PyArrayObject *arrays[CORE_HELD_COUNT];
  sbs_skin_desc desc;
  sbs_skin_options options = sbs_default_skin_options();
  sbs_skin *skin = NULL;
  sbs_weight_report report = {0};
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  memcpy(arrays, self->held, sizeof arrays);
  arrays[CORE_JOINT_INDICES] = arrays[CORE_JOINT_WEIGHTS] = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&|$p:update", keywords, core_convert_int32, &vertices,
                                   core_convert_int32, &joint_indices, core_convert_reals, &joint_weights,
                                   &options.strict)) {
    goto exit;
  }
  if (!core_check_agreement(&joint_indices, &joint_weights, 0) ||
      !core_check_agreement(&joint_indices, &joint_weights, 1) || !core_check_agreement(&vertices, &joint_indices, 0) ||
      !check_vertices(self, &vertices)) {
    goto exit;
  }
  arrays[CORE_JOINT_INDICES] =
      replace_rows(self->held[CORE_JOINT_INDICES], PyArray_DATA(vertices.array), &joint_indices);
  arrays[CORE_JOINT_WEIGHTS] =
      replace_rows(self->held[CORE_JOINT_WEIGHTS], PyArray_DATA(vertices.array), &joint_weights);
  if (arrays[CORE_JOINT_INDICES] == NULL || arrays[CORE_JOINT_WEIGHTS] == NULL) goto exit;
  desc = core_describe_skin(arrays, self->info.joint_count);

  CORE_BEGIN_CALL
  status = sbs_skin_update(self->skin, &desc, PyArray_DATA(vertices.array), (size_t)PyArray_DIM(vertices.array, 0),
                           &options, &skin, &report, &fault);
  CORE_END_CALL
  if (status == SBS_OK) {
    result = core_wrap_skin(Py_TYPE(object), skin, &report, arrays);
  } else {
    name_row(&fault, &vertices);
    core_raise(PyType_GetModuleState(Py_TYPE(object)), status, &fault, NULL);
  }

exit:
  core_release(&vertices);
  core_release(&joint_indices);
  core_release(&joint_weights);
  Py_XDECREF((PyObject *)arrays[CORE_JOINT_INDICES]);
  Py_XDECREF((PyObject *)arrays[CORE_JOINT_WEIGHTS]);
  return result;
}

const char core_move_skin_doc[] =
    "move($self, rest_positions, centers=None)\n--\n\n"
    "Gives the skin other rest positions (V, 3), in place: nobody else may be using it. What it shows of itself stays.";

PyObject *core_move_skin(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "centers", NULL};
  const core_skin *self = (core_skin *)object;
  PyArrayObject *held = self->held[CORE_REST_POSITIONS];
  core_array rest_positions = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array centers = {.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_array vertices = {.name = "the skin", .dimensions = 2, .array = held};
  sbs_skin_desc desc = core_describe_skin(self->held, self->info.joint_count);
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|O&:move", keywords, core_convert_reals, &rest_positions,
                                   core_convert_doubles, &centers)) {
    goto exit;
  }
  if (!core_check_length(&rest_positions, 1, 3) || !core_check_agreement(&rest_positions, &vertices, 0) ||
      core_cast(&rest_positions, PyArray_TYPE(held)) < 0) {
    goto exit;
  }
  if (centers.array != NULL && (!core_check_length(&centers, 1, 3) || !core_check_agreement(&centers, &vertices, 0))) {
    goto exit;
  }
  desc.rest_positions = PyArray_DATA(rest_positions.array);
  desc.centers = centers.array != NULL ? PyArray_DATA(centers.array) : NULL;

  CORE_BEGIN_CALL
  status = sbs_skin_update_positions(self->skin, &desc, &fault);
  CORE_END_CALL
  if (status == SBS_OK) {
    result = Py_NewRef(Py_None);
  } else {
    core_raise(PyType_GetModuleState(Py_TYPE(object)), status, &fault, NULL);
  }

exit:
  core_release(&rest_positions);
  core_release(&centers);
  return result;
}
