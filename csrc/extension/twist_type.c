/* SPDX-License-Identifier: MIT */
#include "twist_type.h"

#include <string.h>

#include "arguments.h"
#include "errors.h"
#include "frames.h"
#include "pose_arguments.h"

typedef struct core_twist {
  PyObject_HEAD
  sbs_twist *twist;
  size_t given_joint_count, bone_count;
} core_twist;

static const core_state *state_of(PyObject *object) {
  return PyType_GetModuleState(Py_TYPE(object));
}

const sbs_twist *core_twist_of(const core_state *state, PyObject *object) {
  if (object == Py_None) return NULL;
  if (PyObject_TypeCheck(object, (PyTypeObject *)state->twist_type)) return ((const core_twist *)object)->twist;
  PyErr_Format(PyExc_TypeError, "twist must be None or a Twist, not %R", (PyObject *)Py_TYPE(object));
  return NULL;
}

int core_convert_twist(core_call *call, PyObject *object, void *field) {
  if (object == Py_None) return 1;
  if (core_twist_of(core_state_of(call), object) == NULL) return 0;
  core_set_length(call, 'B', core_twist_bone_count(object));
  *(PyObject **)field = object;
  return 1;
}

size_t core_twist_bone_count(PyObject *twist) {
  return ((const core_twist *)twist)->bone_count;
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
  status = sbs_twist_influences(self->twist, (size_t)shape[0], scalar_of(&positions), PyArray_DATA(positions.array), 0,
                                (size_t)PyArray_DIM(indices.array, 1), PyArray_DATA(indices.array), scalar_of(&weights),
                                PyArray_DATA(weights.array), data_or_null(&shares), PyArray_DATA(new_indices),
                                PyArray_DATA(new_weights), &fault);
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

static PyObject *twist_joints(PyObject *object, PyObject *args) {
  const core_twist *self = (const core_twist *)object;
  const npy_intp count = (npy_intp)sbs_twist_joint_count(self->twist), shape[2] = {count, 3};
  core_array parents = {.name = "parents", .shape = "(J,)", .dimensions = 1, .optional = 1};
  core_array positions = {.name = "joint_positions", .shape = "(J, 3)", .dimensions = 2};
  PyObject *new_parents = NULL, *new_positions = NULL, *result = NULL;
  sbs_fault fault = {0};
  sbs_status status;

  if (!PyArg_ParseTuple(args, "O&O&:joints", core_convert_int32, &parents, core_convert_doubles, &positions) ||
      !core_check_length(&positions, 0, (npy_intp)self->given_joint_count) || !core_check_length(&positions, 1, 3) ||
      (parents.array != NULL && !core_check_length(&parents, 0, (npy_intp)self->given_joint_count))) {
    goto exit;
  }
  new_parents = parents.array != NULL ? PyArray_SimpleNew(1, shape, NPY_INT32) : Py_NewRef(Py_None);
  new_positions = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  if (new_parents == NULL || new_positions == NULL) goto exit;
  status = sbs_twist_joints(self->twist, data_or_null(&parents), PyArray_DATA(positions.array),
                            parents.array != NULL ? PyArray_DATA((PyArrayObject *)new_parents) : NULL,
                            PyArray_DATA((PyArrayObject *)new_positions), &fault);
  if (status == SBS_OK)
    result = PyTuple_Pack(2, new_parents, new_positions);
  else
    core_raise(state_of(object), status, &fault, NULL);

exit:
  core_release(&parents);
  core_release(&positions);
  Py_XDECREF(new_parents);
  Py_XDECREF(new_positions);
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
  for (npy_intp f = 0; f < shape[0] && status == SBS_OK; f++, found += 2 * self->bone_count) {
    const sbs_pose pose = core_pose_of_frame(&matrices, f);
    status = sbs_twist_angles(self->twist, &pose, before, found, &fault);
    if (status != SBS_OK) core_raise_in_frame(state_of(object), &matrices, f, status, &fault);
    if (follow) before = found;
  }
  if (status != SBS_OK) Py_CLEAR(angles);

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
  for (npy_intp f = 0; f < shape[0] && status == SBS_OK; f++) {
    const sbs_pose pose = core_pose_of_frame(&matrices, f);
    const double *told = angles.array != NULL ? (const double *)PyArray_DATA(angles.array) : NULL;
    if (told != NULL) told += (size_t)f * 2 * self->bone_count;
    status = sbs_twist_pose(self->twist, &pose, told, (double *)PyArray_DATA(all) + (size_t)f * count * 12, &fault);
    if (status != SBS_OK && fault.argument != NULL && strcmp(fault.argument, "angles") == 0) {
      fault.argument = "twists";
      core_raise(state_of(object), status, &fault, NULL);
    } else if (status != SBS_OK) {
      core_raise_in_frame(state_of(object), &matrices, f, status, &fault);
    }
  }
  if (status != SBS_OK) Py_CLEAR(all);

exit:
  core_release(&matrices);
  core_release(&angles);
  return (PyObject *)all;
}

/* ----------------------------------------------------------------------------------------------------- gradients -- */

static PyObject *twist_pose_gradient(PyObject *object, PyObject *args) {
  const core_twist *self = (const core_twist *)object;
  core_array matrices = core_matrices_argument(1);
  core_array angles = {.name = "twists", .shape = "(B, 2)", .dimensions = 2, .optional = 1};
  core_array by = {.name = "by_matrices", .shape = "(J', 3, 4)", .dimensions = 3};
  PyArrayObject *by_matrices = NULL, *by_angles = NULL;
  PyObject *result = NULL;
  sbs_fault fault = {0};
  sbs_status status;

  if (!PyArg_ParseTuple(args, "O&O&O&:pose_gradient", core_convert_reals, &matrices, core_convert_doubles, &angles,
                        core_convert_doubles, &by) ||
      !core_check_frames(&matrices, self->given_joint_count) || !core_check_length(&matrices, 0, 1) ||
      !core_check_length(&by, 0, (npy_intp)sbs_twist_joint_count(self->twist)) || !core_check_length(&by, 1, 3) ||
      !core_check_length(&by, 2, 4)) {
    goto exit;
  }
  if (angles.array != NULL &&
      (!core_check_length(&angles, 0, (npy_intp)self->bone_count) || !core_check_length(&angles, 1, 2))) {
    goto exit;
  }
  const npy_intp shape[3] = {(npy_intp)self->given_joint_count, 3, 4}, pairs[2] = {(npy_intp)self->bone_count, 2};
  by_matrices = (PyArrayObject *)PyArray_SimpleNew(3, shape, NPY_DOUBLE);
  by_angles = (PyArrayObject *)PyArray_SimpleNew(2, pairs, NPY_DOUBLE);
  if (by_matrices == NULL || by_angles == NULL) goto exit;
  const sbs_pose pose = core_pose_of_frame(&matrices, 0);
  status = sbs_twist_pose_gradient(self->twist, &pose, data_or_null(&angles), PyArray_DATA(by.array),
                                   PyArray_DATA(by_matrices), PyArray_DATA(by_angles), &fault);
  if (status == SBS_OK)
    result = PyTuple_Pack(2, (PyObject *)by_matrices, (PyObject *)by_angles);
  else
    core_raise_in_frame(state_of(object), &matrices, 0, status, &fault);

exit:
  core_release(&matrices);
  core_release(&angles);
  core_release(&by);
  Py_XDECREF((PyObject *)by_matrices);
  Py_XDECREF((PyObject *)by_angles);
  return result;
}

static PyObject *twist_influences_gradient(PyObject *object, PyObject *args) {
  const core_twist *self = (const core_twist *)object;
  core_array positions = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2};
  core_array indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2};
  core_array weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2};
  core_array by = {.name = "by_new_joint_weights", .shape = "(V, 2 K)", .dimensions = 2};
  PyArrayObject *found[3] = {NULL};
  PyObject *result = NULL;
  sbs_fault fault = {0};
  sbs_status status;

  if (!PyArg_ParseTuple(args, "O&O&O&O&:influences_gradient", core_convert_reals, &positions, core_convert_int32,
                        &indices, core_convert_reals, &weights, core_convert_doubles, &by) ||
      !core_check_length(&positions, 1, 3) || !core_check_agreement(&indices, &weights, 0) ||
      !core_check_agreement(&indices, &weights, 1) || !core_check_agreement(&positions, &indices, 0) ||
      !core_check_agreement(&positions, &by, 0) || !core_check_length(&by, 1, 2 * PyArray_DIM(indices.array, 1))) {
    goto exit;
  }
  const npy_intp shape[2] = {PyArray_DIM(indices.array, 0), PyArray_DIM(indices.array, 1)}, vectors[2] = {shape[0], 3};
  for (int i = 0; i < 3; i++) {
    found[i] = (PyArrayObject *)PyArray_SimpleNew(2, i < 2 ? shape : vectors, NPY_DOUBLE);
    if (found[i] == NULL) goto exit;
  }
  status = sbs_twist_influences_gradient(
      self->twist, (size_t)shape[0], scalar_of(&positions), PyArray_DATA(positions.array), 0, (size_t)shape[1],
      PyArray_DATA(indices.array), scalar_of(&weights), PyArray_DATA(weights.array), NULL, PyArray_DATA(by.array),
      PyArray_DATA(found[0]), PyArray_DATA(found[1]), PyArray_DATA(found[2]), &fault);
  if (status == SBS_OK)
    result = PyTuple_Pack(3, (PyObject *)found[0], (PyObject *)found[1], (PyObject *)found[2]);
  else
    core_raise(state_of(object), status, &fault, NULL);

