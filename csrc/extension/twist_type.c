/* SPDX-License-Identifier: MIT */
#include "twist_type.h"

#include <string.h>

#include "arguments.h"
#include "errors.h"
#include "frames.h"
#include "interrupts.h"
#include "pose_arguments.h"

typedef struct core_twist {
  PyObject_HEAD
  sbs_twist *twist;
  size_t given_joint_count, bone_count;
} core_twist;

static const core_state *state_of(PyObject *object) {
  return PyType_GetModuleState(Py_TYPE(object));
}

const sbs_twist *core_get_twist(PyObject *twist) {
  return twist == NULL ? NULL : ((const core_twist *)twist)->twist;
}

int core_convert_twist(core_call *call, PyObject *object, void *field) {
  const core_twist *twist = (const core_twist *)object;
  const npy_intp joint_count = call->lengths['J' - 'A'];

  if (object == Py_None) return 1;
  if (!PyObject_TypeCheck(object, (PyTypeObject *)core_state_of(call)->twist_type)) {
    PyErr_Format(PyExc_TypeError, "twist must be None or a Twist, not %R", (PyObject *)Py_TYPE(object));
    return 0;
  }
  if (joint_count >= 0 && (size_t)joint_count != twist->given_joint_count) {
    PyErr_Format(PyExc_ValueError, "twist is of %zu joints, where there are %zd", twist->given_joint_count,
                 (Py_ssize_t)joint_count);
    return 0;
  }
  core_set_length(call, 'J', twist->given_joint_count);
  core_set_length(call, 'B', twist->bone_count);
  *(PyObject **)field = object;
  return 1;
}

/* What an optional array holds, or NULL. */
static const void *data_or_null(const core_array *argument) {
  return argument->array != NULL ? PyArray_DATA(argument->array) : NULL;
}

static sbs_scalar scalar_of(const core_array *argument) {
  return PyArray_TYPE(argument->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
}

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

/* The object is made last, so that it is never seen without its bones. */
static PyObject *make(PyTypeObject *type, const sbs_twist_desc *desc) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  sbs_twist *twist = NULL;
  sbs_fault fault = {0};
  const sbs_status status = sbs_twist_new(desc, NULL, &twist, &fault);
  core_twist *self;

  if (status != SBS_OK) {
    core_raise(PyType_GetModuleState(type), status, &fault, NULL);
    return NULL;
  }
  self = (core_twist *)allocate(type, 0);
  if (self == NULL) {
    sbs_twist_free(twist);
    return NULL;
  }
  self->twist = twist;
  self->given_joint_count = desc->joint_count;
  self->bone_count = desc->bone_count;
  return (PyObject *)self;
}

static PyObject *twist_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"joint_count", "joints", "parents", "children", "heads",
                             "tails",       "frames", "smooth",  NULL};
  core_count joint_count = {.name = "joint_count", .largest = PY_SSIZE_T_MAX};
  core_count frames = {.name = "frames", .largest = PY_SSIZE_T_MAX};
  core_array joints = {.name = "joints", .shape = "(B,)", .dimensions = 1};
  core_array parents = {.name = "parents", .shape = "(B,)", .dimensions = 1};
  core_array children = {.name = "children", .shape = "(B,)", .dimensions = 1};
  core_array heads = {.name = "heads", .shape = "(B, 3)", .dimensions = 2};
  core_array tails = {.name = "tails", .shape = "(B, 3)", .dimensions = 2};
  sbs_twist_desc desc = sbs_default_twist_desc();
  PyObject *self = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&O&O&|$O&p:Twist", keywords, core_convert_count, &joint_count,
                                   core_convert_int32, &joints, core_convert_int32, &parents, core_convert_int32,
                                   &children, core_convert_doubles, &heads, core_convert_doubles, &tails,
                                   core_convert_count, &frames, &desc.smooth)) {
    goto exit;
  }
  if (!core_check_agreement(&joints, &parents, 0) || !core_check_agreement(&joints, &children, 0) ||
      !core_check_agreement(&joints, &heads, 0) || !core_check_agreement(&joints, &tails, 0) ||
      !core_check_length(&heads, 1, 3) || !core_check_length(&tails, 1, 3)) {
    goto exit;
  }
  if (frames.value == 1) {
    PyErr_SetString(PyExc_ValueError, "frames must be at least 2, not 1");
    goto exit;
  }
  desc.joint_count = (size_t)joint_count.value;
  desc.bone_count = (size_t)PyArray_DIM(joints.array, 0);
  desc.joints = PyArray_DATA(joints.array);
  desc.parents = PyArray_DATA(parents.array);
  desc.children = PyArray_DATA(children.array);
  desc.heads = PyArray_DATA(heads.array);
  desc.tails = PyArray_DATA(tails.array);
  desc.frames_per_bone = (size_t)frames.value;
  self = make(type, &desc);

