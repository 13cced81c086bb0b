/* SPDX-License-Identifier: MIT */
#include "centers_functions.h"

#include <limits.h>
#include <sbs/centers.h>

#include "arguments.h"
#include "errors.h"
#include "progress.h"

const char core_optimized_centers_doc[] =
    "optimized_centers(rest_positions, triangles, joint_indices, joint_weights, *, sigma=0.1, refinement=0.1,\n"
    "    tolerance=1e-2, progress=None, threads=None)\n--\n\n"
    "Optimized centers of rotation, as (centers (V, 3) float64, (rigid, dissimilar, samples)).";

static npy_int32 largest_of(PyArrayObject *array) {
  const npy_int32 *joint = PyArray_DATA(array);
  const npy_intp size = PyArray_SIZE(array);
  npy_int32 largest = 0;

  for (npy_intp i = 0; i < size; i++) largest = joint[i] > largest ? joint[i] : largest;
  return largest;
}

static sbs_scalar scalar_of(const core_array *argument) {
  return PyArray_TYPE(argument->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
}

/* Describes the mesh whose centers to find; raises and returns 0 if shapes do not agree. */
static int describe(const core_array *positions, const core_array *triangles, const core_array *indices,
                    const core_array *weights, sbs_skin_desc *desc) {
  if (!core_check_length(positions, 1, 3) || !core_check_length(triangles, 1, 3) ||
      !core_check_agreement(positions, indices, 0) || !core_check_agreement(indices, weights, 0) ||
      !core_check_agreement(indices, weights, 1)) {
    return 0;
  }
  *desc = sbs_default_skin_desc();
  desc->vertex_count = (size_t)PyArray_DIM(positions->array, 0);
  desc->joint_count = (size_t)largest_of(indices->array) + 1;
  desc->influences_per_vertex = (size_t)PyArray_DIM(indices->array, 1);
  desc->scalar = scalar_of(positions);
  desc->rest_positions = PyArray_DATA(positions->array);
  desc->joint_indices = PyArray_DATA(indices->array);
  desc->weight_scalar = scalar_of(weights);
  desc->joint_weights = PyArray_DATA(weights->array);
  return 1;
}

PyObject *core_optimized_centers(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "triangles", "joint_indices", "joint_weights", "sigma",
                             "refinement",     "tolerance", "progress",      "threads",       NULL};
  sbs_centers_options options = sbs_default_centers_options();
  core_array positions = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_array indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2};
  core_array weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2};
  core_real sigma = {.name = "sigma", .value = options.sigma};
  core_real refinement = {.name = "refinement", .value = options.refinement};
  core_real tolerance = {.name = "tolerance", .value = options.tolerance};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  core_caller calling = {.progress = Py_None};
  sbs_skin_desc desc;
  sbs_centers_report report = {0};
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *centers = NULL;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&|$O&O&O&OO&:optimized_centers", keywords, core_convert_reals,
                                   &positions, core_convert_int32, &triangles, core_convert_int32, &indices,
                                   core_convert_reals, &weights, core_convert_real, &sigma, core_convert_real,
                                   &refinement, core_convert_real, &tolerance, &calling.progress, core_convert_count,
                                   &threads)) {
    goto exit;
  }
  if (!core_check_progress(calling.progress)) goto exit;
  if (!describe(&positions, &triangles, &indices, &weights, &desc)) goto exit;
  centers = (PyArrayObject *)PyArray_SimpleNew(2, PyArray_DIMS(positions.array), NPY_DOUBLE);
  if (centers == NULL) goto exit;
  options.sigma = sigma.value;
  options.refinement = refinement.value;
  options.tolerance = tolerance.value;
  options.threads = (int)threads.value;
  options.progress = calling.progress == Py_None ? NULL : core_tell_progress;
  options.progress_user = &calling;

  core_begin_call(&calling.call);
  status = sbs_centers_optimized(&desc, (size_t)PyArray_DIM(triangles.array, 0), PyArray_DATA(triangles.array),
                                 &options, PyArray_DATA(centers), &report, &fault);
  core_end_call(&calling.call);

  if (status == SBS_OK) {
    result = Py_BuildValue("O(nnn)", centers, (Py_ssize_t)report.rigid, (Py_ssize_t)report.dissimilar,
                           (Py_ssize_t)report.samples);
  } else {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  }

exit:
  core_release(&positions);
  core_release(&triangles);
  core_release(&indices);
  core_release(&weights);
  Py_XDECREF((PyObject *)centers);
  return result;
}
