/* SPDX-License-Identifier: MIT */
#include "brush_type.h"

#include "definitions.h"
#include "functions.h"
#include "geometry.h"

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

typedef struct brush_call {
  core_call call;
  sbs_mesh_desc mesh;
  sbs_influences_table table;
  size_t limit;
  sbs_brush *brush;
} brush_call;

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(brush_call, table.joint_count), .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(brush_call, limit), .optional = 1},
};

static int prepare(void *address) {
  brush_call *given = address;
  sbs_influences_table *table = &given->table;
  const size_t width = table->influences_per_vertex;

  if (table->joint_count == 0)
    table->joint_count = (size_t)core_largest(table->joint_indices, table->vertex_count * width) + 1;
  if (given->limit == 0) given->limit = width;
  if (given->limit > NPY_MAX_INT32) given->limit = NPY_MAX_INT32;
  core_set_length(given, 'J', table->joint_count);
  core_set_length(given, 'W', given->limit);
  if (given->limit >= width) return 1;
  PyErr_Format(PyExc_ValueError, "limit must be at least %zu, the width of joint_indices, not %zu", width,
               given->limit);
  return 0;
}

static sbs_status run(void *address, sbs_fault *fault) {
  brush_call *given = address;
  return sbs_brush_new(&given->table, &given->mesh, given->limit, NULL, &given->brush, fault);
}

static void release(void *brush) {
  sbs_brush_free(brush);
}

/* ------------------------------------------------------------------------------------------------------- stroke -- */

static const char *const mode_words[] = {"add", "subtract", "replace", "scale", "smooth", NULL};
const char *const core_falloff_words[] = {"constant", "linear", "smooth", "sphere", "quadratic", NULL};
const char *const core_distance_words[] = {"space", "surface", NULL};
const char *const core_axis_words[] = {"x", "y", "z", NULL};

PyObject *core_copy_change(const void *call, const sbs_brush_change *change) {
  const size_t count = change->vertex_count, width = core_length(call, 'W');

  return Py_BuildValue("NNNNN", core_copy(change->vertices, count, 0, NPY_INT32),
                       core_copy(change->old_joint_indices, count, width, NPY_INT32),
                       core_copy(change->old_joint_weights, count, width, NPY_DOUBLE),
                       core_copy(change->new_joint_indices, count, width, NPY_INT32),
                       core_copy(change->new_joint_weights, count, width, NPY_DOUBLE));
}

typedef struct stroke_call {
  core_call call;
  const double *centers;
  const int32_t *locked;
  Py_ssize_t joint;
  sbs_brush_options options;
  sbs_brush_change change;
} stroke_call;

static const core_row stroke_rows[] = {
    {"centers", CORE_DOUBLES, .at = offsetof(stroke_call, centers), "(N, 3)"},
    {"joint", CORE_INDEX, .at = offsetof(stroke_call, joint), .none = 1},
    {"mode", CORE_WORD, .at = offsetof(stroke_call, options.mode), .words = mode_words, .optional = 1},
    {"radius", CORE_REAL, .at = offsetof(stroke_call, options.radius)},
    {"strength", CORE_REAL, .at = offsetof(stroke_call, options.strength), .optional = 1},
    {"value", CORE_REAL, .at = offsetof(stroke_call, options.value), .optional = 1},
    {"falloff", CORE_WORD, .at = offsetof(stroke_call, options.falloff), .words = core_falloff_words, .optional = 1},
    {"distance", CORE_WORD, .at = offsetof(stroke_call, options.distance), .words = core_distance_words, .optional = 1},
    {"locked", CORE_INT32, .at = offsetof(stroke_call, locked), "(L,)", .optional = 1},
    {"normalize", CORE_FLAG, .at = offsetof(stroke_call, options.normalize), .optional = 1},
    {"mirror", CORE_WORD, .at = offsetof(stroke_call, options.mirror_axis), .words = core_axis_words, .optional = 1,
     .none = 1},
    {"mirror_position", CORE_REAL, .at = offsetof(stroke_call, options.mirror_position), .optional = 1},
    {"mirror_joints", CORE_INT32, .at = offsetof(stroke_call, options.mirror_joints), "(J,)", .optional = 1},
};

static void set_stroke_defaults(void *address) {
  ((stroke_call *)address)->options = sbs_default_brush_options();
}

