/* SPDX-License-Identifier: MIT */
#include "skin_type.h"

#include "arguments.h"
#include "errors.h"
#include "interrupts.h"
#include "skin_deform.h"
#include "skin_gradient.h"
#include "skin_inverse.h"
#include "skin_update.h"

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

static sbs_scalar scalar_of(PyArrayObject *array) {
  return PyArray_TYPE(array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
}

/* The number of joints if the caller does not give it: the length of the arrays per joint, or the largest index + 1. */
static size_t count_joints(const core_array *arguments) {
  PyArrayObject *indices = arguments[CORE_JOINT_INDICES].array;
  const npy_int32 *index = PyArray_DATA(indices);
  const npy_intp size = PyArray_SIZE(indices);
  npy_int32 largest = 0;

  for (int i = CORE_PARENTS; i <= CORE_JOINT_POSITIONS; i++)
    if (arguments[i].array != NULL) return (size_t)PyArray_DIM(arguments[i].array, 0);
  for (npy_intp i = 0; i < size; i++) largest = index[i] > largest ? index[i] : largest;
  return (size_t)largest + 1;
}

/* Whether all shapes agree; raises if not. */
static int check_shapes(const core_array *arguments, size_t joint_count) {
  const core_array *positions = &arguments[CORE_REST_POSITIONS], *normals = &arguments[CORE_REST_NORMALS];
  const core_array *centers = &arguments[CORE_CENTERS];
  const core_array *indices = &arguments[CORE_JOINT_INDICES], *weights = &arguments[CORE_JOINT_WEIGHTS];

  if (!core_check_length(positions, 1, 3) || !core_check_agreement(indices, weights, 0) ||
      !core_check_agreement(indices, weights, 1) || !core_check_agreement(positions, indices, 0)) {
    return 0;
  }
  if (normals->array != NULL && (!core_check_length(normals, 1, 3) || !core_check_agreement(positions, normals, 0)))
    return 0;
  if (centers->array != NULL && (!core_check_length(centers, 1, 3) || !core_check_agreement(positions, centers, 0)))
    return 0;
  for (int i = CORE_PARENTS; i <= CORE_JOINT_POSITIONS; i++) {
    const core_array *argument = &arguments[i];
    if (argument->array != NULL && (size_t)PyArray_DIM(argument->array, 0) != joint_count) {
      PyErr_Format(PyExc_ValueError, "%s has %zd rows for %zd joints", argument->name,
                   (Py_ssize_t)PyArray_DIM(argument->array, 0), (Py_ssize_t)joint_count);
      return 0;
    }
  }
  return arguments[CORE_JOINT_POSITIONS].array == NULL || core_check_length(&arguments[CORE_JOINT_POSITIONS], 1, 3);
}

static const void *data_or_null(PyArrayObject *array) {
  return array != NULL ? PyArray_DATA(array) : NULL;
}

sbs_skin_desc core_describe_skin(PyArrayObject *const *arrays, size_t joint_count) {
  sbs_skin_desc desc = sbs_default_skin_desc();

  desc.vertex_count = (size_t)PyArray_DIM(arrays[CORE_REST_POSITIONS], 0);
  desc.joint_count = joint_count;
  desc.influences_per_vertex = (size_t)PyArray_DIM(arrays[CORE_JOINT_INDICES], 1);
  desc.scalar = scalar_of(arrays[CORE_REST_POSITIONS]);
  desc.rest_positions = PyArray_DATA(arrays[CORE_REST_POSITIONS]);
  desc.rest_normals = data_or_null(arrays[CORE_REST_NORMALS]);
  desc.joint_indices = PyArray_DATA(arrays[CORE_JOINT_INDICES]);
  desc.weight_scalar = scalar_of(arrays[CORE_JOINT_WEIGHTS]);
  desc.joint_weights = PyArray_DATA(arrays[CORE_JOINT_WEIGHTS]);
  desc.parents = data_or_null(arrays[CORE_PARENTS]);
  desc.joint_positions = data_or_null(arrays[CORE_JOINT_POSITIONS]);
  desc.centers = data_or_null(arrays[CORE_CENTERS]);
  return desc;
}

PyObject *core_wrap_skin(PyTypeObject *type, sbs_skin *skin, const sbs_weight_report *report,
                         PyArrayObject *const *arrays) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  core_skin *self = (core_skin *)allocate(type, 0);

  if (self == NULL) {
    sbs_skin_free(skin);
    return NULL;
  }
  self->skin = skin;
  self->scratch.size =
      2 * sbs_skin_scratch_size(skin); /* for two methods; pages that are never touched cost no memory */
  self->report = *report;
  sbs_skin_get_info(skin, &self->info); /* fails only for NULL, like the two below */
  for (int i = 0; i < CORE_HELD_COUNT; i++) {
    self->held[i] = (PyArrayObject *)Py_XNewRef((PyObject *)arrays[i]);
    if (arrays[i] != NULL) PyArray_CLEARFLAGS(arrays[i], NPY_ARRAY_WRITEABLE);
  }
  return (PyObject *)self;
}

