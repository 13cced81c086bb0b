/* SPDX-License-Identifier: MIT */
#include "fit_functions.h"

#include <limits.h>
#include <sbs/fit.h>

#include "errors.h"
#include "interrupts.h"
#include "pose_arguments.h"

const char core_fit_weights_doc[] =
    "fit_weights(rest_positions, posed, skinning_matrices, *, method='spherical', center='weighted', damping=1e-8, "
    "influences=4,\n    iterations=30, centers=None, allowed=None, toward=None, pull=0.0, threads=None)\n--\n\n"
    "Weights fitted to examples, as (joint_indices (V, K), joint_weights (V, K), errors (V,)).";

/* Whether all arrays are of the same mesh, frames and joints; raises if not. Of vertices: centers, allowed, toward. */
static int check_shapes(const core_array *rest, const core_array *posed, const core_array *matrices,
                        const core_array *of_vertices, int count) {
  const npy_intp *shape = PyArray_DIMS(matrices->array);
  if (!core_check_length(rest, 1, 3) || !core_check_length(posed, 2, 3) ||
      !core_check_length(posed, 1, PyArray_DIM(rest->array, 0)) || !core_check_agreement(posed, matrices, 0)) {
    return 0;
  }
  if (shape[3] != 4 || (shape[2] != 4 && shape[2] != 3)) {
    core_raise_shape(matrices, matrices->shape);
    return 0;
  }
  for (int i = 0; i < count; i++) {
    if (of_vertices[i].array == NULL) continue;
    if (!core_check_agreement(of_vertices + i, rest, 0) ||
        !core_check_length(of_vertices + i, 1, i == 0 ? 3 : PyArray_DIM(matrices->array, 1))) {
      return 0;
    }
  }
  return 1;
}

/* Whether influences are of the same vertices; raises if not. */
static int check_influences(const core_array *indices, const core_array *weights, const core_array *rest) {
  return core_check_agreement(indices, rest, 0) && core_check_agreement(weights, indices, 0) &&
         core_check_agreement(weights, indices, 1);
}

/* What is fitted to, from arrays whose shapes have been checked; `centers` may be NULL. */
static sbs_fit_desc describe(const core_array *rest, const core_array *posed, const core_array *matrices,
                             const core_array *centers) {
  sbs_fit_desc desc = sbs_default_fit_desc();

  desc.vertex_count = (size_t)PyArray_DIM(rest->array, 0);
  desc.frame_count = (size_t)PyArray_DIM(posed->array, 0);
  desc.joint_count = (size_t)PyArray_DIM(matrices->array, 1);
  desc.rest_positions = PyArray_DATA(rest->array);
  desc.posed = PyArray_DATA(posed->array);
  desc.poses = core_pose_of(matrices->array);
  if (centers != NULL && centers->array != NULL) desc.centers = PyArray_DATA(centers->array);
  return desc;
}

