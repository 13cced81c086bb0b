/* SPDX-License-Identifier: MIT */
#include "skin_gradient.h"

#include <limits.h>
#include <stdatomic.h>

#include "interrupts.h"
#include "pose_arguments.h"

const char core_deform_vjp_doc[] =
    "deform_vjp($self, grad_positions, grad_normals, skinning_matrices, *, wanted, method='spherical', "
    "rotation='qlerp', center='joint_set', damping=1e-8, rcond=None, amount=None, base='linear', rest_positions=None, "
    "centers=None, threads=None)\n--\n\n"
    "The gradient by rest_positions, rest_normals, joint_weights, skinning_matrices, centers and amount: a tuple, with "
    "None for what is not wanted, bits in this order. `rest_positions` and `centers` are those that the skin was moved "
    "to.";

enum {
  REST_POSITIONS,
  REST_NORMALS,
  JOINT_WEIGHTS,
  SKINNING_MATRICES,
  CENTERS,
  AMOUNT,
  RESULT_COUNT
};

/* Arrays for what is wanted. */
static int make_results(const core_skin *self, long wanted, PyArrayObject *results[RESULT_COUNT]) {
  const int type = self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE;
  const npy_intp vertices = (npy_intp)self->info.vertex_count;
  const npy_intp vectors[2] = {vertices, 3}, matrices[3] = {(npy_intp)self->info.joint_count, 3, 4};
  const npy_intp weights[2] = {vertices, PyArray_DIM(self->held[CORE_JOINT_INDICES], 1)};

  for (int i = 0; i < RESULT_COUNT; i++) {
    if (!(wanted >> i & 1)) continue;
    PyObject *made;
    if (i == SKINNING_MATRICES)
      made = PyArray_SimpleNew(3, matrices, NPY_DOUBLE);
    else if (i == AMOUNT)
      made = PyArray_SimpleNew(1, &vertices, type);
    else
      made = PyArray_SimpleNew(2, i == JOINT_WEIGHTS ? weights : vectors, type);
    results[i] = (PyArrayObject *)made;
    if (made == NULL) return 0;
  }
  return 1;
}

/* Vectors (V, 3) of the skin's type; or none. */
static int check_vectors(const core_skin *self, core_array *vectors) {
  core_array vertices = {.name = "the skin", .dimensions = 2, .array = self->held[CORE_REST_POSITIONS]};

  if (vectors->array == NULL) return 1;
  return core_check_length(vectors, 1, 3) && core_check_agreement(vectors, &vertices, 0) &&
         core_cast(vectors, self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE) == 0;
}

/* The skin's influences arranged for gradients, which is done when it is first needed. */
static sbs_status get_gradient(core_skin *self, const sbs_skin_desc *desc, const sbs_gradient **gradient,
                               sbs_fault *fault) {
  sbs_gradient *made = NULL, *present = atomic_load(&self->gradient);
  if (present == NULL) {
    const sbs_status status = sbs_gradient_new(self->skin, desc, NULL, &made, fault);
    if (status != SBS_OK) return status;
    if (atomic_compare_exchange_strong(&self->gradient, &present, made))
      present = made;
    else
      sbs_gradient_free(made);
  }
  *gradient = present;
  return SBS_OK;
}

static void *data_of(PyArrayObject *array) {
  return array != NULL ? PyArray_DATA(array) : NULL;
}

