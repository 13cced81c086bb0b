/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include <sbs/capsules.h>

/* In the order of sbs_capsules_falloff and sbs_capsules_outside. */
static const char *const falloff_words[] = {"linear", "smooth", "quadratic", NULL};
static const char *const outside_words[] = {"nearest", "unweighted", "error", NULL};

typedef struct capsules_call {
  core_call call;
  sbs_capsules capsules;
  sbs_capsules_points points;
  sbs_capsules_options options;
  size_t limit; /* 0: none */
  int32_t *joint_indices;
  void *joint_weights;
  sbs_capsules_report report;
} capsules_call;

#define AT(field) .at = offsetof(capsules_call, field)

static const core_row points_rows[] = {
    {"points", CORE_REALS, AT(points.points), "(V, 3)", .scalar = offsetof(capsules_call, points.scalar)},
    {"V", CORE_LENGTH, AT(points.point_count)},
};

static const core_row capsules_rows[] = {
    {"heads", CORE_DOUBLES, AT(capsules.heads), "(J, 3)"},
    {"tails", CORE_DOUBLES, AT(capsules.tails), "(J, 3)"},
    {"inner_radii", CORE_DOUBLES, AT(capsules.inner_radii), "(J, 2)"},
    {"outer_radii", CORE_DOUBLES, AT(capsules.outer_radii), "(J, 2)"},
    {"multipliers", CORE_DOUBLES, AT(capsules.multipliers), "(J,)", .optional = 1},
    {"enabled", CORE_FLAGS, AT(capsules.enabled), "(J,)", .optional = 1},
    {"falloffs", CORE_INT32, AT(capsules.falloffs), "(J,)", .optional = 1},
    {"J", CORE_LENGTH, AT(capsules.capsule_count)},
};

static const core_row options_rows[] = {
    {"falloff", CORE_WORD, AT(options.falloff), .words = falloff_words, .optional = 1},
    {"outside", CORE_WORD, AT(options.outside), .words = outside_words, .optional = 1},
    {"limit", CORE_COUNT, AT(limit), .optional = 1},
};

static const core_row threads_row[] = {
    {"threads", CORE_THREADS, AT(options.threads), .optional = 1},
};

static void set_defaults(void *address) {
  ((capsules_call *)address)->options = sbs_default_capsules_options();
}

/* -------------------------------------------------------------------------------------------------------- check -- */

static sbs_status run_check(void *address, sbs_fault *fault) {
  return sbs_capsules_check(&((capsules_call *)address)->capsules, fault);
}

CORE_FUNCTION(core_check_capsules, capsules_call, .name = "check_capsules", .summary = "Raises if capsules are unfit.",
              .parts = {CORE_PART(capsules_rows)}, .positional = 7, .run = run_check)

/* ------------------------------------------------------------------------------------------------------ weights -- */

static const core_row weights_results[] = {
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, K)", .result = 1},
    {"joint_weights", CORE_SAME, AT(joint_weights), "(V, K)", .result = 1},
};

/* Also finds the most influences of a point, before there are arrays for them. */
static sbs_status run_weights(void *address, sbs_fault *fault) {
  capsules_call *given = address;
  const size_t room = given->joint_indices != NULL ? core_length(given, 'K') : 0;

  return sbs_capsules_weights(&given->capsules, &given->points, &given->options, room, given->joint_indices,
                              given->joint_weights, &given->report, fault);
}

static int prepare_weights(void *address) {
  capsules_call *given = address;
  const size_t count = given->capsules.capsule_count;
  size_t most = given->limit < count ? given->limit : count;

  if (given->limit == 0) {
    if (!core_run(given, run_weights)) return 0;
    most = given->report.max_influences > 0 ? given->report.max_influences : 1;
  }
  core_set_length(given, 'K', most);
  return 1;
}

CORE_FUNCTION(
    core_capsule_weights, capsules_call, .name = "capsule_weights",
    .summary = "Capsule weights; without a limit there is room for the influences of the point with the most.",
    .parts = {CORE_PART(points_rows), CORE_PART(capsules_rows), CORE_PART(options_rows), CORE_PART(threads_row),
              CORE_PART(weights_results)},
    .positional = 8, .set_defaults = set_defaults, .prepare = prepare_weights, .run = run_weights)

static const core_row dense_results[] = {
    {"joint_weights", CORE_SAME, AT(joint_weights), "(V, J)", .result = 1},
};

static sbs_status run_dense(void *address, sbs_fault *fault) {
  capsules_call *given = address;
  const size_t count = given->capsules.capsule_count, limit = given->limit < count ? given->limit : count;

  return sbs_capsules_weights_dense(&given->capsules, &given->points, &given->options, limit, given->joint_weights,
                                    NULL, fault);
}

CORE_FUNCTION(core_capsule_weights_dense, capsules_call, .name = "capsule_weights_dense",
              .summary = "The same as a matrix.",
              .parts = {CORE_PART(points_rows), CORE_PART(capsules_rows), CORE_PART(options_rows),
                        CORE_PART(threads_row), CORE_PART(dense_results)},
              .positional = 8, .set_defaults = set_defaults, .run = run_dense)

/* ------------------------------------------------------------------------------------------------------ outside -- */

static void set_outside_defaults(void *address) {
  set_defaults(address);
  ((capsules_call *)address)->options.outside = SBS_CAPSULES_OUTSIDE_UNWEIGHTED;
}

static PyObject *finish_outside(void *address) {
  return PyLong_FromSize_t(((const capsules_call *)address)->report.outside);
}

CORE_FUNCTION(core_count_outside, capsules_call, .name = "count_outside",
              .summary = "How many points are outside of all outer capsules.",
              .parts = {CORE_PART(points_rows), CORE_PART(capsules_rows), CORE_PART(threads_row)}, .positional = 8,
              .returns = "int", .set_defaults = set_outside_defaults, .run = run_weights, .finish = finish_outside)