/* ------------------------------------------------------------------------------------------------- arguments -- */

/* What a skin is made from. */
typedef struct made_from {
  core_array arrays[CORE_HELD_COUNT];
  size_t joint_count;
  int strict;
} made_from;

static void release_arguments(made_from *given) {
  for (int i = 0; i < CORE_HELD_COUNT; i++) core_release(&given->arrays[i]);
}

/*
 * Raises and returns 0 if an argument is wrong by itself. Release the arguments in any case. kept: whether the skin is
 * made, and not only checked.
 */
static int parse(PyObject *args, PyObject *kwargs, const char *format, int kept, made_from *given) {
  static char *keywords[] = {"rest_positions", "joint_indices", "joint_weights", "parents", "joint_positions",
                             "rest_normals",   "centers",       "joint_count",   "strict",  NULL};
  core_array *arrays = given->arrays, *normals = &arrays[CORE_REST_NORMALS];
  core_count joint_count = {.name = "joint_count", .largest = PY_SSIZE_T_MAX};

  *given = (made_from){
      .arrays = {
          [CORE_REST_POSITIONS] = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2},
          [CORE_JOINT_INDICES] = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2},
          [CORE_JOINT_WEIGHTS] = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2},
          [CORE_PARENTS] = {.name = "parents", .shape = "(J,)", .dimensions = 1, .optional = 1},
          [CORE_JOINT_POSITIONS] = {.name = "joint_positions", .shape = "(J, 3)", .dimensions = 2, .optional = 1},
          [CORE_REST_NORMALS] = {.name = "rest_normals", .shape = "(V, 3)", .dimensions = 2, .optional = 1},
          [CORE_CENTERS] = {.name = "centers", .shape = "(V, 3)", .dimensions = 2, .optional = 1},
      }};
  for (int i = 0; i < CORE_HELD_COUNT; i++) arrays[i].kept = kept;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, format, keywords, core_convert_reals, &arrays[CORE_REST_POSITIONS], core_convert_int32,
          &arrays[CORE_JOINT_INDICES], core_convert_reals, &arrays[CORE_JOINT_WEIGHTS], core_convert_int32,
          &arrays[CORE_PARENTS], core_convert_doubles, &arrays[CORE_JOINT_POSITIONS], core_convert_reals, normals,
          core_convert_doubles, &arrays[CORE_CENTERS], core_convert_count, &joint_count, &given->strict)) {
    return 0;
  }
  if (normals->array != NULL && core_cast(normals, PyArray_TYPE(arrays[CORE_REST_POSITIONS].array)) < 0) return 0;
  given->joint_count = joint_count.value == 0 ? count_joints(arrays) : (size_t)joint_count.value;
  return check_shapes(arrays, given->joint_count);
}

/* ----------------------------------------------------------------------------------------------------- making -- */

static PyObject *make(PyTypeObject *type, const made_from *given) {
  PyArrayObject *arrays[CORE_HELD_COUNT];
  sbs_skin_desc desc;
  sbs_skin_options options = sbs_default_skin_options();
  sbs_skin *skin = NULL;
  sbs_weight_report report = {0};
  sbs_fault fault = {0};
  sbs_status status;

  for (int i = 0; i < CORE_HELD_COUNT; i++) arrays[i] = given->arrays[i].array;
  desc = core_describe_skin(arrays, given->joint_count);
  options.strict = given->strict;
  CORE_BEGIN_CALL
  status = sbs_skin_new(&desc, &options, &skin, &report, &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyType_GetModuleState(type), status, &fault, NULL);
    return NULL;
  }
  return core_wrap_skin(type, skin, &report, arrays);
}

static PyObject *skin_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  made_from given;
  PyObject *self = parse(args, kwargs, "O&O&O&|$O&O&O&O&O&p:Skin", 1, &given) ? make(type, &given) : NULL;

  release_arguments(&given);
  return self;
}

static PyObject *report_tuple(const sbs_weight_report *report) {
  return Py_BuildValue("(nnnnnn)", (Py_ssize_t)report->nan, (Py_ssize_t)report->infinite, (Py_ssize_t)report->negative,
                       (Py_ssize_t)report->unweighted, (Py_ssize_t)report->off_sum, (Py_ssize_t)report->duplicate);
}

const char core_check_skin_doc[] =
    "check_skin(rest_positions, joint_indices, joint_weights, *, parents=None, joint_positions=None, "
    "rest_normals=None, centers=None, joint_count=None, strict=False)\n--\n\n"
    "Raises what Skin would raise, or returns its weight_report, without making one.";

