/* SPDX-License-Identifier: MIT */
#include "skin_deform.h"

#include <limits.h>

#include "arguments.h"
#include "errors.h"

/* ---------------------------------------------------------------------------------------------------- arguments -- */

/* In the order of sbs_method, sbs_rotation and sbs_center. */
static const char *const method_words[] = {"rigid", "linear", "spherical", "dual_quaternion", NULL};
static const char *const rotation_words[] = {"qlerp", NULL};
static const char *const center_words[] = {"joint_set", NULL};

/* What all methods here take. */
typedef struct pose_arguments {
  core_array matrices;
  core_real damping;
  core_real rcond;
} pose_arguments;

static pose_arguments default_pose_arguments(int many) {
  return (pose_arguments){
      .matrices = {.name = "skinning_matrices",
                   .shape = many ? "(F, J, 4, 4) or (F, J, 3, 4)" : "(J, 4, 4) or (J, 3, 4)",
                   .dimensions = many ? 4 : 3},
      .damping = {.name = "damping", .value = sbs_default_deform_options().damping},
      .rcond = {.name = "rcond", .optional = 1},
  };
}

/* Whether the matrices fit the skin and rcond is not the 0 by which the library understands None; raises if not. */
static int check_pose(const core_skin *self, const pose_arguments *pose) {
  const core_array *matrices = &pose->matrices;
  const npy_intp *shape = PyArray_DIMS(matrices->array) + matrices->dimensions - 3;

  if (shape[2] != 4 || (shape[1] != 4 && shape[1] != 3)) {
    core_raise_shape(matrices, matrices->shape);
    return 0;
  }
  if ((size_t)shape[0] != self->info.joint_count) {
    char expected[80];
    const char *frames = matrices->dimensions == 4 ? "F, " : "";
    PyOS_snprintf(expected, sizeof expected, "(%s%zu, 4, 4) or (%s%zu, 3, 4)", frames, self->info.joint_count, frames,
                  self->info.joint_count);
    core_raise_shape(matrices, expected);
    return 0;
  }
  if (pose->rcond.given && pose->rcond.value == 0.0) {
    PyErr_SetString(PyExc_ValueError, "rcond must be None or between 0 and 1, not 0.0");
    return 0;
  }
  return 1;
}

static sbs_pose pose_of(PyArrayObject *matrices) {
  return (sbs_pose){
      .skinning_matrices = PyArray_DATA(matrices),
      .scalar = PyArray_TYPE(matrices) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64,
      .rows = (size_t)PyArray_DIM(matrices, PyArray_NDIM(matrices) - 2),
  };
}

/* Raises what a call with these matrices reported. */
static void raise_fault(PyObject *self, sbs_status status, const sbs_fault *fault, PyArrayObject *matrices) {
  const npy_intp *dims = PyArray_DIMS(matrices);
  const int many = PyArray_NDIM(matrices) == 4;
  const npy_intp shape[4] = {many ? dims[0] : 0, dims[many], dims[many + 1], dims[many + 2]};

  core_raise(PyType_GetModuleState(Py_TYPE(self)), status, fault, shape);
}

/* ------------------------------------------------------------------------------------------------------ outputs -- */

/* Whether two contiguous arrays share memory. */
static int overlap(PyArrayObject *a, PyArrayObject *b) {
  const uintptr_t a_start = (uintptr_t)PyArray_DATA(a), a_end = a_start + (uintptr_t)PyArray_NBYTES(a);
  const uintptr_t b_start = (uintptr_t)PyArray_DATA(b), b_end = b_start + (uintptr_t)PyArray_NBYTES(b);

  return (a_start > b_start ? a_start : b_start) < (a_end < b_end ? a_end : b_end);
}

static int check_no_overlap(const core_array *output, PyArrayObject *other, const char *name) {
  if (other == NULL || !overlap(output->array, other)) return 1;
  PyErr_Format(PyExc_ValueError, "%s shares memory with %s", output->name, name);
  return 0;
}

/* Makes the array for a result, or checks the one that the caller gave. 1, or 0 with an exception set. */
static int prepare_output(const core_skin *self, core_array *output, PyArrayObject *matrices) {
  static const char *const held_names[CORE_HELD_COUNT] = {"rest_positions", "joint_indices",   "joint_weights",
                                                          "parents",        "joint_positions", "rest_normals"};
  const int type = self->info.scalar == SBS_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE;
  const int many = PyArray_NDIM(matrices) == 4;
  const npy_intp shape[3] = {PyArray_DIM(matrices, 0), (npy_intp)self->info.vertex_count, 3};
  const npy_intp *wanted = many ? shape : shape + 1;

  if (output->array == NULL) {
    output->array = (PyArrayObject *)PyArray_SimpleNew(many ? 3 : 2, wanted, type);
    return output->array != NULL;
  }
  if (PyArray_NDIM(output->array) != (many ? 3 : 2) ||
      !PyArray_CompareLists(PyArray_DIMS(output->array), wanted, many ? 3 : 2)) {
    char expected[80];
    if (many)
      PyOS_snprintf(expected, sizeof expected, "(%zd, %zd, 3)", (Py_ssize_t)shape[0], (Py_ssize_t)shape[1]);
    else
      PyOS_snprintf(expected, sizeof expected, "(%zd, 3)", (Py_ssize_t)shape[1]);
    core_raise_shape(output, expected);
    return 0;
  }
  if (PyArray_TYPE(output->array) != type) {
    PyErr_Format(PyExc_ValueError, "%s must be %s like rest_positions, not %S", output->name,
                 type == NPY_FLOAT ? "float32" : "float64", (PyObject *)PyArray_DESCR(output->array));
    return 0;
  }
  for (int i = 0; i < CORE_HELD_COUNT; i++)
    if (!check_no_overlap(output, self->held[i], held_names[i])) return 0;
  return check_no_overlap(output, matrices, "skinning_matrices");
}

