/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include "skin_type.h"
#include "twist_type.h"

#include <sbs/centers.h>

typedef struct centers_call {
  core_call call;
  sbs_skin_desc desc;
  PyObject *twist; /* NULL for None */
  const int32_t *triangles;
  double *centers;
  sbs_centers_options options;
  sbs_centers_report report;
} centers_call;

static const core_row rows[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(centers_call, desc.rest_positions), "(V, 3)",
     .scalar = offsetof(centers_call, desc.scalar)},
    {"triangles", CORE_INT32, .at = offsetof(centers_call, triangles), "(T, 3)"},
    {"joint_indices", CORE_INT32, .at = offsetof(centers_call, desc.joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(centers_call, desc.joint_weights), "(V, K)",
     .scalar = offsetof(centers_call, desc.weight_scalar)},
    {"twist", CORE_OBJECT, .at = offsetof(centers_call, twist), .type = "Twist | None", .optional = 1,
     .convert = core_convert_twist},
    {"twist_positions", CORE_SAME, .at = offsetof(centers_call, desc.twist_positions), "(V, 3)", .optional = 1},
    {"sigma", CORE_REAL, .at = offsetof(centers_call, options.sigma), .optional = 1},
    {"refinement", CORE_REAL, .at = offsetof(centers_call, options.refinement), .optional = 1},
    {"tolerance", CORE_REAL, .at = offsetof(centers_call, options.tolerance), .optional = 1},
    CORE_PROGRESS_ROW,
    {"threads", CORE_THREADS, .at = offsetof(centers_call, options.threads), .optional = 1},
    {"J", CORE_LENGTH, .at = offsetof(centers_call, desc.joint_count)},
    {"V", CORE_LENGTH, .at = offsetof(centers_call, desc.vertex_count)},
    {"K", CORE_LENGTH, .at = offsetof(centers_call, desc.influences_per_vertex)},
    {"centers", CORE_DOUBLES, .at = offsetof(centers_call, centers), "(V, 3)", .result = 1},
};

static void set_defaults(void *address) {
  ((centers_call *)address)->options = sbs_default_centers_options();
}

static int prepare(void *address) {
  centers_call *given = address;
  return core_complete_skin(&given->call, &given->desc, given->twist);
}

static sbs_status run(void *address, sbs_fault *fault) {
  centers_call *given = address;

  given->options.progress = core_progress(&given->call, &given->options.progress_user);
  return sbs_centers_optimized(&given->desc, core_length(given, 'T'), given->triangles, &given->options, given->centers,
                               &given->report, fault);
}

static PyObject *finish(void *address) {
  const sbs_centers_report *report = &((const centers_call *)address)->report;

  return Py_BuildValue("O(nnn)", core_result(address, 0), (Py_ssize_t)report->rigid, (Py_ssize_t)report->dissimilar,
                       (Py_ssize_t)report->samples);
}

CORE_ENTRY(core_optimized_centers, centers_call)

const core_function core_optimized_centers = {
    .name = "optimized_centers",
    .summary = "Optimized centers of rotation, and the counts (rigid, dissimilar, samples).",
    .parts = {CORE_PART(rows)},
    .positional = 4,
    .returns = "tuple[NDArray[np.float64], tuple[int, int, int]]",
    .size = sizeof(centers_call),
    .set_defaults = set_defaults,
    .prepare = prepare,
    .run = run,
    .finish = finish,
    .entry = core_optimized_centers_entry,
};