exit:
  core_release(&joints);
  core_release(&parents);
  core_release(&children);
  core_release(&heads);
  core_release(&tails);
  return self;
}

/* An instance refers to its type, and so to the module. The collector must know, or the module is never freed. */
static int twist_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  return 0;
}

static void twist_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

  PyObject_GC_UnTrack(object);
  sbs_twist_free(((core_twist *)object)->twist);
  release(object);
  Py_DECREF(type);
}

/* ------------------------------------------------------------------------------------------------------- at bind -- */

static PyObject *twist_influences(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"rest_positions", "joint_indices", "joint_weights", "shares", NULL};
  const core_twist *self = (const core_twist *)object;
  core_array positions = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2};
  core_array weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2};
  core_array shares = {.name = "shares", .shape = "(V, K)", .dimensions = 2, .optional = 1};
  PyArrayObject *new_indices = NULL, *new_weights = NULL;
  PyObject *result = NULL;
  sbs_fault fault = {0};
  sbs_status status;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&|O&:influences", keywords, core_convert_reals, &positions,
                                   core_convert_int32, &indices, core_convert_reals, &weights, core_convert_doubles,
                                   &shares)) {
    goto exit;
  }
  if (!core_check_length(&positions, 1, 3) || !core_check_agreement(&indices, &weights, 0) ||
      !core_check_agreement(&indices, &weights, 1) || !core_check_agreement(&positions, &indices, 0) ||
      (shares.array != NULL &&
       (!core_check_agreement(&indices, &shares, 0) || !core_check_agreement(&indices, &shares, 1)))) {
    goto exit;
  }
  const npy_intp shape[2] = {PyArray_DIM(indices.array, 0), 2 * PyArray_DIM(indices.array, 1)};
  new_indices = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_INT32);
  new_weights = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  if (new_indices == NULL || new_weights == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_twist_influences(self->twist, (size_t)shape[0], scalar_of(&positions), PyArray_DATA(positions.array), 0,
                                (size_t)PyArray_DIM(indices.array, 1), PyArray_DATA(indices.array), scalar_of(&weights),
                                PyArray_DATA(weights.array), data_or_null(&shares), PyArray_DATA(new_indices),
                                PyArray_DATA(new_weights), &fault);
  CORE_END_CALL
  if (status == SBS_OK)
    result = PyTuple_Pack(2, (PyObject *)new_indices, (PyObject *)new_weights);
  else
    core_raise(state_of(object), status, &fault, NULL);

exit:
  core_release(&positions);
  core_release(&indices);
  core_release(&weights);
  core_release(&shares);
  Py_XDECREF((PyObject *)new_indices);
  Py_XDECREF((PyObject *)new_weights);
  return result;
}

/* ----------------------------------------------------------------------------------------------------- in a pose -- */

static PyObject *twist_angles(PyObject *object, PyObject *args) {
  const core_twist *self = (const core_twist *)object;
  core_array matrices = core_matrices_argument(1);
  core_array previous = {.name = "previous", .shape = "(B, 2)", .dimensions = 2, .optional = 1};
  PyArrayObject *angles = NULL;
  sbs_fault fault = {0};
  sbs_status status = SBS_OK;
  int follow = 0;

  if (!PyArg_ParseTuple(args, "O&pO&:angles", core_convert_reals, &matrices, &follow, core_convert_doubles,
                        &previous) ||
      !core_check_frames(&matrices, self->given_joint_count)) {
    goto exit;
  }
  if (previous.array != NULL &&
      (!core_check_length(&previous, 0, (npy_intp)self->bone_count) || !core_check_length(&previous, 1, 2))) {
    goto exit;
  }
  const npy_intp shape[3] = {PyArray_DIM(matrices.array, 0), (npy_intp)self->bone_count, 2};
  angles = (PyArrayObject *)PyArray_SimpleNew(3, shape, NPY_DOUBLE);
  if (angles == NULL) goto exit;
  const double *before = data_or_null(&previous);
  double *found = PyArray_DATA(angles);
  npy_intp frame = 0;
  CORE_BEGIN_CALL
  for (; frame < shape[0] && status == SBS_OK; frame++, found += 2 * self->bone_count) {
    const sbs_pose pose = core_pose_of_frame(&matrices, frame);
    status = sbs_twist_angles(self->twist, &pose, before, found, &fault);
    if (follow) before = found;
  }
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise_in_frame(state_of(object), &matrices, frame - 1, status, &fault);
    Py_CLEAR(angles);
  }

