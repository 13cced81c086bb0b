/* SPDX-License-Identifier: MIT */
#include "skin_deform.h"

#include <limits.h>

#include "interrupts.h"
#include "pose_arguments.h"

/* ------------------------------------------------------------------------------------------------------- deform -- */

#define DEFORM_DOC(name, matrices, results) \
  name "($self, skinning_matrices, *, method='spherical', rotation='qlerp', center='joint_set', damping=1e-8, " \
       "rcond=None, amount=None, base='linear', normals=False, out=None, out_normals=None, threads=None)\n--\n\n" \
       "Positions " results " of the mesh in the poses of matrices " matrices ", or positions and normals."

const char core_deform_doc[] = DEFORM_DOC("deform", "(J, 3 or 4, 4)", "(V, 3)");
const char core_deform_many_doc[] = DEFORM_DOC("deform_many", "(F, J, 3 or 4, 4)", "(F, V, 3)");

/* Both deform and deform_many. */
static PyObject *deform_frames(PyObject *object, PyObject *args, PyObject *kwargs, int many) {
  static char *keywords[] = {
      "skinning_matrices", "method", "rotation",    "center",  "damping", "rcond", "amount", "base",
      "normals",           "out",    "out_normals", "threads", NULL};
  core_skin *self = (core_skin *)object;
  const char *format = many ? "O&|$O&O&O&O&O&O&O&pO&O&O&:deform_many" : "O&|$O&O&O&O&O&O&O&pO&O&O&:deform";
  core_array matrices = core_matrices_argument(many), amount = core_amount_argument();
  core_method by = core_default_method();
  core_base base = {.set = sbs_default_deform_options()};
  core_array positions = {.name = "out", .optional = 1}, normals = {.name = "out_normals", .optional = 1};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  int with_normals = 0;
  sbs_deform_options options = sbs_default_deform_options();
  sbs_pose frames;
  void *out, *out_normals;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  base.set.method = SBS_METHOD_LINEAR;
  matrices.shape = many ? "(F, J, 4, 4) or (F, J, 3, 4); deform takes one frame"
                        : "(J, 4, 4) or (J, 3, 4), as Character.skinning_matrices makes them; deform_many takes frames";
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, keywords, core_convert_reals, &matrices, core_convert_choice,
                                   &by.method, core_convert_choice, &by.rotation, core_convert_choice, &by.center,
                                   core_convert_real, &by.damping, core_convert_real, &by.rcond, core_convert_reals,
                                   &amount, core_convert_base, &base, &with_normals, core_convert_output, &positions,
                                   core_convert_output, &normals, core_convert_count, &threads)) {
    goto exit;
  }
  if (!core_check_matrices(self, &matrices) || !core_set_method(&by, &options) ||
      !core_set_amount(self, &amount, &base, &options)) {
    goto exit;
  }
  if (with_normals && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "normals=True needs a skin that was made with rest_normals");
    goto exit;
  }
  if (normals.array != NULL && !with_normals) {
    PyErr_SetString(PyExc_ValueError, "out_normals needs normals=True");
    goto exit;
  }
  if (!core_prepare_output(self, &positions, matrices.array) ||
      !core_check_no_overlap(&positions, amount.array, amount.name)) {
    goto exit;
  }
  if (with_normals && (!core_prepare_output(self, &normals, matrices.array) ||
                       !core_check_no_overlap(&normals, amount.array, amount.name) ||
                       !core_check_no_overlap(&normals, positions.array, positions.name))) {
    goto exit;
  }

  options.threads = (int)threads.value;
  frames = core_pose_of(matrices.array);
  out = PyArray_DATA(positions.array);
  out_normals = with_normals ? PyArray_DATA(normals.array) : NULL;

  CORE_BEGIN_CALL
  if (many) { /* several frames at once: the library allocates memory for each */
    status = sbs_skin_deform_many(self->skin, (size_t)PyArray_DIM(matrices.array, 0), &frames, &options, out,
                                  out_normals, NULL, &fault);
  } else {
    options.scratch = core_take_scratch(&self->scratch);
    options.scratch_size = self->scratch.size;
    status = sbs_skin_deform(self->skin, &frames, &options, out, out_normals, NULL, &fault);
    core_give_scratch(&self->scratch, options.scratch);
  }
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise_fault(object, status, &fault, matrices.array);
  else if (with_normals)
    result = PyTuple_Pack(2, positions.array, normals.array);
  else
    result = Py_NewRef((PyObject *)positions.array);

exit:
  core_release(&matrices);
  core_release(&amount);
  core_release(&positions);
  core_release(&normals);
  return result;
}

PyObject *core_deform(PyObject *self, PyObject *args, PyObject *kwargs) {
  return deform_frames(self, args, kwargs, 0);
}

PyObject *core_deform_many(PyObject *self, PyObject *args, PyObject *kwargs) {
  return deform_frames(self, args, kwargs, 1);
}

/* --------------------------------------------------------------------------------------------- rotation centers -- */

const char core_rotation_centers_doc[] =
    "rotation_centers($self, skinning_matrices, *, damping=1e-8, rcond=None)\n--\n\n"
    "Rotation centers (N, 3) of the joint sets in a pose, and the counts (nontrivial_joint_sets, solves, "
    "nonrigid_joints).";

PyObject *core_rotation_centers(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"skinning_matrices", "damping", "rcond", NULL};
  const core_skin *self = (core_skin *)object;
  const npy_intp shape[2] = {(npy_intp)self->info.joint_set_count, 3};
  core_array matrices = core_matrices_argument(0);
  core_method by = core_default_method();
  sbs_deform_options options = sbs_default_deform_options();
  sbs_pose frame;
  sbs_deform_report report = {0};
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *centers = NULL, *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$O&O&:rotation_centers", keywords, core_convert_reals, &matrices,
                                   core_convert_real, &by.damping, core_convert_real, &by.rcond)) {
    goto exit;
  }
  if (!core_check_matrices(self, &matrices) || !core_set_method(&by, &options)) goto exit;
  centers = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  if (centers == NULL) goto exit;
  frame = core_pose_of(matrices.array);

  CORE_BEGIN_CALL
  status =
      sbs_skin_rotation_centers(self->skin, &frame, &options, PyArray_DATA((PyArrayObject *)centers), &report, &fault);
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise_fault(object, status, &fault, matrices.array);
  else
    result = Py_BuildValue("O(nnn)", centers, (Py_ssize_t)report.nontrivial_joint_sets, (Py_ssize_t)report.solves,
                           (Py_ssize_t)report.nonrigid_joints);

exit:
  core_release(&matrices);
  Py_XDECREF(centers);
  return result;
}
