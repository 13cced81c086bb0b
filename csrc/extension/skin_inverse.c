/* SPDX-License-Identifier: MIT */
#include "skin_inverse.h"

#include <limits.h>

#include "interrupts.h"
#include "pose_arguments.h"

const char core_inverse_deform_doc[] =
    "inverse_deform($self, posed_positions, skinning_matrices, *, method='spherical', rotation='qlerp', "
    "center='joint_set', damping=1e-8, rcond=None, amount=None, base='linear', out=None, threads=None)\n--\n\n"
    "Rest positions (V, 3) from posed ones, and which vertices have no inverse, (V,) bool.";

/* Checks that the posed positions are of this mesh, and casts them to the skin's type. */
static int check_posed(const core_skin *self, core_array *posed) {
  if ((size_t)PyArray_DIM(posed->array, 0) != self->info.vertex_count || PyArray_DIM(posed->array, 1) != 3) {
    char expected[80];
    PyOS_snprintf(expected, sizeof expected, "(%zu, 3)", self->info.vertex_count);
    core_raise_shape(posed, expected);
    return 0;
  }
  return core_cast(posed, self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE) == 0;
}

PyObject *core_inverse_deform(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"posed_positions",
                             "skinning_matrices",
                             "method",
                             "rotation",
                             "center",
                             "damping",
                             "rcond",
                             "amount",
                             "base",
                             "out",
                             "threads",
                             NULL};
  core_skin *self = (core_skin *)object;
  const npy_intp vertex_count = (npy_intp)self->info.vertex_count;
  core_array posed = {.name = "posed_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array matrices = core_matrices_argument(0), amount = core_amount_argument();
  core_method by = core_default_method();
  core_base base = {.set = sbs_default_deform_options()};
  core_array positions = {.name = "out", .optional = 1};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  sbs_deform_options options = sbs_default_deform_options();
  sbs_pose pose;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *singular = NULL, *result = NULL;

  base.set.method = SBS_METHOD_LINEAR;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O&O&O&O&O&O&O&O&O&:inverse_deform", keywords,
                                   core_convert_reals, &posed, core_convert_reals, &matrices, core_convert_choice,
                                   &by.method, core_convert_choice, &by.rotation, core_convert_choice, &by.center,
                                   core_convert_real, &by.damping, core_convert_real, &by.rcond, core_convert_reals,
                                   &amount, core_convert_base, &base, core_convert_output, &positions,
                                   core_convert_count, &threads)) {
    goto exit;
  }
  if (!core_check_matrices(self, &matrices) || !check_posed(self, &posed) || !core_set_method(&by, &options) ||
      !core_set_amount(self, &amount, &base, &options) || !core_prepare_output(self, &positions, matrices.array) ||
      !core_check_no_overlap(&positions, amount.array, amount.name)) {
    goto exit;
  }
  /* may be the same array, but must not overlap otherwise */
  if (PyArray_DATA(positions.array) != PyArray_DATA(posed.array) &&
      !core_check_no_overlap(&positions, posed.array, posed.name)) {
    goto exit;
  }
  singular = PyArray_SimpleNew(1, &vertex_count, NPY_BOOL);
  if (singular == NULL) goto exit;
  options.threads = (int)threads.value;
  pose = core_pose_of(matrices.array);

  CORE_BEGIN_CALL
  status =
      sbs_skin_inverse_deform(self->skin, &pose, &options, PyArray_DATA(posed.array), 0, PyArray_DATA(positions.array),
                              PyArray_DATA((PyArrayObject *)singular), NULL, &fault);
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise_fault(object, status, &fault, matrices.array);
  else
    result = PyTuple_Pack(2, positions.array, singular);

exit:
  core_release(&posed);
  core_release(&matrices);
  core_release(&amount);
  core_release(&positions);
  Py_XDECREF(singular);
  return result;
}