PyObject *core_fit_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "posed",      "skinning_matrices", "method",  "center",
                             "damping",        "influences", "iterations",        "centers", "allowed",
                             "toward",         "pull",       "threads",           NULL};
  core_array rest = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array posed = {.name = "posed", .shape = "(F, V, 3)", .dimensions = 3};
  core_array matrices = core_matrices_argument(1);
  core_array of_vertices[3] = {{.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1},
                               {.name = "allowed", .shape = "(V, J)", .dimensions = 2, .optional = 1},
                               {.name = "toward", .shape = "(V, J)", .dimensions = 2, .optional = 1}};
  core_real pull = {.name = "pull"};
  core_method by = core_default_method();
  core_count influences = {.name = "influences", .largest = 256}, threads = {.name = "threads", .largest = INT_MAX};
  core_count iterations = {.name = "iterations", .largest = INT_MAX};
  sbs_fit_options options = sbs_default_fit_options();
  sbs_fit_desc desc;
  npy_intp shape[2];
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *made[3] = {NULL, NULL, NULL};
  PyObject *result = NULL;

  by.center.value = SBS_CENTER_WEIGHTED;
  influences.value = (Py_ssize_t)options.influences;
  iterations.value = (Py_ssize_t)options.iterations;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&O&|$O&O&O&O&O&O&O&O&O&O&:fit_weights", keywords, core_convert_doubles, &rest,
          core_convert_doubles, &posed, core_convert_reals, &matrices, core_convert_choice, &by.method,
          core_convert_choice, &by.center, core_convert_real, &by.damping, core_convert_count, &influences,
          core_convert_count, &iterations, core_convert_doubles, of_vertices, core_convert_flags, of_vertices + 1,
          core_convert_doubles, of_vertices + 2, core_convert_real, &pull, core_convert_count, &threads) ||
      !check_shapes(&rest, &posed, &matrices, of_vertices, 3)) {
    goto exit;
  }
  options.method = (sbs_method)by.method.value;
  options.center = (sbs_center)by.center.value;
  if (by.damping.given) options.damping = by.damping.value;
  options.influences = (size_t)influences.value;
  options.iterations = (size_t)iterations.value;
  options.threads = (int)threads.value;
  desc = describe(&rest, &posed, &matrices, NULL);
  if (of_vertices[0].array != NULL) desc.centers = PyArray_DATA(of_vertices[0].array);
  if (of_vertices[1].array != NULL) desc.allowed = PyArray_DATA(of_vertices[1].array);
  if (of_vertices[2].array != NULL) desc.toward = PyArray_DATA(of_vertices[2].array);
  options.pull = pull.value;
  shape[0] = (npy_intp)desc.vertex_count;
  shape[1] = (npy_intp)options.influences;
  for (int i = 0; i < 3; i++) {
    made[i] = (PyArrayObject *)PyArray_SimpleNew(i < 2 ? 2 : 1, shape, i ? NPY_DOUBLE : NPY_INT32);
    if (made[i] == NULL) goto exit;
  }

  CORE_BEGIN_CALL
  status =
      sbs_fit_weights(&desc, &options, PyArray_DATA(made[0]), PyArray_DATA(made[1]), PyArray_DATA(made[2]), &fault);
  CORE_END_CALL

  if (status == SBS_OK) {
    result = PyTuple_Pack(3, made[0], made[1], made[2]);
  } else {
    const npy_intp *dims = PyArray_DIMS(matrices.array);
    core_raise(PyModule_GetState(module), status, &fault, dims);
  }

exit:
  core_release(&rest);
  core_release(&posed);
  core_release(&matrices);
  for (int i = 0; i < 3; i++) core_release(of_vertices + i);
  for (int i = 0; i < 3; i++) Py_XDECREF((PyObject *)made[i]);
  return result;
}

const char core_fit_centers_doc[] =
    "fit_centers(rest_positions, posed, skinning_matrices, joint_indices, joint_weights, *, centers=None, threads=None)"
    "\n--\n\n"
    "Centers of spherical blending fitted to examples, as (centers (V, 3), errors (V,)).";

PyObject *core_fit_centers(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "posed",   "skinning_matrices", "joint_indices",
                             "joint_weights",  "centers", "threads",           NULL};
  core_array rest = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array posed = {.name = "posed", .shape = "(F, V, 3)", .dimensions = 3};
  core_array matrices = core_matrices_argument(1);
  core_array indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2};
  core_array weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2};
  core_array centers = {.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  sbs_fit_options options = sbs_default_fit_options();
  sbs_fit_desc desc;
  npy_intp shape[2] = {0, 3};
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *made[2] = {NULL, NULL};
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&O&|$O&O&:fit_centers", keywords, core_convert_doubles, &rest,
                                   core_convert_doubles, &posed, core_convert_reals, &matrices, core_convert_int32,
                                   &indices, core_convert_doubles, &weights, core_convert_doubles, &centers,
                                   core_convert_count, &threads) ||
      !check_shapes(&rest, &posed, &matrices, &centers, 1) || !check_influences(&indices, &weights, &rest)) {
    goto exit;
  }
  options.threads = (int)threads.value;
  desc = describe(&rest, &posed, &matrices, &centers);
  shape[0] = (npy_intp)desc.vertex_count;
  for (int i = 0; i < 2; i++) {
    made[i] = (PyArrayObject *)PyArray_SimpleNew(i ? 1 : 2, shape, NPY_DOUBLE);
    if (made[i] == NULL) goto exit;
  }

  CORE_BEGIN_CALL
  status = sbs_fit_centers(&desc, (size_t)PyArray_DIM(indices.array, 1), PyArray_DATA(indices.array),
                           PyArray_DATA(weights.array), &options, PyArray_DATA(made[0]), PyArray_DATA(made[1]), &fault);
  CORE_END_CALL

  if (status == SBS_OK) {
    result = PyTuple_Pack(2, made[0], made[1]);
  } else {
    const npy_intp *dims = PyArray_DIMS(matrices.array);
    core_raise(PyModule_GetState(module), status, &fault, dims);
  }

