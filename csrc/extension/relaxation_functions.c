/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include <sbs/relaxation.h>

typedef struct relaxation_call {
  core_call call;
  sbs_relaxation_desc desc;
  sbs_relaxation_options options;
  double *positions;
  sbs_relaxation_report report;
} relaxation_call;

#define AT(field) .at = offsetof(relaxation_call, field)

static const core_row patch[] = {
    {"rest_positions", CORE_DOUBLES, AT(desc.rest_positions), "(V, 3)"},
    {"positions", CORE_DOUBLES, AT(desc.positions), "(V, 3)"},
    {"triangles", CORE_INT32, AT(desc.triangles), "(T, 3)"},
    {"free_vertices", CORE_FLAGS, AT(desc.free_vertices), "(V,)"},
    {"size", CORE_REAL, AT(desc.size)},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"T", CORE_LENGTH, AT(desc.triangle_count)},
};

static const core_row parts[] = {
    {"triangle_parts", CORE_INT32, AT(desc.triangle_parts), "(T,)", .optional = 1},
    {"apexes", CORE_DOUBLES, AT(desc.apexes), "(P, 3)", .optional = 1},
    {"rest_volumes", CORE_DOUBLES, AT(desc.rest_volumes), "(P,)", .optional = 1},
    {"held_volumes", CORE_DOUBLES, AT(desc.held_volumes), "(P,)", .optional = 1},
    {"planes", CORE_DOUBLES, AT(desc.planes), "(V, 4)", .optional = 1},
    {"bones", CORE_DOUBLES, AT(desc.bones), "(B, 2, 3)", .optional = 1},
    {"vertex_bones", CORE_INT32, AT(desc.vertex_bones), "(V, 2)", .optional = 1},
    {"distances", CORE_DOUBLES, AT(desc.distances), "(V,)", .optional = 1},
};

static const core_row options[] = {
    {"bending", CORE_REAL, AT(options.bending), .optional = 1},
    {"volume", CORE_REAL, AT(options.volume), .optional = 1},
    {"crease", CORE_REAL, AT(options.crease), .optional = 1},
    {"thinner", CORE_REAL, AT(options.thinner), .optional = 1},
    {"thicker", CORE_REAL, AT(options.thicker), .optional = 1},
    {"iterations", CORE_COUNT, AT(options.iterations), .optional = 1},
    {"relaxed", CORE_DOUBLES, AT(positions), "(V, 3)", .result = 1},
};

static void set_defaults(void *address) {
  ((relaxation_call *)address)->options = sbs_default_relaxation_options();
}

/* Parts and bones are as many as their arrays have. */
static int prepare(void *address) {
  relaxation_call *given = address;
  sbs_relaxation_desc *desc = &given->desc;

  if ((desc->apexes == NULL) != (desc->rest_volumes == NULL)) {
    PyErr_SetString(PyExc_ValueError, "apexes and rest_volumes go together");
    return 0;
  }
  if ((desc->bones == NULL) != (desc->vertex_bones == NULL) || (desc->bones == NULL) != (desc->distances == NULL)) {
    PyErr_SetString(PyExc_ValueError, "bones, vertex_bones and distances go together");
    return 0;
  }
  if (desc->apexes != NULL) desc->part_count = core_length(given, 'P');
  if (desc->bones != NULL) desc->bone_count = core_length(given, 'B');
  return 1;
}

static sbs_status run(void *address, sbs_fault *fault) {
  relaxation_call *given = address;

  return sbs_relaxation_minimize(&given->desc, &given->options, given->positions, &given->report, fault);
}

static PyObject *finish(void *address) {
  const relaxation_call *given = address;

  return Py_BuildValue("Oddn", core_result(given, 0), given->report.first_energy, given->report.energy,
                       (Py_ssize_t)given->report.iterations);
}

CORE_FUNCTION(core_relax, relaxation_call, .name = "relax",
              .summary = "A patch of a posed mesh, relaxed; the energy before and after, and the number of iterations.",
              .parts = {CORE_PART(patch), CORE_PART(parts), CORE_PART(options)}, .positional = 5,
              .returns = "tuple[NDArray[np.float64], float, float, int]", .set_defaults = set_defaults,
              .prepare = prepare, .run = run, .finish = finish)
