/* SPDX-License-Identifier: MIT */
#include "brush_type.h"

#include <string.h>

#include "brush_drag.h"
#include "errors.h"
#include "influences_arguments.h"
#include "interrupts.h"
#include "mesh_functions.h"

int core_brush_take(core_brush *self) {
  if (!atomic_flag_test_and_set(&self->busy)) return 1;
  PyErr_SetString(PyExc_RuntimeError, "the brush is in use by another thread");
  return 0;
}

void core_brush_give_back(core_brush *self) {
  atomic_flag_clear(&self->busy);
}

static const core_state *state_of(PyObject *object) {
  return PyType_GetModuleState(Py_TYPE(object));
}

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

/* The object is made last, so that it is never seen without its brush. */
static PyObject *make(PyTypeObject *type, const sbs_influences_table *table, const sbs_mesh_desc *mesh, size_t limit) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  sbs_brush *brush = NULL;
  sbs_fault fault = {0};
  sbs_status status;
  core_brush *self;

  CORE_BEGIN_CALL
  status = sbs_brush_new(table, mesh, limit, NULL, &brush, &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyType_GetModuleState(type), status, &fault, NULL);
    return NULL;
  }
  self = (core_brush *)allocate(type, 0);
  if (self == NULL) {
    sbs_brush_free(brush);
    return NULL;
  }
  self->brush = brush;
  self->vertex_count = table->vertex_count;
  self->joint_count = table->joint_count;
  self->limit = limit;
  atomic_flag_clear(&self->busy);
  return (PyObject *)self;
}

static PyObject *brush_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"positions", "triangles", "joint_indices", "joint_weights", "joint_count", "limit", NULL};
  core_influences given = core_default_influences();
  core_array positions = {.name = "positions", .shape = "(V, 3)", .dimensions = 2};
  core_array triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2};
  core_count limit = {.name = "limit", .largest = NPY_MAX_INT32};
  sbs_influences_table table;
  sbs_mesh_desc mesh;
  PyObject *self = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&O&O&|$O&O&:Brush", keywords, core_convert_reals, &positions,
                                   core_convert_int32, &triangles, core_convert_int32, &given.joint_indices,
                                   core_convert_reals, &given.joint_weights, core_convert_count, &given.joint_count,
                                   core_convert_count, &limit)) {
    goto exit;
  }
  if (!core_describe_influences(&given, &table) || !core_describe_mesh(&positions, &triangles, &mesh)) goto exit;
  if (!core_check_agreement(&positions, &given.joint_indices, 0)) goto exit;
  if (limit.value == 0) limit.value = (Py_ssize_t)table.influences_per_vertex;
  if ((size_t)limit.value < table.influences_per_vertex) {
    PyErr_Format(PyExc_ValueError, "limit must be at least %zd, the width of joint_indices, not %zd",
                 (Py_ssize_t)table.influences_per_vertex, limit.value);
    goto exit;
  }
  self = make(type, &table, &mesh, (size_t)limit.value);

exit:
  core_release_influences(&given);
  core_release(&positions);
  core_release(&triangles);
  return self;
}

/* An instance refers to its type, and so to the module. The collector must know, or the module is never freed. */
static int brush_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  return 0;
}

static void brush_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

  PyObject_GC_UnTrack(object);
  sbs_brush_free(((core_brush *)object)->brush);
  release(object);
  Py_DECREF(type);
}

/* ------------------------------------------------------------------------------------------------------- stroke -- */

static const char *const mode_words[] = {"add", "subtract", "replace", "scale", "smooth", NULL};
const char *const core_falloff_words[] = {"constant", "linear", "smooth", "sphere", "quadratic", NULL};
const char *const core_distance_words[] = {"space", "surface", NULL};
const char *const core_axis_words[] = {"x", "y", "z", NULL};

/* A new array that holds a copy. */
static PyObject *copy_of(int dimensions, const npy_intp *shape, int type, const void *data) {
  PyArrayObject *array = (PyArrayObject *)PyArray_SimpleNew(dimensions, shape, type);

  if (array != NULL && PyArray_SIZE(array) > 0)
    memcpy(PyArray_DATA(array), data, (size_t)PyArray_SIZE(array) * (size_t)PyArray_ITEMSIZE(array));
  return (PyObject *)array;
}

PyObject *core_copy_change(const core_brush *self, const sbs_brush_change *change) {
  const npy_intp shape[2] = {(npy_intp)change->vertex_count, (npy_intp)self->limit};
  const npy_intp *rows = shape;
  PyObject *arrays[5] = {
      copy_of(1, rows, NPY_INT32, change->vertices),           copy_of(2, rows, NPY_INT32, change->old_joint_indices),
      copy_of(2, rows, NPY_DOUBLE, change->old_joint_weights), copy_of(2, rows, NPY_INT32, change->new_joint_indices),
      copy_of(2, rows, NPY_DOUBLE, change->new_joint_weights),
  };
  PyObject *result = NULL;

  if (arrays[0] != NULL && arrays[1] != NULL && arrays[2] != NULL && arrays[3] != NULL && arrays[4] != NULL)
    result = PyTuple_Pack(5, arrays[0], arrays[1], arrays[2], arrays[3], arrays[4]);
  for (int i = 0; i < 5; i++) Py_XDECREF(arrays[i]);
  return result;
}