exit:
  core_release(&positions);
  core_release(&indices);
  core_release(&weights);
  core_release(&by);
  for (int i = 0; i < 3; i++) Py_XDECREF((PyObject *)found[i]);
  return result;
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
    {"joints", twist_joints, METH_VARARGS,
     "joints($self, parents, joint_positions, /)\n--\n\n"
     "Parents (or None) and positions of all joints."},
    {"angles", twist_angles, METH_VARARGS,
     "angles($self, skinning_matrices, follow, previous, /)\n--\n\n"
     "Twists (F, B, 2) in frames (F, J, 4, 4) or (F, J, 3, 4), nearest to `previous` (B, 2) or to those of the frame "
     "before."},
    {"pose", twist_pose, METH_VARARGS,
     "pose($self, skinning_matrices, twists, /)\n--\n\n"
     "Skinning matrices (F, J', 3, 4) of all joints, by twists (F, B, 2) or None."},
    {"pose_gradient", twist_pose_gradient, METH_VARARGS,
     "pose_gradient($self, skinning_matrices, twists, by_matrices, /)\n--\n\n"
     "Gradients by skinning matrices (J, 3, 4) and twists (B, 2), from that by all (J', 3, 4), of a frame (1, J, 4, "
     "4)."},
    {"influences_gradient", twist_influences_gradient, METH_VARARGS,
     "influences_gradient($self, rest_positions, joint_indices, joint_weights, by_new_joint_weights, /)\n--\n\n"
     "Gradients by weights (V, K), shares (V, K) and, by way of these, positions (V, 3), from that by (V, 2 K)."},
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