PyObject *core_check_skin(PyObject *module, PyObject *args, PyObject *kwargs) {
  PyArrayObject *arrays[CORE_HELD_COUNT];
  made_from given;
  sbs_skin_desc desc;
  sbs_skin_options options = sbs_default_skin_options();
  sbs_weight_report report = {0};
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!parse(args, kwargs, "O&O&O&|$O&O&O&O&O&p:check_skin", 0, &given)) goto exit;
  for (int i = 0; i < CORE_HELD_COUNT; i++) arrays[i] = given.arrays[i].array;
  desc = core_describe_skin(arrays, given.joint_count);
  options.strict = given.strict;
  CORE_BEGIN_CALL
  status = sbs_skin_check(&desc, &options, &report, &fault);
  CORE_END_CALL
  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = report_tuple(&report);

exit:
  release_arguments(&given);
  return result;
}

/* An instance refers to its type, and so to the module. The collector must know, or the module is never freed. */
static int skin_traverse(PyObject *object, visitproc visit, void *arg) {
  core_skin *self = (core_skin *)object;

  Py_VISIT(Py_TYPE(object));
  for (int i = 0; i < CORE_HELD_COUNT; i++) Py_VISIT(self->held[i]);
  return 0;
}

static void skin_dealloc(PyObject *object) {
  core_skin *self = (core_skin *)object;
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

  PyObject_GC_UnTrack(object);
  core_empty_scratch_pool(&self->scratch);
  sbs_gradient_free(atomic_load(&self->gradient));
  sbs_skin_free(self->skin);
  for (int i = 0; i < CORE_HELD_COUNT; i++) Py_CLEAR(self->held[i]);
  release(object);
  Py_DECREF(type);
}

/* --------------------------------------------------------------------------------------------------- properties -- */

/* A read-only view of the array whose number is the closure, or None. */
static PyObject *get_held(PyObject *object, void *number) {
  PyArrayObject *held = ((core_skin *)object)->held[(Py_ssize_t)number];
  PyObject *view;

  if (held == NULL) Py_RETURN_NONE;
  view = PyArray_View(held, NULL, NULL);
  if (view != NULL) PyArray_CLEARFLAGS((PyArrayObject *)view, NPY_ARRAY_WRITEABLE);
  return view;
}

/* The size_t at an offset in the object. */
static PyObject *get_size(PyObject *object, void *offset) {
  return PyLong_FromSize_t(*(const size_t *)(const void *)((const char *)object + (Py_ssize_t)offset));
}

static PyObject *get_instruction_set(PyObject *object, void *Py_UNUSED(closure)) {
  return PyUnicode_FromString(((core_skin *)object)->info.instruction_set);
}

static PyObject *get_weight_report(PyObject *object, void *Py_UNUSED(closure)) {
  return report_tuple(&((core_skin *)object)->report);
}

/* A tuple of int. */
static PyObject *joint_set_tuple(const int32_t *joints, size_t count) {
  PyObject *set = PyTuple_New((Py_ssize_t)count);

  for (size_t i = 0; set != NULL && i < count; i++) {
    PyObject *joint = PyLong_FromLong(joints[i]);
    if (joint == NULL || PyTuple_SetItem(set, (Py_ssize_t)i, joint) < 0) Py_CLEAR(set);
  }
  return set;
}

static PyObject *get_joint_sets(PyObject *object, void *Py_UNUSED(closure)) {
  const core_skin *self = (core_skin *)object;
  const size_t count = self->info.joint_set_count, size_sum = self->info.joint_set_size_sum;
  size_t *offsets = PyMem_New(size_t, count + 1);
  int32_t *joints = PyMem_New(int32_t, size_sum);
  PyObject *sets = NULL;

  if (offsets == NULL || joints == NULL) {
    PyErr_NoMemory();
    goto exit;
  }
  sbs_skin_joint_sets(self->skin, offsets, joints);
  sets = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; sets != NULL && i < count; i++) {
    PyObject *set = joint_set_tuple(joints + offsets[i], offsets[i + 1] - offsets[i]);
    if (set == NULL || PyList_SetItem(sets, (Py_ssize_t)i, set) < 0) Py_CLEAR(sets);
  }

exit:
  PyMem_Free(offsets);
  PyMem_Free(joints);
  return sets;
}

static PyObject *get_joint_set_of_vertex(PyObject *object, void *Py_UNUSED(closure)) {
  const core_skin *self = (core_skin *)object;
  npy_intp length = (npy_intp)self->info.vertex_count;
  PyObject *sets = PyArray_SimpleNew(1, &length, NPY_INT32);

  if (sets != NULL) sbs_skin_joint_set_of_vertex(self->skin, PyArray_DATA((PyArrayObject *)sets));
  return sets;
}

