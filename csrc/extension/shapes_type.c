/* SPDX-License-Identifier: MIT */
#include "shapes_type.h"

#include <string.h>

#include "definitions.h"
#include "pose.h"
#include "skin_type.h"

#include <sbs/shapes.h>

typedef struct core_shapes {
  PyObject_HEAD
  sbs_shapes *shapes;
  PyObject *skin; /* the _core.Skin */
} core_shapes;

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

typedef struct shapes_call {
  core_call call;
  PyObject *skin;
  const int32_t *ends;
  sbs_shapes_desc desc;
  sbs_shapes *shapes;
} shapes_call;

/* Its vertices are V, and its type is that of the call. */
static int convert_skin(core_call *call, PyObject *object, void *field) {
  if (!PyObject_TypeCheck(object, (PyTypeObject *)core_get_state(call)->skin_type)) {
    PyErr_Format(PyExc_TypeError, "skin must be a Skin, not %R", (PyObject *)Py_TYPE(object));
    return 0;
  }
  *(PyObject **)field = object;
  return 1;
}

/* M vertices of S shapes. */
static const core_row rows[] = {
    {"skin", CORE_OBJECT, .at = offsetof(shapes_call, skin), .type = "Skin", .convert = convert_skin},
    {"ends", CORE_INT32, .at = offsetof(shapes_call, ends), "(S,)"},
    {"vertices", CORE_INT32, .at = offsetof(shapes_call, desc.vertices), "(M,)"},
    {"deltas", CORE_REALS, .at = offsetof(shapes_call, desc.deltas), "(M, 3)",
     .scalar = offsetof(shapes_call, desc.scalar)},
    {"normal_deltas", CORE_SAME, .at = offsetof(shapes_call, desc.normal_deltas), "(M, 3)", .optional = 1},
    {"S", CORE_LENGTH, .at = offsetof(shapes_call, desc.shape_count)},
};

static int prepare(void *address) {
  shapes_call *given = address;
  const size_t shape_count = given->desc.shape_count;
  size_t *offsets = core_hold_memory(given, (shape_count + 1) * sizeof *offsets);

  if (offsets == NULL) return 0;
  offsets[0] = 0;
  for (size_t s = 0; s < shape_count; s++) {
    if (given->ends[s] < (s > 0 ? given->ends[s - 1] : 0)) {
      PyErr_Format(PyExc_ValueError, "ends[%zu] = %d: ends must ascend", s, (int)given->ends[s]);
      return 0;
    }
    offsets[s + 1] = (size_t)given->ends[s];
  }
  if (offsets[shape_count] != core_length(given, 'M')) {
    PyErr_Format(PyExc_ValueError, "ends ends at %zu, where there are %zu vertices", offsets[shape_count],
                 core_length(given, 'M'));
    return 0;
  }
  if (given->desc.normal_deltas != NULL && !((const core_skin *)given->skin)->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "normal_deltas needs a skin that was made with rest_normals");
    return 0;
  }
  given->desc.shape_offsets = offsets;
  return 1;
}

static sbs_status run(void *address, sbs_fault *fault) {
  shapes_call *given = address;
  return sbs_shapes_new(((const core_skin *)given->skin)->skin, &given->desc, NULL, &given->shapes, fault);
}

static PyObject *finish(void *address) {
  const shapes_call *given = address;
  core_shapes *self = core_allocate(given->call.self);

  if (self == NULL) {
    sbs_shapes_free(given->shapes);
    return NULL;
  }
  self->shapes = given->shapes;
  self->skin = Py_NewRef(given->skin);
  return (PyObject *)self;
}

static const core_function new_shapes = {
    .name = "Shapes",
    .summary = "Sparse changes of the rest pose of a skin; `ends` says where the vertices of each end.",
    .parts = {CORE_PART(rows)},
    .positional = 4,
    .size = sizeof(shapes_call),
    .prepare = prepare,
    .run = run,
    .finish = finish,
};

static PyObject *shapes_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  shapes_call call;
  return core_enter_new(&new_shapes, type, args, kwargs, &call);
}

static int shapes_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((core_shapes *)object)->skin);
  return 0;
}

static void shapes_dealloc(PyObject *object) {
  core_shapes *self = (core_shapes *)object;

  PyObject_GC_UnTrack(object);
  sbs_shapes_free(self->shapes);
  Py_CLEAR(self->skin);
  core_free_object(object);
}

static PyObject *get_shape_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_shapes_count(((const core_shapes *)object)->shapes));
}

static PyGetSetDef properties[] = {{"shape_count", get_shape_count, NULL, "int: shapes.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

PyObject *core_new_shapes_type(PyObject *module) {
  static const core_class shapes = {
      .name = "sbs._core.Shapes",
      .make = &new_shapes,
      .new = shapes_new,
      .dealloc = shapes_dealloc,
      .traverse = shapes_traverse,
      .properties = properties,
      .size = sizeof(core_shapes),
  };
  return core_add_class(module, &shapes);
}

/* --------------------------------------------------------------------------------------- in calls with a pose -- */

/* Into a sbs_shapes *. There are S of them. */
static int convert_shapes(core_call *call, PyObject *object, void *field) {
  const core_shapes *shapes = (const core_shapes *)object;

  if (object == Py_None) return 1;
  if (!PyObject_TypeCheck(object, (PyTypeObject *)core_get_state(call)->shapes_type)) {
    PyErr_Format(PyExc_TypeError, "shapes must be None or Shapes, not %R", (PyObject *)Py_TYPE(object));
    return 0;
  }
  if (shapes->skin != call->self) {
    PyErr_SetString(PyExc_ValueError, "shapes are of another skin");
    return 0;
  }
  core_set_length(call, 'S', sbs_shapes_count(shapes->shapes));
  *(const sbs_shapes **)field = shapes->shapes;
  return 1;
}

#define SHAPES_ROW \
  {"shapes", \
   CORE_OBJECT, \
   .at = offsetof(core_pose_call, by.options.shapes), \
   .type = "Shapes | None", \
   .optional = 1, \
   .convert = convert_shapes}

const core_row core_shapes_rows[2] = {
    SHAPES_ROW,
    {"shape_weights", CORE_DOUBLES, .at = offsetof(core_pose_call, by.options.shape_weights), "(S,)", .optional = 1},
};

const core_row core_shapes_of_frames_rows[2] = {
    SHAPES_ROW,
    {"shape_weights", CORE_DOUBLES, .at = offsetof(core_pose_call, by.options.shape_weights), "(F, S)", .optional = 1},
};

int core_check_shapes(const sbs_deform_options *options) {
  if ((options->shapes != NULL) == (options->shape_weights != NULL)) return 1;
  PyErr_SetString(PyExc_ValueError, options->shapes != NULL ? "shapes needs shape_weights"
                                                            : "shape_weights has no effect without shapes");
  return 0;
}

void core_place_in_shapes(sbs_fault *fault, const core_call *call) {
  if (fault->argument == NULL || strcmp(fault->argument, "shape_weights") != 0) return;
  if (call->lengths['F' - 'A'] >= 0 || fault->index_count != 2) return;
  fault->index[0] = fault->index[1];
  fault->index_count = 1;
}
