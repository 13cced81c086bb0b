/* SPDX-License-Identifier: MIT */
#include "fit_functions.h"

#include <limits.h>
#include <sbs/fit.h>

#include "errors.h"
#include "interrupts.h"
#include "pose_arguments.h"

const char core_fit_weights_doc[] =
    "fit_weights(rest_positions, posed, skinning_matrices, *, method='spherical', center='weighted', damping=1e-8, "
    "influences=4,\n    iterations=30, centers=None, threads=None)\n--\n\n"
    "Weights fitted to examples, as (joint_indices (V, K), joint_weights (V, K), errors (V,)).";

/* Whether all arrays are of the same mesh, frames and joints; raises if not. */
static int check_shapes(const core_array *rest, const core_array *posed, const core_array *matrices,
                        const core_array *centers) {
  const npy_intp *shape = PyArray_DIMS(matrices->array);
  if (!core_check_length(rest, 1, 3) || !core_check_length(posed, 2, 3) ||
      !core_check_length(posed, 1, PyArray_DIM(rest->array, 0)) || !core_check_agreement(posed, matrices, 0)) {
    return 0;
  }
  if (shape[3] != 4 || (shape[2] != 4 && shape[2] != 3)) {
    core_raise_shape(matrices, matrices->shape);
    return 0;
  }
  if (centers->array == NULL) return 1;
  return core_check_length(centers, 1, 3) && core_check_agreement(centers, rest, 0);
}

PyObject *core_fit_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "posed",      "skinning_matrices", "method",  "center", "damping",
                             "influences",     "iterations", "centers",           "threads", NULL};
  core_array rest = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array posed = {.name = "posed", .shape = "(F, V, 3)", .dimensions = 3};
  core_array matrices = core_matrices_argument(1);
  core_array centers = {.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_method by = core_default_method();
  core_count influences = {.name = "influences", .largest = 256}, threads = {.name = "threads", .largest = INT_MAX};
  core_count iterations = {.name = "iterations", .largest = INT_MAX};
  sbs_fit_options options = sbs_default_fit_options();
  sbs_fit_desc desc = sbs_default_fit_desc();
  npy_intp shape[2];
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *made[3] = {NULL, NULL, NULL};
  PyObject *result = NULL;

  by.center.value = SBS_CENTER_WEIGHTED;
  influences.value = (Py_ssize_t)options.influences;
  iterations.value = (Py_ssize_t)options.iterations;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&|$O&O&O&O&O&O&O&:fit_weights", keywords, core_convert_doubles,
                                   &rest, core_convert_doubles, &posed, core_convert_reals, &matrices,
                                   core_convert_choice, &by.method, core_convert_choice, &by.center, core_convert_real,
                                   &by.damping, core_convert_count, &influences, core_convert_count, &iterations,
                                   core_convert_doubles, &centers, core_convert_count, &threads) ||
      !check_shapes(&rest, &posed, &matrices, &centers)) {
    goto exit;
  }
  options.method = (sbs_method)by.method.value;
  options.center = (sbs_center)by.center.value;
  if (by.damping.given) options.damping = by.damping.value;
  options.influences = (size_t)influences.value;
  options.iterations = (size_t)iterations.value;
  options.threads = (int)threads.value;
  desc.vertex_count = (size_t)PyArray_DIM(rest.array, 0);
  desc.frame_count = (size_t)PyArray_DIM(posed.array, 0);
  desc.joint_count = (size_t)PyArray_DIM(matrices.array, 1);
  desc.rest_positions = PyArray_DATA(rest.array);
  desc.posed = PyArray_DATA(posed.array);
  desc.poses = core_pose_of(matrices.array);
  if (centers.array != NULL) desc.centers = PyArray_DATA(centers.array);
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
  core_release(&centers);
  for (int i = 0; i < 3; i++) Py_XDECREF((PyObject *)made[i]);
  return result;
}