int core_convert_axis(PyObject *object, void *core_choice_address) {
  if (object == Py_None) return 1;
  return core_convert_choice(object, core_choice_address);
}

int core_check_mirror_joints(const core_brush *self, const core_array *mirror_joints) {
  if (mirror_joints->array == NULL || (size_t)PyArray_DIM(mirror_joints->array, 0) == self->joint_count) return 1;
  PyErr_Format(PyExc_ValueError, "mirror_joints has %zd rows for %zd joints",
               (Py_ssize_t)PyArray_DIM(mirror_joints->array, 0), (Py_ssize_t)self->joint_count);
  return 0;
}

/* Converts the joint to paint: its number, or None for all. */
static int convert_joint(PyObject *object, void *int32_address) {
  PyObject *integer;
  long value;
  int overflow;

  if (object == Py_None) return 1;
  integer = PyNumber_Index(object);
  if (integer == NULL) {
    PyErr_Format(PyExc_TypeError, "joint must be None or an integer, not %R", (PyObject *)Py_TYPE(object));
    return 0;
  }
  value = PyLong_AsLongAndOverflow(integer, &overflow);
  if (overflow != 0 || value < 0 || value > NPY_MAX_INT32) {
    PyErr_Format(PyExc_ValueError, "joint = %S is out of range", integer);
    Py_DECREF(integer);
    return 0;
  }
  Py_DECREF(integer);
  *(npy_int32 *)int32_address = (npy_int32)value;
  return 1;
}

static PyObject *brush_stroke(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"centers",  "joint",  "mode",      "radius", "strength",        "value",         "falloff",
                             "distance", "locked", "normalize", "mirror", "mirror_position", "mirror_joints", NULL};
  core_brush *self = (core_brush *)object;
  sbs_brush_options options = sbs_default_brush_options();
  core_array centers = {.name = "centers", .shape = "(N, 3)", .dimensions = 2};
  core_choice mode = {"mode", mode_words, SBS_BRUSH_ADD};
  core_choice falloff = {"falloff", core_falloff_words, SBS_BRUSH_FALLOFF_SMOOTH};
  core_choice distance = {"distance", core_distance_words, SBS_BRUSH_DISTANCE_SPACE};
  core_choice mirror = {"mirror", core_axis_words, -1};
  core_real radius = {.name = "radius"}, strength = {.name = "strength", .value = options.strength};
  core_real value = {.name = "value", .value = options.value}, mirror_position = {.name = "mirror_position"};
  core_array locked = {.name = "locked", .shape = "(L,)", .dimensions = 1, .optional = 1};
  core_array mirror_joints = {.name = "mirror_joints", .shape = "(J,)", .dimensions = 1, .optional = 1};
  unsigned char *mask = NULL;
  sbs_brush_change change;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O&O&O&O&O&O&O&pO&O&O&:stroke", keywords, core_convert_doubles,
                                   &centers, convert_joint, &options.joint, core_convert_choice, &mode,
                                   core_convert_real, &radius, core_convert_real, &strength, core_convert_real, &value,
                                   core_convert_choice, &falloff, core_convert_choice, &distance, core_convert_int32,
                                   &locked, &options.normalize, core_convert_axis, &mirror, core_convert_real,
                                   &mirror_position, core_convert_int32, &mirror_joints)) {
    goto exit;
  }
  if (!core_check_length(&centers, 1, 3) || !core_check_mirror_joints(self, &mirror_joints)) goto exit;
  options.mode = (sbs_brush_mode)mode.value;
  if (options.joint < 0 && options.mode != SBS_BRUSH_SMOOTH) {
    PyErr_SetString(PyExc_ValueError, "joint must not be None, unless mode is \"smooth\"");
    goto exit;
  }
  if (!core_new_mask(&locked, self->joint_count, &mask)) goto exit;
  options.radius = radius.value;
  options.strength = strength.value;
  options.value = value.value;
  options.falloff = (sbs_brush_falloff)falloff.value;
  options.distance = (sbs_brush_distance)distance.value;
  options.locked = mask;
  options.mirror_axis = mirror.value;
  options.mirror_position = mirror_position.value;
  options.mirror_joints = mirror_joints.array != NULL ? PyArray_DATA(mirror_joints.array) : NULL;

  if (!core_brush_take(self)) goto exit;
  CORE_BEGIN_CALL
  status = sbs_brush_stroke(self->brush, &options, PyArray_DATA(centers.array), (size_t)PyArray_DIM(centers.array, 0),
                            &change, &fault);
  CORE_END_CALL
  if (status == SBS_OK)
    result = core_copy_change(self, &change);
  else
    core_raise(state_of(object), status, &fault, NULL);
  core_brush_give_back(self);

exit:
  core_release(&centers);
  core_release(&locked);
  core_release(&mirror_joints);
  PyMem_Free(mask);
  return result;
}

/* --------------------------------------------------------------------------------------- restore and influences -- */