PyObject *core_deform_vjp(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"grad_positions", "grad_normals",   "skinning_matrices", "wanted",  "method",
                             "rotation",       "center",         "damping",           "rcond",   "amount",
                             "base",           "rest_positions", "centers",           "threads", NULL};
  core_skin *self = (core_skin *)object;
  core_array positions = {.name = "grad_positions", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_array normals = {.name = "grad_normals", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_array rest_positions = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_array centers = {.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1};
  core_array matrices = core_matrices_argument(0), amount = core_amount_argument();
  core_method by = core_default_method();
  core_base base = {.set = sbs_default_deform_options()};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  sbs_deform_options options = sbs_default_deform_options();
  PyArrayObject *results[RESULT_COUNT] = {NULL};
  long wanted = 0;
  sbs_pose pose;
  sbs_skin_desc desc;
  const sbs_gradient *gradient;
  sbs_gradient_upstream upstream;
  sbs_gradient_result out;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  base.set.method = SBS_METHOD_LINEAR;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&O&|$lO&O&O&O&O&O&O&O&O&O&:deform_vjp", keywords, core_convert_reals, &positions,
          core_convert_reals, &normals, core_convert_reals, &matrices, &wanted, core_convert_choice, &by.method,
          core_convert_choice, &by.rotation, core_convert_choice, &by.center, core_convert_real, &by.damping,
          core_convert_real, &by.rcond, core_convert_reals, &amount, core_convert_base, &base, core_convert_reals,
          &rest_positions, core_convert_doubles, &centers, core_convert_count, &threads)) {
    goto exit;
  }
  if (!core_check_matrices(self, &matrices) || !core_set_method(&by, &options) ||
      !core_set_amount(self, &amount, &base, &options) || !check_vectors(self, &positions) ||
      !check_vectors(self, &normals) || !check_vectors(self, &rest_positions) ||
      (centers.array != NULL && !core_check_length(&centers, 1, 3)) || !make_results(self, wanted, results)) {
    goto exit;
  }
  if (normals.array != NULL && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "grad_normals needs a skin that was made with rest_normals");
    goto exit;
  }
  options.threads = (int)threads.value;
  pose = core_pose_of(matrices.array);
  desc = core_describe_skin(self->held, self->info.joint_count);
  if (rest_positions.array != NULL) desc.rest_positions = PyArray_DATA(rest_positions.array);
  if (centers.array != NULL) desc.centers = PyArray_DATA(centers.array);
  upstream = (sbs_gradient_upstream){.positions = data_of(positions.array), .normals = data_of(normals.array)};
  out = (sbs_gradient_result){.rest_positions = data_of(results[REST_POSITIONS]),
                              .rest_normals = data_of(results[REST_NORMALS]),
                              .joint_weights = data_of(results[JOINT_WEIGHTS]),
                              .skinning_matrices = data_of(results[SKINNING_MATRICES]),
                              .centers = data_of(results[CENTERS]),
                              .amount = data_of(results[AMOUNT])};

  CORE_BEGIN_CALL
  status = get_gradient(self, &desc, &gradient, &fault);
  if (status == SBS_OK)
    status = sbs_gradient_deform(gradient, self->skin, &desc, &pose, &options, &upstream, &out, &fault);
  CORE_END_CALL

  if (status != SBS_OK) {
    core_raise_fault(object, status, &fault, matrices.array);
    goto exit;
  }
  result = PyTuple_New(RESULT_COUNT);
  for (int i = 0; result != NULL && i < RESULT_COUNT; i++)
    PyTuple_SetItem(result, i, Py_NewRef(results[i] != NULL ? (PyObject *)results[i] : Py_None));

exit:
  core_release(&positions);
  core_release(&normals);
  core_release(&rest_positions);
  core_release(&centers);
  core_release(&matrices);
  core_release(&amount);
  for (int i = 0; i < RESULT_COUNT; i++) Py_XDECREF((PyObject *)results[i]);
  return result;
}

const char core_weight_jacobian_doc[] =
    "weight_jacobian($self, vertex, skinning_matrices, *, method='spherical', rotation='qlerp', center='joint_set', "
    "damping=1e-8, rcond=None, amount=None, base='linear')\n--\n\n"
    "The derivative (3, K) of a vertex by its weights.";

PyObject *core_weight_jacobian(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {
      "vertex", "skinning_matrices", "method", "rotation", "center", "damping", "rcond", "amount", "base", NULL};
  core_skin *self = (core_skin *)object;
  core_array matrices = core_matrices_argument(0), amount = core_amount_argument();
  core_method by = core_default_method();
  core_base base = {.set = sbs_default_deform_options()};
  sbs_deform_options options = sbs_default_deform_options();
  Py_ssize_t vertex;
  npy_intp shape[2] = {3, PyArray_DIM(self->held[CORE_JOINT_INDICES], 1)};
  PyArrayObject *result = NULL;
  sbs_skin_desc desc;
  sbs_pose pose;
  const sbs_gradient *gradient;
  sbs_fault fault = {0};
  sbs_status status;

  base.set.method = SBS_METHOD_LINEAR;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "nO&|$O&O&O&O&O&O&O&:weight_jacobian", keywords, &vertex,
                                   core_convert_reals, &matrices, core_convert_choice, &by.method, core_convert_choice,
                                   &by.rotation, core_convert_choice, &by.center, core_convert_real, &by.damping,
                                   core_convert_real, &by.rcond, core_convert_reals, &amount, core_convert_base,
                                   &base) ||
      !core_check_matrices(self, &matrices) || !core_set_method(&by, &options) ||
      !core_set_amount(self, &amount, &base, &options)) {
    goto exit;
  }
  if (vertex < 0 || (size_t)vertex >= self->info.vertex_count) {
    PyErr_Format(PyExc_IndexError, "vertex %zd is out of range: there are %zu", vertex, self->info.vertex_count);
    goto exit;
  }
  result = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  if (result == NULL) goto exit;
  pose = core_pose_of(matrices.array);
  desc = core_describe_skin(self->held, self->info.joint_count);

  CORE_BEGIN_CALL
  status = get_gradient(self, &desc, &gradient, &fault);
  if (status == SBS_OK)
    status = sbs_gradient_weight_jacobian(gradient, self->skin, &desc, &pose, &options, (size_t)vertex,
                                          PyArray_DATA(result), &fault);
  CORE_END_CALL

  if (status != SBS_OK) {
    core_raise_fault(object, status, &fault, matrices.array);
    Py_CLEAR(result);
  }

exit:
  core_release(&matrices);
  core_release(&amount);
  return (PyObject *)result;
}