static PyObject *get_vertex_order(PyObject *object, void *Py_UNUSED(closure)) {
  const core_skin *self = (core_skin *)object;
  npy_intp length = (npy_intp)self->info.vertex_count;
  PyObject *order = PyArray_SimpleNew(1, &length, NPY_INT32);

  if (order != NULL) {
    sbs_skin_vertex_order(self->skin, PyArray_DATA((PyArrayObject *)order));
    PyArray_CLEARFLAGS((PyArrayObject *)order, NPY_ARRAY_WRITEABLE);
  }
  return order;
}

#define HELD(name, number, doc) {name, get_held, NULL, doc, (void *)(Py_ssize_t)(number)}
#define SIZE(name, doc) {#name, get_size, NULL, doc, (void *)offsetof(core_skin, info.name)}

static PyGetSetDef properties[] = {
    HELD("rest_positions", CORE_REST_POSITIONS, "(V, 3) float32 or float64, read-only."),
    HELD("joint_indices", CORE_JOINT_INDICES, "(V, K) int32, read-only."),
    HELD("joint_weights", CORE_JOINT_WEIGHTS, "(V, K) float32 or float64, read-only."),
    HELD("parents", CORE_PARENTS, "(J,) int32, read-only, or None."),
    HELD("joint_positions", CORE_JOINT_POSITIONS, "(J, 3) float64, read-only, or None."),
    HELD("rest_normals", CORE_REST_NORMALS, "(V, 3) of the type of rest_positions, read-only, or None."),
    HELD("centers", CORE_CENTERS, "(V, 3) float64, read-only, or None."),
    SIZE(vertex_count, "Number of vertices."),
    SIZE(joint_count, "Number of joints."),
    SIZE(nontrivial_joint_set_count, "Joint sets of two or more joints that are not a joint and its parent."),
    SIZE(unweighted_vertex_count, "Vertices without any influence."),
    SIZE(max_influences, "Size of the largest joint set."),
    SIZE(memory, "Bytes held by the C library for this skin."),
    {"instruction_set", get_instruction_set, NULL, "What the kernels were compiled for.", NULL},
    {"weight_report", get_weight_report, NULL,
     "Numbers of vertices repaired: (nan, infinite, negative, unweighted, off_sum, duplicate).", NULL},
    {"joint_sets", get_joint_sets, NULL, "New list of the joint sets, each a tuple of joints.", NULL},
    {"joint_set_of_vertex", get_joint_set_of_vertex, NULL, "(V,) int32, new: the joint set of every vertex.", NULL},
    {"vertex_order", get_vertex_order, NULL, "(V,) int32, read-only: the vertices in the order of the blocks.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* --------------------------------------------------------------------------------------------------------- type -- */

#define METHOD(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"deform", METHOD(core_deform), METH_VARARGS | METH_KEYWORDS, core_deform_doc},
    {"deform_many", METHOD(core_deform_many), METH_VARARGS | METH_KEYWORDS, core_deform_many_doc},
    {"inverse_deform", METHOD(core_inverse_deform), METH_VARARGS | METH_KEYWORDS, core_inverse_deform_doc},
    {"update", METHOD(core_update_skin), METH_VARARGS | METH_KEYWORDS, core_update_skin_doc},
    {"deform_vjp", METHOD(core_deform_vjp), METH_VARARGS | METH_KEYWORDS, core_deform_vjp_doc},
    {"weight_jacobian", METHOD(core_weight_jacobian), METH_VARARGS | METH_KEYWORDS, core_weight_jacobian_doc},
    {"move", METHOD(core_move_skin), METH_VARARGS | METH_KEYWORDS, core_move_skin_doc},
    {"rotation_centers", METHOD(core_rotation_centers), METH_VARARGS | METH_KEYWORDS, core_rotation_centers_doc},
    {NULL, NULL, 0, NULL}};

static const char skin_doc[] =
    "Skin(rest_positions, joint_indices, joint_weights, *, parents=None, joint_positions=None, rest_normals=None, "
    "centers=None, joint_count=None, strict=False)\n--\n\n"
    "A mesh bound to its joints. It keeps the arrays, as `owned` does.";

static PyType_Slot slots[] = {{Py_tp_doc, (void *)skin_doc},
                              {Py_tp_new, skin_new},
                              {Py_tp_dealloc, skin_dealloc},
                              {Py_tp_traverse, skin_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {
    .name = "sbs._core.Skin",
    .basicsize = sizeof(core_skin),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *core_new_skin_type(PyObject *module) {
  return PyType_FromModuleAndSpec(module, &spec, NULL);
}