static PyObject *brush_restore(PyObject *object, PyObject *args) {
  core_brush *self = (core_brush *)object;
  core_array vertices = {.name = "vertices", .shape = "(M,)", .dimensions = 1};
  core_array joint_indices = {.name = "joint_indices", .shape = "(M, L)", .dimensions = 2};
  core_array joint_weights = {.name = "joint_weights", .shape = "(M, L)", .dimensions = 2};
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!PyArg_ParseTuple(args, "O&O&O&:restore", core_convert_int32, &vertices, core_convert_int32, &joint_indices,
                        core_convert_doubles, &joint_weights)) {
    goto exit;
  }
  if (!core_check_agreement(&vertices, &joint_indices, 0) || !core_check_agreement(&vertices, &joint_weights, 0) ||
      !core_check_length(&joint_indices, 1, (npy_intp)self->limit) ||
      !core_check_length(&joint_weights, 1, (npy_intp)self->limit)) {
    goto exit;
  }
  if (!core_brush_take(self)) goto exit;
  status = sbs_brush_restore(self->brush, PyArray_DATA(vertices.array), PyArray_DATA(joint_indices.array),
                             PyArray_DATA(joint_weights.array), (size_t)PyArray_DIM(vertices.array, 0), &fault);
  core_brush_give_back(self);
  if (status == SBS_OK)
    result = Py_NewRef(Py_None);
  else
    core_raise(state_of(object), status, &fault, NULL);

exit:
  core_release(&vertices);
  core_release(&joint_indices);
  core_release(&joint_weights);
  return result;
}

static PyObject *brush_influences(PyObject *object, PyObject *Py_UNUSED(unused)) {
  core_brush *self = (core_brush *)object;
  const npy_intp shape[2] = {(npy_intp)self->vertex_count, (npy_intp)self->limit};
  PyArrayObject *joint_indices = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_INT32);
  PyArrayObject *joint_weights = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_DOUBLE);
  PyObject *result = NULL;

  if (joint_indices != NULL && joint_weights != NULL && core_brush_take(self)) {
    sbs_brush_get_influences(self->brush, PyArray_DATA(joint_indices), PyArray_DATA(joint_weights));
    core_brush_give_back(self);
    result = PyTuple_Pack(2, (PyObject *)joint_indices, (PyObject *)joint_weights);
  }
  Py_XDECREF((PyObject *)joint_indices);
  Py_XDECREF((PyObject *)joint_weights);
  return result;
}

/* --------------------------------------------------------------------------------------------------------- type -- */

/* The size_t at an offset in the object. */
static PyObject *get_size(PyObject *object, void *offset) {
  return PyLong_FromSize_t(*(const size_t *)(const void *)((const char *)object + (Py_ssize_t)offset));
}

static PyGetSetDef properties[] = {
    {"vertex_count", get_size, NULL, "Number of vertices.", (void *)offsetof(core_brush, vertex_count)},
    {"joint_count", get_size, NULL, "Number of joints.", (void *)offsetof(core_brush, joint_count)},
    {"limit", get_size, NULL, "Room for so many influences a vertex.", (void *)offsetof(core_brush, limit)},
    {NULL, NULL, NULL, NULL, NULL}};

static const char stroke_doc[] =
    "stroke($self, centers, joint, *, mode='add', radius, strength=1.0, value=1.0, falloff='smooth', "
    "distance='space', locked=None, normalize=True, mirror=None, mirror_position=0.0, mirror_joints=None)\n--\n\n"
    "Dabs at (N, 3) centers. What changed: (vertices (M,), old joint_indices (M, L), old joint_weights (M, L), new\n"
    "joint_indices, new joint_weights).";

static PyMethodDef methods[] = {
    {"stroke", (PyCFunction)(void (*)(void))brush_stroke, METH_VARARGS | METH_KEYWORDS, stroke_doc},
    {"drag", (PyCFunction)(void (*)(void))core_brush_drag, METH_VARARGS | METH_KEYWORDS, core_brush_drag_doc},
    {"restore", brush_restore, METH_VARARGS,
     "restore($self, vertices, joint_indices, joint_weights, /)\n--\n\n"
     "Sets the influences (M, L) of vertices (M,)."},
    {"influences", brush_influences, METH_NOARGS,
     "influences($self, /)\n--\n\n"
     "New arrays joint_indices (V, L) and joint_weights (V, L), as they are."},
    {NULL, NULL, 0, NULL}};

static const char brush_doc[] =
    "Brush(positions, triangles, joint_indices, joint_weights, *, joint_count=None, limit=None)\n--\n\n"
    "Paints weights. Nothing that is given is kept.";

static PyType_Slot slots[] = {{Py_tp_doc, (void *)brush_doc},
                              {Py_tp_new, brush_new},
                              {Py_tp_dealloc, brush_dealloc},
                              {Py_tp_traverse, brush_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {
    .name = "sbs._core.Brush",
    .basicsize = sizeof(core_brush),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *core_new_brush_type(PyObject *module) {
  return PyType_FromModuleAndSpec(module, &spec, NULL);
}
