/* SPDX-License-Identifier: MIT */
#include "mesh_functions.h"

#include <string.h>

#include "errors.h"
#include "interrupts.h"

int core_describe_mesh(const core_array *positions, const core_array *triangles, sbs_mesh_desc *mesh) {
  *mesh = sbs_default_mesh_desc();
  if (!core_check_length(positions, 1, 3)) return 0;
  mesh->vertex_count = (size_t)PyArray_DIM(positions->array, 0);
  mesh->scalar = PyArray_TYPE(positions->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
  mesh->positions = PyArray_DATA(positions->array);
  if (triangles == NULL || triangles->array == NULL) return 1;
  if (!core_check_length(triangles, 1, 3)) return 0;
  mesh->triangle_count = (size_t)PyArray_DIM(triangles->array, 0);
  mesh->triangles = PyArray_DATA(triangles->array);
  return 1;
}

/* --------------------------------------------------------------------------------------------------------- weld -- */

const char core_weld_doc[] = "weld(positions)\n--\n\n"
                             "The lowest vertex at the same point as each: (V,) int32.";

PyObject *core_weld(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", NULL};
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  sbs_mesh_desc mesh;
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *representatives = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&:weld", keywords, core_convert_reals, &positions)) goto exit;
  if (!core_describe_mesh(&positions, NULL, &mesh)) goto exit;
  representatives = (PyArrayObject *)PyArray_SimpleNew(1, PyArray_DIMS(positions.array), NPY_INT32);
  if (representatives == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_mesh_weld(&mesh, NULL, PyArray_DATA(representatives), &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    Py_CLEAR(representatives);
  }

exit:
  core_release(&positions);
  return (PyObject *)representatives;
}

/* ---------------------------------------------------------------------------------------------------- adjacency -- */

const char core_adjacency_doc[] =
    "adjacency(triangles, representatives)\n--\n\n"
    "Neighbors over edges, as (offsets (V + 1,) intp, neighbors (offsets[-1],) int32); corners stand for their\n"
    "representatives, from weld.";

/* A copy of the first numbers of an array, so that the rest of its memory is freed. */
static PyObject *first_of(PyArrayObject *array, size_t count) {
  npy_intp length = (npy_intp)count;
  PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(1, &length, NPY_INT32);

  if (result != NULL && count > 0) memcpy(PyArray_DATA(result), PyArray_DATA(array), count * sizeof(npy_int32));
  return (PyObject *)result;
}

PyObject *core_adjacency(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"triangles", "representatives", NULL};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array representatives = {.name = "representatives", .shape = "(V,)", .dimensions = 1};
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  npy_intp lengths[2];
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *offsets = NULL, *room = NULL;
  PyObject *neighbors = NULL, *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&:adjacency", keywords, core_convert_int32, &triangles,
                                   core_convert_int32, &representatives)) {
    goto exit;
  }
  if (!core_check_length(&triangles, 1, 3)) goto exit;
  mesh.vertex_count = (size_t)PyArray_DIM(representatives.array, 0);
  mesh.triangle_count = (size_t)PyArray_DIM(triangles.array, 0);
  mesh.triangles = PyArray_DATA(triangles.array);
  lengths[0] = PyArray_DIM(representatives.array, 0) + 1;
  lengths[1] = 6 * PyArray_DIM(triangles.array, 0);
  offsets = (PyArrayObject *)PyArray_SimpleNew(1, &lengths[0], NPY_INTP);
  room = (PyArrayObject *)PyArray_SimpleNew(1, &lengths[1], NPY_INT32);
  if (offsets == NULL || room == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_mesh_adjacency(&mesh, PyArray_DATA(representatives.array), NULL, PyArray_DATA(offsets),
                              PyArray_DATA(room), &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    goto exit;
  }
  neighbors = first_of(room, ((const size_t *)PyArray_DATA(offsets))[mesh.vertex_count]);
  if (neighbors != NULL) result = PyTuple_Pack(2, (PyObject *)offsets, neighbors);

exit:
  core_release(&triangles);
  core_release(&representatives);
  Py_XDECREF((PyObject *)offsets);
  Py_XDECREF((PyObject *)room);
  Py_XDECREF(neighbors);
  return result;
}