static int prepare_stroke(void *address) {
  stroke_call *given = address;

  if (given->joint < 0 && given->options.mode != SBS_BRUSH_SMOOTH) {
    PyErr_SetString(PyExc_ValueError, "joint must not be None, unless mode is \"smooth\"");
    return 0;
  }
  if (given->joint >= (Py_ssize_t)core_length(given, 'J')) {
    PyErr_Format(PyExc_ValueError, "joint = %zd is out of range for %zu joints", given->joint, core_length(given, 'J'));
    return 0;
  }
  given->options.joint = (int32_t)given->joint;
  return core_new_mask(given, given->locked, 'L', "locked", core_length(given, 'J'), &given->options.locked);
}

static sbs_status run_stroke(void *address, sbs_fault *fault) {
  stroke_call *given = address;

  return sbs_brush_stroke(core_made(given), &given->options, given->centers, core_length(given, 'N'), &given->change,
                          fault);
}

static PyObject *finish_stroke(void *address) {
  return core_copy_change(address, &((const stroke_call *)address)->change);
}

CORE_FUNCTION(
    core_stroke, stroke_call, .name = "stroke",
    .summary = "Dabs at centers. Returns the changes: (vertices (M,), old joint_indices (M, W), old joint_weights "
               "(M, W), new\njoint_indices, new joint_weights).",
    .parts = {CORE_PART(stroke_rows)}, .positional = 2, .returns = CORE_CHANGE_TYPE,
    .set_defaults = set_stroke_defaults, .prepare = prepare_stroke, .run = run_stroke, .finish = finish_stroke)

/* --------------------------------------------------------------------------------------- restore and influences -- */

typedef struct influences_call {
  core_call call;
  const int32_t *vertices;
  int32_t *joint_indices;
  double *joint_weights;
} influences_call;

static const core_row restore_rows[] = {
    {"vertices", CORE_INT32, .at = offsetof(influences_call, vertices), "(M,)"},
    {"joint_indices", CORE_INT32, .at = offsetof(influences_call, joint_indices), "(M, W)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(influences_call, joint_weights), "(M, W)"},
};

static const core_row influences_rows[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(influences_call, joint_indices), "(V, W)", .result = 1},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(influences_call, joint_weights), "(V, W)", .result = 1},
};

static sbs_status run_restore(void *address, sbs_fault *fault) {
  influences_call *given = address;

  return sbs_brush_restore(core_made(given), given->vertices, given->joint_indices, given->joint_weights,
                           core_length(given, 'M'), fault);
}

static sbs_status run_influences(void *address, sbs_fault *fault) {
  influences_call *given = address;

  (void)fault;
  return sbs_brush_get_influences(core_made(given), given->joint_indices, given->joint_weights);
}

CORE_FUNCTION(core_restore, influences_call, .name = "restore", .summary = "Sets the influences of vertices.",
              .parts = {CORE_PART(restore_rows)}, .positional = 3, .run = run_restore)

CORE_FUNCTION(core_brush_influences, influences_call, .name = "influences",
              .summary = "New arrays of the influences, as they are.", .parts = {CORE_PART(influences_rows)},
              .run = run_influences)

/* --------------------------------------------------------------------------------------------------------- type -- */

#define LENGTH(name, letter, doc) {name, core_get_length, NULL, doc, (void *)(Py_ssize_t)(letter)}

static PyGetSetDef properties[] = {LENGTH("vertex_count", 'V', "int: vertices."),
                                   LENGTH("joint_count", 'J', "int: joints."),
                                   LENGTH("limit", 'W', "int: room for so many influences a vertex."),
                                   {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_stroke, &core_drag, &core_restore, &core_brush_influences, NULL};

CORE_CLASS(core_brush_class, brush_call, .number = CORE_BRUSH, .type = "sbs._core.Brush",
           .made_at = offsetof(brush_call, brush), .release = release, .methods = methods, .properties = properties,
           .exclusive = 1, .make.name = "Brush", .make.summary = "Paints weights. Nothing that is given is kept.",
           .make.parts = {CORE_PART_AT(offsetof(brush_call, mesh), core_mesh_rows),
                          CORE_PART_AT(offsetof(brush_call, table), core_influences_rows), CORE_PART(rows)},
           .make.positional = 4, .make.prepare = prepare, .make.run = run)
