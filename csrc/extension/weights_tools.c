/* SPDX-License-Identifier: MIT */
#include "weights_tools.h"

#include "errors.h"
#include "influences_arguments.h"
#include "interrupts.h"
#include "mesh_functions.h"

/* New arrays (V, width) for results. */
static int new_results(const core_influences *influences, npy_intp width, int type, PyArrayObject **joint_indices,
                       PyArrayObject **joint_weights) {
  const npy_intp shape[2] = {PyArray_DIM(influences->joint_indices.array, 0), width};

  *joint_indices = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_INT32);
  *joint_weights = (PyArrayObject *)PyArray_SimpleNew(2, shape, type);
  return *joint_indices != NULL && *joint_weights != NULL;
}

static int type_of_weights(const core_influences *influences) {
  return PyArray_TYPE(influences->joint_weights.array);
}

/* --------------------------------------------------------------------------------------------------------- tidy -- */

const char core_tidy_weights_doc[] =
    "tidy_weights(joint_indices, joint_weights, *, joint_count=None)\n--\n\n"
    "Influences as a skin uses them: (joint_indices (V, K), joint_weights (V, K), max_influences).";

PyObject *core_tidy_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"joint_indices", "joint_weights", "joint_count", NULL};
  core_influences given = core_default_influences();
  size_t max_influences = 0;
  sbs_influences_table table;
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *joint_indices = NULL, *joint_weights = NULL;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O&:tidy_weights", keywords, core_convert_int32,
                                   &given.joint_indices, core_convert_reals, &given.joint_weights, core_convert_count,
                                   &given.joint_count)) {
    goto exit;
  }
  if (!core_describe_influences(&given, &table)) goto exit;
  if (!new_results(&given, (npy_intp)table.influences_per_vertex, NPY_DOUBLE, &joint_indices, &joint_weights)) {
    goto exit;
  }

  CORE_BEGIN_CALL
  status =
      sbs_influences_tidy(&table, PyArray_DATA(joint_indices), PyArray_DATA(joint_weights), &max_influences, &fault);
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = Py_BuildValue("OOn", (PyObject *)joint_indices, (PyObject *)joint_weights, (Py_ssize_t)max_influences);

exit:
  core_release_influences(&given);
  Py_XDECREF((PyObject *)joint_indices);
  Py_XDECREF((PyObject *)joint_weights);
  return result;
}

/* -------------------------------------------------------------------------------------------------------- clean -- */

const char core_clean_weights_doc[] =
    "clean_weights(joint_indices, joint_weights, *, normalize=True, limit=None, threshold=0.0, locked=None)\n--\n\n"
    "Normalizes, limits and prunes: (joint_indices (V, K), joint_weights (V, K), (changed, unweighted, off_sum,\n"
    "max_influences)).";

PyObject *core_clean_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"joint_indices", "joint_weights", "normalize", "limit", "threshold", "locked", NULL};
  core_influences given = core_default_influences();
  core_count limit = {.name = "limit", .largest = PY_SSIZE_T_MAX};
  core_real threshold = {.name = "threshold"};
  sbs_influences_clean_options options = sbs_default_influences_clean_options();
  sbs_influences_clean_report report = {0};
  sbs_influences_table table;
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *joint_indices = NULL, *joint_weights = NULL;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$pO&O&O&:clean_weights", keywords, core_convert_int32,
                                   &given.joint_indices, core_convert_reals, &given.joint_weights, &options.normalize,
                                   core_convert_count, &limit, core_convert_real, &threshold, core_convert_int32,
                                   &given.locked)) {
    goto exit;
  }
  if (!core_describe_influences(&given, &table)) goto exit;
  if (!new_results(&given, (npy_intp)table.influences_per_vertex, type_of_weights(&given), &joint_indices,
                   &joint_weights)) {
    goto exit;
  }
  options.limit = (size_t)limit.value;
  options.threshold = threshold.value;
  options.locked = given.mask;

  CORE_BEGIN_CALL
  status =
      sbs_influences_clean(&table, &options, PyArray_DATA(joint_indices), PyArray_DATA(joint_weights), &report, &fault);
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result =
        Py_BuildValue("OO(nnnn)", (PyObject *)joint_indices, (PyObject *)joint_weights, (Py_ssize_t)report.changed,
                      (Py_ssize_t)report.unweighted, (Py_ssize_t)report.off_sum, (Py_ssize_t)report.max_influences);

exit:
  core_release_influences(&given);
  Py_XDECREF((PyObject *)joint_indices);
  Py_XDECREF((PyObject *)joint_weights);
  return result;
}

/* ------------------------------------------------------------------------------------------------------- smooth -- */

const char core_smooth_weights_doc[] =
    "smooth_weights(joint_indices, joint_weights, positions, triangles, *, iterations=1, strength=0.5, limit=None, "
    "mask=None, locked=None, normalize=True)\n--\n\n"
    "Smoothed over the surface: (joint_indices (V, limit), joint_weights (V, limit)).";

PyObject *core_smooth_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"joint_indices", "joint_weights", "positions", "triangles", "iterations", "strength",
                             "limit",         "mask",          "locked",    "normalize", NULL};
  core_influences given = core_default_influences();
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array mask = {.name = "mask", .shape = "(V,)", .dimensions = 1, .optional = 1};
  core_count iterations = {.name = "iterations", .largest = PY_SSIZE_T_MAX, .value = 1};
  core_count limit = {.name = "limit", .largest = PY_SSIZE_T_MAX};
  core_real strength = {.name = "strength", .value = 0.5};
  sbs_influences_smooth_options options = sbs_default_influences_smooth_options();
  sbs_influences_table table;
  sbs_mesh_desc mesh;
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *joint_indices = NULL, *joint_weights = NULL;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&|$O&O&O&O&O&p:smooth_weights", keywords, core_convert_int32,
                                   &given.joint_indices, core_convert_reals, &given.joint_weights, core_convert_reals,
                                   &positions, core_convert_int32, &triangles, core_convert_count, &iterations,
                                   core_convert_real, &strength, core_convert_count, &limit, core_convert_doubles,
                                   &mask, core_convert_int32, &given.locked, &options.normalize)) {
    goto exit;
  }
  if (!core_describe_influences(&given, &table) || !core_describe_mesh(&positions, &triangles, &mesh)) goto exit;
  if (!core_check_agreement(&positions, &given.joint_indices, 0)) goto exit;
  if (mask.array != NULL && !core_check_agreement(&positions, &mask, 0)) goto exit;
  if (limit.value == 0) limit.value = (Py_ssize_t)table.influences_per_vertex;
  if (!new_results(&given, (npy_intp)limit.value, type_of_weights(&given), &joint_indices, &joint_weights)) goto exit;
  options.iterations = (size_t)iterations.value;
  options.strength = strength.value;
  options.mask = mask.array != NULL ? PyArray_DATA(mask.array) : NULL;
  options.locked = given.mask;

  CORE_BEGIN_CALL
  status = sbs_influences_smooth(&table, &mesh, &options, (size_t)limit.value, PyArray_DATA(joint_indices),
                                 PyArray_DATA(joint_weights), &fault);
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = PyTuple_Pack(2, (PyObject *)joint_indices, (PyObject *)joint_weights);

exit:
  core_release_influences(&given);
  core_release(&positions);
  core_release(&triangles);
  core_release(&mask);
  Py_XDECREF((PyObject *)joint_indices);
  Py_XDECREF((PyObject *)joint_weights);
  return result;
}
