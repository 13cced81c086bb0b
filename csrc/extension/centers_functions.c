/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include "twist_type.h"

#include <sbs/centers.h>

typedef struct centers_call {
  core_call call;
  PyArrayObject *positions, *triangles, *joint_indices, *joint_weights, *twist_positions, *centers;
  PyObject *twist; /* NULL for None */
  sbs_centers_options options;
  sbs_centers_report report;
} centers_call;

static const core_argument arguments[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(centers_call, positions), "(V, 3)"},
    {"triangles", CORE_INT32, .at = offsetof(centers_call, triangles), "(T, 3)"},
    {"joint_indices", CORE_INT32, .at = offsetof(centers_call, joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(centers_call, joint_weights), "(V, K)"},
    {"twist", CORE_OBJECT, .at = offsetof(centers_call, twist), .type = "Twist | None", .optional = 1,
     .convert = core_convert_twist},
    {"twist_positions", CORE_SAME, .at = offsetof(centers_call, twist_positions), "(V, 3)", .optional = 1},
    {"sigma", CORE_REAL, .at = offsetof(centers_call, options.sigma), .optional = 1},
    {"refinement", CORE_REAL, .at = offsetof(centers_call, options.refinement), .optional = 1},
    {"tolerance", CORE_REAL, .at = offsetof(centers_call, options.tolerance), .optional = 1},
    CORE_PROGRESS_ARGUMENT,
    {"threads", CORE_THREADS, .at = offsetof(centers_call, options.threads), .optional = 1},
};

static const core_argument results[] = {
    {"centers", CORE_DOUBLES, .at = offsetof(centers_call, centers), "(V, 3)"},
};

static void set_defaults(void *address) {
  ((centers_call *)address)->options = sbs_default_centers_options();
}

static int prepare(void *address) {
  centers_call *given = address;

  if (!core_check_twist_positions(given->twist_positions, given->twist)) return 0;
  if (given->call.lengths['J' - 'A'] < 0)
    core_set_length(&given->call, 'J', (size_t)core_largest(given->joint_indices) + 1);
  return 1;
}

static sbs_status run(void *address, sbs_fault *fault) {
  centers_call *given = address;
  sbs_skin_desc desc = sbs_default_skin_desc();

  desc.vertex_count = core_length(&given->call, 'V');
  desc.joint_count = core_length(&given->call, 'J');
  desc.influences_per_vertex = core_length(&given->call, 'K');
  desc.scalar = core_scalar(given->positions);
  desc.rest_positions = PyArray_DATA(given->positions);
  desc.joint_indices = PyArray_DATA(given->joint_indices);
  desc.weight_scalar = core_scalar(given->joint_weights);
  desc.joint_weights = PyArray_DATA(given->joint_weights);
  desc.twist = core_get_twist(given->twist);
  desc.twist_positions = core_data(given->twist_positions);
  given->options.progress = core_progress(&given->call, &given->options.progress_user);
  return sbs_centers_optimized(&desc, core_length(&given->call, 'T'), PyArray_DATA(given->triangles), &given->options,
                               PyArray_DATA(given->centers), &given->report, fault);
}

static PyObject *finish(void *address) {
  const centers_call *given = address;
  const sbs_centers_report *report = &given->report;

  return Py_BuildValue("O(nnn)", given->centers, (Py_ssize_t)report->rigid, (Py_ssize_t)report->dissimilar,
                       (Py_ssize_t)report->samples);
}

CORE_ENTRY(enter, core_optimized_centers, centers_call)

const core_function core_optimized_centers = {
    .name = "optimized_centers",
    .summary = "Optimized centers of rotation, and the counts (rigid, dissimilar, samples).",
    .parts = {CORE_PART(arguments)},
    .positional = 4,
    CORE_RESULTS(results),
    .returns = "tuple[NDArray[np.float64], tuple[int, int, int]]",
    .size = sizeof(centers_call),
    .set_defaults = set_defaults,
    .prepare = prepare,
    .run = run,
    .finish = finish,
    .entry = enter,
};
