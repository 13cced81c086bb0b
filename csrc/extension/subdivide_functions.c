/* SPDX-License-Identifier: MIT */
#include "subdivide_functions.h"

#include <limits.h>
#include <sbs/subdivision.h>
#include <string.h>

#include "errors.h"
#include "interrupts.h"
#include "mesh_functions.h"

/* A new array (rows, columns), or (rows) if columns is 0, with a copy of the library's. */
static PyObject *copy_of(const void *numbers, size_t rows, size_t columns, int type) {
  const npy_intp shape[2] = {(npy_intp)rows, (npy_intp)columns};
  PyObject *array = PyArray_SimpleNew(columns > 0 ? 2 : 1, shape, type);

  if (array != NULL && rows > 0)
    memcpy(PyArray_DATA((PyArrayObject *)array), numbers, (size_t)PyArray_NBYTES((PyArrayObject *)array));
  return array;
}

static PyObject *as_tuple(const sbs_subdivision *fine) {
  PyObject *arrays[4] = {copy_of(fine->parents, fine->new_vertex_count, 3, NPY_INT32),
                         copy_of(fine->shares, fine->new_vertex_count, 3, NPY_DOUBLE),
                         copy_of(fine->triangles, fine->triangle_count, 3, NPY_INT32),
                         copy_of(fine->sources, fine->triangle_count, 0, NPY_INT32)};
  PyObject *result = NULL;

  if (arrays[0] != NULL && arrays[1] != NULL && arrays[2] != NULL && arrays[3] != NULL)
    result = PyTuple_Pack(4, arrays[0], arrays[1], arrays[2], arrays[3]);
  for (int i = 0; i < 4; i++) Py_XDECREF(arrays[i]);
  return result;
}

const char core_subdivide_doc[] =
    "subdivide(positions, triangles, representatives, chosen, *, scheme='1:4', levels=1)\n--\n\n"
    "Divides chosen triangles, and their neighbors where needed: (parents (N, 3) int32, shares (N, 3), triangles\n"
    "(T', 3) int32, sources (T',) int32). Parents and shares are those of the new vertices.";

PyObject *core_subdivide(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", "triangles", "representatives", "chosen", "scheme", "levels", NULL};
  static const char *const schemes[] = {"1:3", "1:4", NULL}; /* in the order of sbs_subdivision_scheme */
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array representatives = {.name = "representatives", .shape = "(V,)", .dimensions = 1};
  core_array chosen = {.name = "chosen", .shape = "(T,)", .dimensions = 1};
  core_choice scheme = {.name = "scheme", .words = schemes, .value = SBS_SUBDIVISION_1_TO_4};
  core_count levels = {.name = "levels", .largest = INT_MAX, .value = 1};
  sbs_mesh_desc mesh;
  const sbs_subdivision *fine = NULL;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&|$O&O&:subdivide", keywords, core_convert_reals, &positions,
                                   core_convert_int32, &triangles, core_convert_int32, &representatives,
                                   core_convert_flags, &chosen, core_convert_choice, &scheme, core_convert_count,
                                   &levels)) {
    goto exit;
  }
  if (!core_describe_mesh(&positions, &triangles, &mesh) || !core_check_agreement(&positions, &representatives, 0) ||
      !core_check_agreement(&triangles, &chosen, 0)) {
    goto exit;
  }
  CORE_BEGIN_CALL
  status = sbs_subdivision_new(&mesh, PyArray_DATA(representatives.array), PyArray_DATA(chosen.array),
                               (sbs_subdivision_scheme)scheme.value, (int)levels.value, NULL, &fine, &fault);
  CORE_END_CALL
  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = as_tuple(fine);

exit:
  sbs_subdivision_free(fine);
  core_release(&positions);
  core_release(&triangles);
  core_release(&representatives);
  core_release(&chosen);
  return result;
}

const char core_curvature_doc[] =
    "curvature(positions, triangles, representatives)\n--\n\n"
    "The largest angle between the normal of each triangle and those of its neighbors, in radians: (T,).";

PyObject *core_curvature(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", "triangles", "representatives", NULL};
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array representatives = {.name = "representatives", .shape = "(V,)", .dimensions = 1};
  sbs_mesh_desc mesh;
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *curvatures = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&:curvature", keywords, core_convert_reals, &positions,
                                   core_convert_int32, &triangles, core_convert_int32, &representatives)) {
    goto exit;
  }
  if (!core_describe_mesh(&positions, &triangles, &mesh) || !core_check_agreement(&positions, &representatives, 0)) {
    goto exit;
  }
  curvatures = (PyArrayObject *)PyArray_SimpleNew(1, PyArray_DIMS(triangles.array), NPY_DOUBLE);
  if (curvatures == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_mesh_curvature(&mesh, PyArray_DATA(representatives.array), NULL, PyArray_DATA(curvatures), &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    Py_CLEAR(curvatures);
  }

exit:
  core_release(&positions);
  core_release(&triangles);
  core_release(&representatives);
  return (PyObject *)curvatures;
}