/* ------------------------------------------------------------------------------------------------------- deform -- */

#define DEFORM_DOC(name, matrices, results) \
  name "($self, skinning_matrices, *, method='spherical', rotation='qlerp', center='joint_set', damping=1e-8, " \
       "rcond=None, normals=False, out=None, out_normals=None, threads=None)\n--\n\n" \
       "Positions " results " of the mesh in the poses of matrices " matrices ", or positions and normals."

const char core_deform_doc[] = DEFORM_DOC("deform", "(J, 3 or 4, 4)", "(V, 3)");
const char core_deform_many_doc[] = DEFORM_DOC("deform_many", "(F, J, 3 or 4, 4)", "(F, V, 3)");

/* Both methods. */
static PyObject *deform_frames(PyObject *object, PyObject *args, PyObject *kwargs, int many) {
  static char *keywords[] = {"skinning_matrices", "method", "rotation",    "center",  "damping", "rcond",
                             "normals",           "out",    "out_normals", "threads", NULL};
  core_skin *self = (core_skin *)object;
  const char *format = many ? "O&|$O&O&O&O&O&pO&O&O&:deform_many" : "O&|$O&O&O&O&O&pO&O&O&:deform";
  pose_arguments pose = default_pose_arguments(many);
  core_choice method = {"method", method_words, SBS_METHOD_SPHERICAL};
  core_choice rotation = {"rotation", rotation_words, SBS_ROTATION_QLERP};
  core_choice center = {"center", center_words, SBS_CENTER_JOINT_SET};
  core_array positions = {.name = "out", .optional = 1}, normals = {.name = "out_normals", .optional = 1};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  int with_normals = 0;
  sbs_deform_options options = sbs_default_deform_options();
  sbs_pose frames;
  void *out, *out_normals;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, keywords, core_convert_reals, &pose.matrices,
                                   core_convert_choice, &method, core_convert_choice, &rotation, core_convert_choice,
                                   &center, core_convert_real, &pose.damping, core_convert_real, &pose.rcond,
                                   &with_normals, core_convert_output, &positions, core_convert_output, &normals,
                                   core_convert_count, &threads)) {
    goto exit;
  }
  if (!check_pose(self, &pose)) goto exit;
  if (with_normals && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "normals=True needs a skin that was made with rest_normals");
    goto exit;
  }
  if (normals.array != NULL && !with_normals) {
    PyErr_SetString(PyExc_ValueError, "out_normals needs normals=True");
    goto exit;
  }
  if (!prepare_output(self, &positions, pose.matrices.array)) goto exit;
  if (with_normals && (!prepare_output(self, &normals, pose.matrices.array) ||
                       !check_no_overlap(&normals, positions.array, positions.name))) {
    goto exit;
  }

  options.method = (sbs_method)method.value;
  options.rotation = (sbs_rotation)rotation.value;
  options.center = (sbs_center)center.value;
  options.damping = pose.damping.value;
  options.rcond = pose.rcond.value;
  options.threads = (int)threads.value;
  frames = pose_of(pose.matrices.array);
  out = PyArray_DATA(positions.array);
  out_normals = with_normals ? PyArray_DATA(normals.array) : NULL;

  Py_BEGIN_ALLOW_THREADS
  if (many) { /* works on several frames at once, each with memory of its own that it allocates */
    status = sbs_skin_deform_many(self->skin, (size_t)PyArray_DIM(pose.matrices.array, 0), &frames, &options, out,
                                  out_normals, NULL, &fault);
  } else {
    options.scratch = core_take_scratch(&self->scratch);
    options.scratch_size = self->scratch.size;
    status = sbs_skin_deform(self->skin, &frames, &options, out, out_normals, NULL, &fault);
    core_give_scratch(&self->scratch, options.scratch);
  }
  Py_END_ALLOW_THREADS

  if (status != SBS_OK)
    raise_fault(object, status, &fault, pose.matrices.array);
  else if (with_normals)
    result = PyTuple_Pack(2, positions.array, normals.array);
  else
    result = Py_NewRef((PyObject *)positions.array);

exit:
  core_release(&pose.matrices);
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
  pose_arguments pose = default_pose_arguments(0);
  sbs_deform_options options = sbs_default_deform_options();
  sbs_pose frame;
  sbs_deform_report report = {0};
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *centers = NULL, *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$O&O&:rotation_centers", keywords, core_convert_reals,
                                   &pose.matrices, core_convert_real, &pose.damping, core_convert_real, &pose.rcond)) {
    goto exit;
  }
  if (!check_pose(self, &pose)) goto exit;
  centers = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  if (centers == NULL) goto exit;
  options.damping = pose.damping.value;
  options.rcond = pose.rcond.value;
  frame = pose_of(pose.matrices.array);

  Py_BEGIN_ALLOW_THREADS
  status =
      sbs_skin_rotation_centers(self->skin, &frame, &options, PyArray_DATA((PyArrayObject *)centers), &report, &fault);
  Py_END_ALLOW_THREADS

  if (status != SBS_OK)
    raise_fault(object, status, &fault, pose.matrices.array);
  else
    result = Py_BuildValue("O(nnn)", centers, (Py_ssize_t)report.nontrivial_joint_sets, (Py_ssize_t)report.solves,
                           (Py_ssize_t)report.nonrigid_joints);

exit:
  core_release(&pose.matrices);
  Py_XDECREF(centers);
  return result;
}
