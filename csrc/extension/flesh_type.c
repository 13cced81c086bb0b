/* SPDX-License-Identifier: MIT */
/* _core.Flesh: a sbs_flesh, which never changes, so any number of threads may use it. */
#include "definitions.h"
#include "functions.h"
#include "pose.h"

#include <sbs/flesh.h>

typedef struct flesh_call {
  core_call call;
  sbs_flesh_desc desc;
  sbs_flesh_options options;
  sbs_flesh *flesh;
} flesh_call;

#define AT(field) .at = offsetof(flesh_call, field)

static const core_row rows[] = {
    {"rest_positions", CORE_REALS, AT(desc.rest_positions), "(V, 3)", .scalar = offsetof(flesh_call, desc.scalar)},
    {"triangles", CORE_INT32, AT(desc.triangles), "(T, 3)"},
    {"joint_indices", CORE_INT32, AT(desc.joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, AT(desc.joint_weights), "(V, K)", .scalar = offsetof(flesh_call, desc.weight_scalar)},
    {"parents", CORE_INT32, AT(desc.parents), "(J,)"},
    {"bones", CORE_DOUBLES, AT(desc.bones), "(J, 2, 3)"},
    {"hinges", CORE_FLAGS, AT(desc.hinges), "(J,)", .optional = 1},
    {"amounts", CORE_DOUBLES, AT(desc.amounts), "(V,)", .optional = 1},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"T", CORE_LENGTH, AT(desc.triangle_count)},
    {"K", CORE_LENGTH, AT(desc.influences_per_vertex)},
    {"J", CORE_LENGTH, AT(desc.joint_count)},
};

static const core_row option_rows[] = {
    {"bending", CORE_REAL, AT(options.bending), .optional = 1},
    {"hold", CORE_REAL, AT(options.hold), .optional = 1},
    {"crease", CORE_REAL, AT(options.crease), .optional = 1},
    {"margin", CORE_REAL, AT(options.margin), .optional = 1},
    {"thinner", CORE_REAL, AT(options.thinner), .optional = 1},
    {"thicker", CORE_REAL, AT(options.thicker), .optional = 1},
};

static void set_defaults(void *address) {
  ((flesh_call *)address)->options = sbs_default_flesh_options();
}

static sbs_status run(void *address, sbs_fault *fault) {
  flesh_call *given = address;

  return sbs_flesh_new(&given->desc, &given->options, NULL, &given->flesh, fault);
}

static void release(void *flesh) {
  sbs_flesh_free(flesh);
}

/* -------------------------------------------------------------------------------------------------------- relax -- */

typedef struct relax_call {
  core_pose_call posed;
  char *positions, *normals;
  size_t steps;
  double amount;
  int threads;
} relax_call;

#undef AT
#define AT(field) .at = offsetof(relax_call, field)

static const core_row positions_rows[] = {
    {"positions", CORE_OUTPUT, AT(positions), "(F, V, 3)"},
    {"normals", CORE_OUTPUT, AT(normals), "(F, V, 3)", .none = 1},
};

static const core_row relax_rows[] = {
    {"steps", CORE_COUNT, AT(steps), .optional = 1},
    {"amount", CORE_REAL, AT(amount), .optional = 1},
    {"threads", CORE_THREADS, AT(threads), .optional = 1},
};

static void set_relax_defaults(void *address) {
  relax_call *given = address;

  given->steps = SBS_FLESH_STEPS;
  given->amount = 1.0;
}

static sbs_status relax_in_pose(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const relax_call *given = address;
  const int is_float = given->posed.call.type == NPY_FLOAT;
  const size_t start = frame * core_length(given, 'V') * 3 * (is_float ? sizeof(float) : sizeof(double));

  return sbs_flesh_relax(core_made(given), pose, given->steps, given->amount, is_float ? SBS_FLOAT32 : SBS_FLOAT64,
                         given->positions + start, 0, given->normals != NULL ? given->normals + start : NULL, 0,
                         given->threads, fault);
}

CORE_FUNCTION(core_relax_flesh, relax_call, .name = "relax",
              .summary = "Change deformed positions, and normals or None, in place.",
              .parts = {CORE_PART(positions_rows), CORE_PART(core_matrices_of_frames_row), CORE_PART(relax_rows)},
              .positional = 3, .set_defaults = set_relax_defaults, .run_frame = relax_in_pose)

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_free_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_flesh_free_count(((const core_object *)object)->made));
}

static PyGetSetDef properties[] = {
    {"free_count", get_free_count, NULL, "int: how many vertices can move, seams counted once.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_relax_flesh, NULL};

CORE_CLASS(core_flesh_class, flesh_call, .number = CORE_FLESH, .type = "sbs._core.Flesh",
           .made_at = offsetof(flesh_call, flesh), .release = release, .methods = methods, .properties = properties,
           .make.name = "Flesh", .make.summary = "Flesh of a character. Nothing that is given is kept.",
           .make.parts = {CORE_PART(rows), CORE_PART(option_rows)}, .make.positional = 6,
           .make.set_defaults = set_defaults, .make.run = run)
