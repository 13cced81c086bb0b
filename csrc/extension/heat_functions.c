/* SPDX-License-Identifier: MIT */
#include "heat_functions.h"

#include <limits.h>
#include <sbs/heat.h>

#include "arguments.h"
#include "errors.h"
#include "mesh_functions.h"
#include "progress.h"

const char core_heat_weights_doc[] =
    "heat_weights(positions, triangles, heads, tails, *, enabled=None, strength=4.0, limit=None, prune=1e-3,\n"
    "    progress=None, threads=None)\n--\n\n"
    "Weights by heat, as (joint_indices (V, L) int32, joint_weights (V, L) float64, island_of_vertex (V,) int32,\n"
    "joined, (trouble, most influences, islands, welded, degenerate triangles, blind vertices)). Each of `joined` is\n"
    "(island, neighbor, vertices, distance, reason). Rows are padded beyond the most influences. With trouble both\n"
    "arrays are None.";

/* In the order of sbs_heat_trouble and sbs_heat_reason. */
static const char *const trouble_words[] = {"", "the mesh has no surface", "the surface is in tiny pieces",
                                            "the surface sees no bone", "the heat equation has no finite solution"};
static const char *const reason_words[] = {"sees no bone", "tiny", "no triangles"};

static PyObject *list_joins(const sbs_heat_join *joins, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);

  for (size_t i = 0; list != NULL && i < count; i++) {
    PyObject *join = Py_BuildValue("iinds", (int)joins[i].island, (int)joins[i].neighbor,
                                   (Py_ssize_t)joins[i].vertex_count, joins[i].distance, reason_words[joins[i].reason]);
    if (join == NULL || PyList_SetItem(list, (Py_ssize_t)i, join) < 0) Py_CLEAR(list); /* steals join */
  }
  return list;
}

static PyObject *describe(const sbs_heat_report *report, PyArrayObject *indices, PyArrayObject *weights,
                          PyArrayObject *islands, const sbs_heat_join *joins) {
  const int trouble = report->trouble != SBS_HEAT_WORKS;
  PyObject *listed = list_joins(joins, report->join_count);
  PyObject *found = trouble ? Py_NewRef(Py_None) : PyTuple_Pack(2, indices, weights), *result = NULL;

  if (listed != NULL && found != NULL) {
    result =
        Py_BuildValue("OOO(snnnnn)", found, islands, listed, trouble_words[report->trouble],
                      (Py_ssize_t)report->max_influences, (Py_ssize_t)report->island_count, (Py_ssize_t)report->welded,
                      (Py_ssize_t)report->degenerate_triangles, (Py_ssize_t)report->blind_vertices);
  }
  Py_XDECREF(listed);
  Py_XDECREF(found);
  return result;
}

static Py_ssize_t count_enabled(const core_array *enabled, Py_ssize_t joint_count) {
  const npy_bool *flags = enabled->array != NULL ? PyArray_DATA(enabled->array) : NULL;
  Py_ssize_t count = 0;

  for (Py_ssize_t j = 0; j < joint_count; j++) count += flags == NULL || flags[j];
  return count;
}

PyObject *core_heat_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", "triangles", "heads",    "tails",   "enabled", "strength",
                             "limit",     "prune",     "progress", "threads", NULL};
  sbs_heat_options options = sbs_default_heat_options();
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array heads = {.name = "heads", .shape = "(J, 3)", .dimensions = 2};
  core_array tails = {.name = "tails", .shape = "(J, 3)", .dimensions = 2};
  core_array enabled = {.name = "enabled", .shape = "(J,)", .dimensions = 1, .optional = 1};
  core_array *const arrays[] = {&positions, &triangles, &heads, &tails, &enabled};
  core_real strength = {.name = "strength", .value = options.strength};
  core_real prune = {.name = "prune", .value = options.prune};
  core_count limit = {.name = "limit", .largest = PY_SSIZE_T_MAX};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  core_caller calling = {.progress = Py_None};
  sbs_mesh_desc mesh;
  sbs_heat_bones bones = {0};
  sbs_heat_report report = {0};
  sbs_heat_join *joins = NULL;
  sbs_fault fault = {0};
  sbs_status status;
  npy_intp shape[2];
  PyArrayObject *indices = NULL, *weights = NULL, *islands = NULL;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&|$O&O&O&O&OO&:heat_weights", keywords, core_convert_reals,
                                   &positions, core_convert_int32, &triangles, core_convert_doubles, &heads,
                                   core_convert_doubles, &tails, core_convert_flags, &enabled, core_convert_real,
                                   &strength, core_convert_count, &limit, core_convert_real, &prune, &calling.progress,
                                   core_convert_count, &threads)) {
    goto exit;
  }
  if (!core_check_progress(calling.progress) || !core_describe_mesh(&positions, &triangles, &mesh) ||
      !core_check_length(&heads, 1, 3) || !core_check_length(&tails, 1, 3) ||
      !core_check_agreement(&heads, &tails, 0) ||
      (enabled.array != NULL && !core_check_agreement(&heads, &enabled, 0))) {
    goto exit;
  }
  bones.joint_count = (size_t)PyArray_DIM(heads.array, 0);
  bones.heads = PyArray_DATA(heads.array);
  bones.tails = PyArray_DATA(tails.array);
  bones.enabled = enabled.array != NULL ? PyArray_DATA(enabled.array) : NULL;
  shape[0] = PyArray_DIM(positions.array, 0);
  shape[1] = count_enabled(&enabled, (Py_ssize_t)bones.joint_count);
  if (limit.value > 0 && limit.value < shape[1]) shape[1] = limit.value;
  if (shape[1] == 0) shape[1] = 1; /* without joints the library raises */
  indices = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_INT32);
  weights = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  islands = (PyArrayObject *)PyArray_SimpleNew(1, shape, NPY_INT32);
  if (indices == NULL || weights == NULL || islands == NULL) goto exit;
  joins = PyMem_Calloc((size_t)shape[0], sizeof *joins);
  if (joins == NULL) {
    PyErr_NoMemory();
    goto exit;
  }
  options.strength = strength.value;
  options.prune = prune.value;
  options.threads = (int)threads.value;
  options.progress = calling.progress == Py_None ? NULL : core_tell_progress;
  options.progress_user = &calling;

  core_begin_call(&calling.call);
  status = sbs_heat_weights(&mesh, &bones, &options, (size_t)shape[1], PyArray_DATA(indices), PyArray_DATA(weights),
                            PyArray_DATA(islands), joins, &report, &fault);
  core_end_call(&calling.call);

  if (status == SBS_OK) {
    result = describe(&report, indices, weights, islands, joins);
  } else {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  }

exit:
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) core_release(arrays[i]);
  PyMem_Free(joins);
  Py_XDECREF((PyObject *)indices);
  Py_XDECREF((PyObject *)weights);
  Py_XDECREF((PyObject *)islands);
  return result;
}