exit:
  core_release(&matrices);
  core_release(&previous);
  return (PyObject *)angles;
}

static PyObject *twist_pose(PyObject *object, PyObject *args) {
  const core_twist *self = (const core_twist *)object;
  const size_t count = sbs_twist_joint_count(self->twist);
  core_array matrices = core_matrices_argument(1);
  core_array angles = {.name = "twists", .shape = "(F, B, 2)", .dimensions = 3, .optional = 1};
  PyArrayObject *all = NULL;
  sbs_fault fault = {0};
  sbs_status status = SBS_OK;

  if (!PyArg_ParseTuple(args, "O&O&:pose", core_convert_reals, &matrices, core_convert_doubles, &angles) ||
      !core_check_frames(&matrices, self->given_joint_count)) {
    goto exit;
  }
  const npy_intp shape[4] = {PyArray_DIM(matrices.array, 0), (npy_intp)count, 3, 4};
  if (angles.array != NULL &&
      (PyArray_DIM(angles.array, 0) != shape[0] || (size_t)PyArray_DIM(angles.array, 1) != self->bone_count ||
       PyArray_DIM(angles.array, 2) != 2)) {
    char expected[80];
    PyOS_snprintf(expected, sizeof expected, "(%zd, %zu, 2): %zu bones", (Py_ssize_t)shape[0], self->bone_count,
                  self->bone_count);
    core_raise_shape(&angles, expected);
    goto exit;
  }
  all = (PyArrayObject *)PyArray_SimpleNew(4, shape, NPY_DOUBLE);
  if (all == NULL) goto exit;
  npy_intp frame = 0;
  CORE_BEGIN_CALL
  for (; frame < shape[0] && status == SBS_OK; frame++) {
    const sbs_pose pose = core_pose_of_frame(&matrices, frame);
    const double *told = data_or_null(&angles);
    if (told != NULL) told += (size_t)frame * 2 * self->bone_count;
    status = sbs_twist_pose(self->twist, &pose, told, (double *)PyArray_DATA(all) + (size_t)frame * count * 12, &fault);
  }
  CORE_END_CALL
  if (status != SBS_OK) {
    if (fault.argument != NULL && strcmp(fault.argument, "angles") == 0) fault.argument = "twists";
    core_raise_in_frame(state_of(object), &matrices, frame - 1, status, &fault);
    Py_CLEAR(all);
  }

exit:
  core_release(&matrices);
  core_release(&angles);
  return (PyObject *)all;
}

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_joint_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_twist_joint_count(((const core_twist *)object)->twist));
}

static PyGetSetDef properties[] = {{"joint_count", get_joint_count, NULL, "Number of joints with the frames.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"influences", (PyCFunction)(void (*)(void))twist_influences, METH_VARARGS | METH_KEYWORDS,
     "influences($self, rest_positions, joint_indices, joint_weights, shares=None)\n--\n\n"
     "New arrays joint_indices and joint_weights (V, 2 K) of influences (V, K)."},
    {"angles", twist_angles, METH_VARARGS,
     "angles($self, skinning_matrices, follow, previous, /)\n--\n\n"
     "Twists (F, B, 2) in frames (F, J, 4, 4) or (F, J, 3, 4), nearest to `previous` (B, 2) or to those of the frame "
     "before."},
    {"pose", twist_pose, METH_VARARGS,
     "pose($self, skinning_matrices, twists, /)\n--\n\n"
     "Skinning matrices (F, J', 3, 4) of all joints, by twists (F, B, 2) or None."},
    {NULL, NULL, 0, NULL}};

static const char twist_doc[] =
    "Twist(joint_count, joints, parents, children, heads, tails, *, frames=None, smooth=False)\n--\n\n"
    "Bones along which a twist is spread. Nothing that is given is kept.";

static PyType_Slot slots[] = {{Py_tp_doc, (void *)twist_doc},
                              {Py_tp_new, twist_new},
                              {Py_tp_dealloc, twist_dealloc},
                              {Py_tp_traverse, twist_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {
    .name = "sbs._core.Twist",
    .basicsize = sizeof(core_twist),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *core_new_twist_type(PyObject *module) {
  return PyType_FromModuleAndSpec(module, &spec, NULL);
}