exit:
  core_release(&rest);
  core_release(&posed);
  core_release(&matrices);
  core_release(&indices);
  core_release(&weights);
  core_release(&centers);
  for (int i = 0; i < 2; i++) Py_XDECREF((PyObject *)made[i]);
  return result;
}

const char core_fit_matrices_doc[] =
    "fit_matrices(rest_positions, posed, skinning_matrices, joint_indices, joint_weights, *, fixed=None, sweeps=10, "
    "threads=None)\n--\n\n"
    "Matrices of linear blending fitted to examples, as (matrices (F, J, 3, 4), errors (F,)).";

PyObject *core_fit_matrices(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "posed",         "skinning_matrices",
                             "joint_indices",  "joint_weights", "fixed",
                             "sweeps",         "threads",       NULL};
  core_array rest = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array posed = {.name = "posed", .shape = "(F, V, 3)", .dimensions = 3};
  core_array matrices = core_matrices_argument(1);
  core_array indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2};
  core_array weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2};
  core_array fixed = {.name = "fixed", .shape = "(J,)", .dimensions = 1, .optional = 1};
  core_count sweeps = {.name = "sweeps", .largest = INT_MAX}, threads = {.name = "threads", .largest = INT_MAX};
  sbs_fit_matrices_options options = sbs_default_fit_matrices_options();
  sbs_fit_desc desc;
  npy_intp shape[4] = {0, 0, 3, 4};
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *made[2] = {NULL, NULL};
  PyObject *result = NULL;

  sweeps.value = (Py_ssize_t)options.sweeps;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&O&|$O&O&O&:fit_matrices", keywords, core_convert_doubles,
                                   &rest, core_convert_doubles, &posed, core_convert_reals, &matrices,
                                   core_convert_int32, &indices, core_convert_doubles, &weights, core_convert_flags,
                                   &fixed, core_convert_count, &sweeps, core_convert_count, &threads) ||
      !check_shapes(&rest, &posed, &matrices, NULL, 0) || !check_influences(&indices, &weights, &rest) ||
      (fixed.array != NULL && !core_check_length(&fixed, 0, PyArray_DIM(matrices.array, 1)))) {
    goto exit;
  }
  options.sweeps = (size_t)sweeps.value;
  options.threads = (int)threads.value;
  desc = describe(&rest, &posed, &matrices, NULL);
  shape[0] = (npy_intp)desc.frame_count;
  shape[1] = (npy_intp)desc.joint_count;
  for (int i = 0; i < 2; i++) {
    made[i] = (PyArrayObject *)PyArray_SimpleNew(i ? 1 : 4, shape, NPY_DOUBLE);
    if (made[i] == NULL) goto exit;
  }

  CORE_BEGIN_CALL
  status = sbs_fit_matrices(&desc, (size_t)PyArray_DIM(indices.array, 1), PyArray_DATA(indices.array),
                            PyArray_DATA(weights.array), fixed.array == NULL ? NULL : PyArray_DATA(fixed.array),
                            &options, PyArray_DATA(made[0]), PyArray_DATA(made[1]), &fault);
  CORE_END_CALL

  if (status == SBS_OK) {
    result = PyTuple_Pack(2, made[0], made[1]);
  } else {
    const npy_intp *dims = PyArray_DIMS(matrices.array);
    core_raise(PyModule_GetState(module), status, &fault, dims);
  }

exit:
  core_release(&rest);
  core_release(&posed);
  core_release(&matrices);
  core_release(&indices);
  core_release(&weights);
  core_release(&fixed);
  for (int i = 0; i < 2; i++) Py_XDECREF((PyObject *)made[i]);
  return result;
}
