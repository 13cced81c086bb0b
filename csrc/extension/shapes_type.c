/* SPDX-License-Identifier: MIT */
/* _core.Shapes: a sbs_shapes, which never changes, so any number of threads may use it, and its skin. */
#include "definitions.h"
#include "functions.h"
#include "geometry.h"
#include "skin.h"

#include <sbs/shapes.h>

typedef struct shapes_call {
  core_call call;
  const core_skin *skin;
  const int32_t *ends;
  sbs_shapes_desc desc;
  sbs_shapes *shapes;
} shapes_call;

#define AT(field) .at = offsetof(shapes_call, field)

/* M vertices of S shapes. */
static const core_row rows[] = {
    {"skin", CORE_INSTANCE, AT(skin), .type = "Skin", .type_number = CORE_SKIN},
    {"ends", CORE_INT32, AT(ends), "(S,)"},
    {"vertices", CORE_INT32, AT(desc.vertices), "(M,)"},
    {"deltas", CORE_REALS, AT(desc.deltas), "(M, 3)", .scalar = offsetof(shapes_call, desc.scalar)},
    {"normal_deltas", CORE_SAME, AT(desc.normal_deltas), "(M, 3)", .optional = 1},
    {"S", CORE_LENGTH, AT(desc.shape_count)},
};

static int prepare(void *address) {
  shapes_call *given = address;

  if (given->desc.normal_deltas != NULL && !given->skin->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "normal_deltas needs a skin that was made with rest_normals");
    return 0;
  }
  given->desc.shape_offsets = core_new_offsets(given, given->ends, given->desc.shape_count, "ends", 0, 'M', "vertices");
  return given->desc.shape_offsets != NULL;
}

static sbs_status run(void *address, sbs_fault *fault) {
  shapes_call *given = address;
  return sbs_shapes_new(given->skin->object.made, &given->desc, NULL, &given->shapes, fault);
}

static PyObject *finish(void *address) {
  const shapes_call *given = address;
  PyTypeObject *type = (PyTypeObject *)given->call.self;
  core_object *self = core_new_object(&core_shapes_class, type, given->shapes, given->call.lengths);

  if (self != NULL) self->kept[0] = Py_NewRef((PyObject *)given->skin);
  return (PyObject *)self;
}

static void release(void *shapes) {
  sbs_shapes_free(shapes);
}

static PyGetSetDef properties[] = {{"shape_count", core_get_length, NULL, "int: shapes.", (void *)(Py_ssize_t)'S'},
                                   {NULL, NULL, NULL, NULL, NULL}};

CORE_CLASS(core_shapes_class, shapes_call, .number = CORE_SHAPES, .type = "sbs._core.Shapes", .release = release,
           .properties = properties, .make.name = "Shapes",
           .make.summary = "Sparse changes of the rest pose of a skin; `ends` says where the vertices of each end.",
           .make.parts = {CORE_PART(rows)}, .make.positional = 4, .make.prepare = prepare, .make.run = run,
           .make.finish = finish)
