/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include "skin.h"

#include <sbs/centers.h>

typedef struct centers_call {
  core_call call;
  sbs_skin_desc desc;
  const core_object *twist; /* NULL for None */
  const int32_t *triangles;
  double *centers;
  sbs_centers_options options;
  sbs_centers_report report;
} centers_call;

#define AT(field) .at = offsetof(centers_call, field)

static const core_row rows[] = {
    {"rest_positions", CORE_REALS, AT(desc.rest_positions), "(V, 3)", .scalar = offsetof(centers_call, desc.scalar)},
    {"triangles", CORE_INT32, AT(triangles), "(T, 3)"},
    {"joint_indices", CORE_INT32, AT(desc.joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, AT(desc.joint_weights), "(V, K)",
     .scalar = offsetof(centers_call, desc.weight_scalar)},
    {"twist", CORE_INSTANCE, AT(twist), "JB", .type = "Twist", .type_number = CORE_TWIST, .optional = 1},
    {"twist_positions", CORE_SAME, AT(desc.twist_positions), "(V, 3)", .optional = 1},
    {"sigma", CORE_REAL, AT(options.sigma), .optional = 1},
    {"refinement", CORE_REAL, AT(options.refinement), .optional = 1},
    {"tolerance", CORE_REAL, AT(options.tolerance), .optional = 1},
    CORE_PROGRESS_ROW,
    {"threads", CORE_THREADS, AT(options.threads), .optional = 1},
    {"J", CORE_LENGTH, AT(desc.joint_count)},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"K", CORE_LENGTH, AT(desc.influences_per_vertex)},
    {"centers", CORE_DOUBLES, AT(centers), "(V, 3)", .result = 1},
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

CORE_FUNCTION(core_optimized_centers, centers_call, .name = "optimized_centers",
              .summary = "Optimized centers of rotation, and the counts (rigid, dissimilar, samples).",
              .parts = {CORE_PART(rows)}, .positional = 4,
              .returns = "tuple[NDArray[np.float64], tuple[int, int, int]]", .set_defaults = set_defaults,
              .prepare = prepare, .run = run, .finish = finish)
