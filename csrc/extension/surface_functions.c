/* SPDX-License-Identifier: MIT */
#include "surface_functions.h"

#include <limits.h>
#include <sbs/surface.h>

#include "arguments.h"
#include "errors.h"
#include "interrupts.h"
#include "mesh_functions.h"

static const int32_t *labels_or_null(const core_array *labels) {
  return labels->array != NULL ? PyArray_DATA(labels->array) : NULL;
}

/* Releases several arguments. */
static void release_all(core_array *const *arguments, size_t count) {
  for (size_t i = 0; i < count; i++) core_release(arguments[i]);
}

/* ------------------------------------------------------------------------------------------------------ nearest -- */

const char core_nearest_on_surface_doc[] =
    "nearest_on_surface(positions, triangles, points, *, point_labels=None, triangle_labels=None, threads=None)\n--\n\n"
    "The nearest point of a surface to each point, as (triangles (N,) int32, barycentric (N, 3), distances (N,)).\n"
    "Triangles with the label of the point are skipped; -1 and infinity if none is left.";

PyObject *core_nearest_on_surface(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", "triangles", "points", "point_labels", "triangle_labels", "threads", NULL};
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array points = {.name = "points", .shape = "(N, 3)", .dimensions = 2};
  core_array point_labels = {.name = "point_labels", .shape = "(N,)", .dimensions = 1, .optional = 1};
  core_array triangle_labels = {.name = "triangle_labels", .shape = "(T,)", .dimensions = 1, .optional = 1};
  core_array *const arguments[] = {&positions, &triangles, &points, &point_labels, &triangle_labels};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  sbs_mesh_desc mesh;
  sbs_surface *surface = NULL;
  sbs_fault fault = {0};
  sbs_status status;
  npy_intp shape[2] = {0, 3};
  PyArrayObject *nearest = NULL, *barycentric = NULL, *distances = NULL;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&|$O&O&O&:nearest_on_surface", keywords, core_convert_reals,
                                   &positions, core_convert_int32, &triangles, core_convert_doubles, &points,
                                   core_convert_int32, &point_labels, core_convert_int32, &triangle_labels,
                                   core_convert_count, &threads)) {
    goto exit;
  }
  if (!core_describe_mesh(&positions, &triangles, &mesh) || !core_check_length(&points, 1, 3)) goto exit;
  if ((point_labels.array == NULL) != (triangle_labels.array == NULL)) {
    PyErr_SetString(PyExc_ValueError, "point_labels and triangle_labels go together");
    goto exit;
  }
  if (point_labels.array != NULL &&
      (!core_check_agreement(&points, &point_labels, 0) || !core_check_agreement(&triangles, &triangle_labels, 0))) {
    goto exit;
  }
  shape[0] = PyArray_DIM(points.array, 0);
  nearest = (PyArrayObject *)PyArray_SimpleNew(1, shape, NPY_INT32);
  barycentric = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  distances = (PyArrayObject *)PyArray_SimpleNew(1, shape, NPY_DOUBLE);
  if (nearest == NULL || barycentric == NULL || distances == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_surface_new(&mesh, NULL, &surface, &fault);
  if (status == SBS_OK) {
    status = sbs_surface_nearest(surface, PyArray_DATA(points.array), (size_t)shape[0], labels_or_null(&point_labels),
                                 labels_or_null(&triangle_labels), (int)threads.value, PyArray_DATA(nearest),
                                 PyArray_DATA(barycentric), PyArray_DATA(distances), &fault);
  }
  sbs_surface_free(surface);
  CORE_END_CALL
  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = PyTuple_Pack(3, nearest, barycentric, distances);

exit:
  release_all(arguments, sizeof arguments / sizeof *arguments);
  Py_XDECREF((PyObject *)nearest);
  Py_XDECREF((PyObject *)barycentric);
  Py_XDECREF((PyObject *)distances);
  return result;
}

/* ------------------------------------------------------------------------------------------------------ blocked -- */

const char core_segments_blocked_doc[] =
    "segments_blocked(positions, triangles, starts, ends, *, start_vertices=None, threads=None)\n--\n\n"
    "Whether a surface crosses each segment between its ends: (N,) bool. Triangles at the vertex that a segment\n"
    "starts from, if given, do not count.";

PyObject *core_segments_blocked(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", "triangles", "starts", "ends", "start_vertices", "threads", NULL};
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array starts = {.name = "starts", .shape = "(N, 3)", .dimensions = 2};
  core_array ends = {.name = "ends", .shape = "(N, 3)", .dimensions = 2};
  core_array vertices = {.name = "start_vertices", .shape = "(N,)", .dimensions = 1, .optional = 1};
  core_array *const arguments[] = {&positions, &triangles, &starts, &ends, &vertices};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  sbs_mesh_desc mesh;
  sbs_surface *surface = NULL;
  sbs_fault fault = {0};
  sbs_status status;
  npy_intp count;
  PyArrayObject *blocked = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&|$O&O&:segments_blocked", keywords, core_convert_reals,
                                   &positions, core_convert_int32, &triangles, core_convert_doubles, &starts,
                                   core_convert_doubles, &ends, core_convert_int32, &vertices, core_convert_count,
                                   &threads)) {
    goto exit;
  }
  if (!core_describe_mesh(&positions, &triangles, &mesh) || !core_check_length(&starts, 1, 3) ||
      !core_check_length(&ends, 1, 3) || !core_check_agreement(&starts, &ends, 0) ||
      (vertices.array != NULL && !core_check_agreement(&starts, &vertices, 0))) {
    goto exit;
  }
  count = PyArray_DIM(starts.array, 0);
  blocked = (PyArrayObject *)PyArray_SimpleNew(1, &count, NPY_BOOL);
  if (blocked == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_surface_new(&mesh, NULL, &surface, &fault);
  if (status == SBS_OK) {
    status = sbs_surface_blocked(surface, PyArray_DATA(starts.array), PyArray_DATA(ends.array), (size_t)count,
                                 labels_or_null(&vertices), (int)threads.value, PyArray_DATA(blocked), &fault);
  }
  sbs_surface_free(surface);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    Py_CLEAR(blocked);
  }

exit:
  release_all(arguments, sizeof arguments / sizeof *arguments);
  return (PyObject *)blocked;
}

/* ------------------------------------------------------------------------------------------------------ islands -- */

const char core_islands_doc[] =
    "islands(triangles, vertex_count)\n--\n\n"
    "The number of each vertex's island, (V,) int32. Triangles connect islands; they are numbered by their lowest\n"
    "vertices.";

PyObject *core_islands(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"triangles", "vertex_count", NULL};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_count vertex_count = {.name = "vertex_count", .largest = PY_SSIZE_T_MAX};
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  size_t island_count = 0;
  sbs_fault fault = {0};
  sbs_status status;
  npy_intp length;
  PyArrayObject *islands = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&:islands", keywords, core_convert_int32, &triangles,
                                   core_convert_count, &vertex_count)) {
    goto exit;
  }
  if (!core_check_length(&triangles, 1, 3)) goto exit;
  mesh.vertex_count = (size_t)vertex_count.value;
  mesh.triangle_count = (size_t)PyArray_DIM(triangles.array, 0);
  mesh.triangles = PyArray_DATA(triangles.array);
  length = (npy_intp)vertex_count.value;
  islands = (PyArrayObject *)PyArray_SimpleNew(1, &length, NPY_INT32);
  if (islands == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_mesh_islands(&mesh, PyArray_DATA(islands), &island_count, &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    Py_CLEAR(islands);
  }

exit:
  core_release(&triangles);
  return (PyObject *)islands;
}
