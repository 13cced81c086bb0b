/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include <sbs/capsules.h>

/* In the order of sbs_capsules_falloff and sbs_capsules_outside. */
static const char *const falloff_words[] = {"linear", "smooth", "quadratic", NULL};
static const char *const outside_words[] = {"nearest", "unweighted", "error", NULL};

/* How the structure of a call with capsules starts. */
typedef struct capsules_call {
  core_call call;
  PyArrayObject *points, *heads, *tails, *inner_radii, *outer_radii, *multipliers, *enabled, *falloffs;
  PyArrayObject *joint_indices, *joint_weights;
  sbs_capsules_options options;
  size_t limit; /* 0: none */
  sbs_capsules_report report;
} capsules_call;

static const core_argument points_argument[] = {
    {"points", CORE_REALS, .at = offsetof(capsules_call, points), "(V, 3)"},
};

static const core_argument capsules_arguments[] = {
    {"heads", CORE_DOUBLES, .at = offsetof(capsules_call, heads), "(J, 3)"},
    {"tails", CORE_DOUBLES, .at = offsetof(capsules_call, tails), "(J, 3)"},
    {"inner_radii", CORE_DOUBLES, .at = offsetof(capsules_call, inner_radii), "(J, 2)"},
    {"outer_radii", CORE_DOUBLES, .at = offsetof(capsules_call, outer_radii), "(J, 2)"},
    {"multipliers", CORE_DOUBLES, .at = offsetof(capsules_call, multipliers), "(J,)", .optional = 1},
    {"enabled", CORE_FLAGS, .at = offsetof(capsules_call, enabled), "(J,)", .optional = 1},
    {"falloffs", CORE_INT32, .at = offsetof(capsules_call, falloffs), "(J,)", .optional = 1},
};

static const core_argument options[] = {
    {"falloff", CORE_WORD, .at = offsetof(capsules_call, options.falloff), .words = falloff_words, .optional = 1},
    {"outside", CORE_WORD, .at = offsetof(capsules_call, options.outside), .words = outside_words, .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(capsules_call, limit), .optional = 1},
};

static const core_argument threads_argument[] = {
    {"threads", CORE_THREADS, .at = offsetof(capsules_call, options.threads), .optional = 1},
};

static void set_defaults(void *address) {
  ((capsules_call *)address)->options = sbs_default_capsules_options();
}

static sbs_capsules describe_capsules(const capsules_call *given) {
  return (sbs_capsules){
      .capsule_count = core_length(&given->call, 'J'),
      .heads = PyArray_DATA(given->heads),
      .tails = PyArray_DATA(given->tails),
      .inner_radii = PyArray_DATA(given->inner_radii),
      .outer_radii = PyArray_DATA(given->outer_radii),
      .multipliers = core_data(given->multipliers),
      .enabled = core_data(given->enabled),
      .falloffs = core_data(given->falloffs),
  };
}

static sbs_capsules_points describe_points(const capsules_call *given) {
  return (sbs_capsules_points){
      .point_count = core_length(&given->call, 'V'),
      .scalar = core_scalar(given->points),
      .points = PyArray_DATA(given->points),
  };
}

/* -------------------------------------------------------------------------------------------------------- check -- */

static sbs_status run_check(void *address, sbs_fault *fault) {
  const sbs_capsules capsules = describe_capsules(address);
  return sbs_capsules_check(&capsules, fault);
}

/* A new read-only array of the values of an argument, or of their default. */
static PyObject *keep(const capsules_call *given, PyArrayObject *array, int type, long standard) {
  npy_intp count = (npy_intp)core_length(&given->call, 'J');
  PyObject *kept = array != NULL ? PyArray_NewCopy(array, NPY_CORDER) : PyArray_SimpleNew(1, &count, type);

  if (kept == NULL) return NULL;
  if (array == NULL) {
    PyObject *value = PyLong_FromLong(standard);
    const int filled = value != NULL ? PyArray_FillWithScalar((PyArrayObject *)kept, value) : -1;
    Py_XDECREF(value);
    if (filled < 0) {
      Py_DECREF(kept);
      return NULL;
    }
  }
  PyArray_CLEARFLAGS((PyArrayObject *)kept, NPY_ARRAY_WRITEABLE);
  return kept;
}

static PyObject *finish_check(void *address) {
  const capsules_call *given = address;

  return Py_BuildValue("NNNNNNN", keep(given, given->heads, NPY_DOUBLE, 0), keep(given, given->tails, NPY_DOUBLE, 0),
                       keep(given, given->inner_radii, NPY_DOUBLE, 0), keep(given, given->outer_radii, NPY_DOUBLE, 0),
                       keep(given, given->multipliers, NPY_DOUBLE, 1), keep(given, given->enabled, NPY_BOOL, 1),
                       keep(given, given->falloffs, NPY_INT32, -1));
}

CORE_ENTRY(enter_check, core_check_capsules, capsules_call)

const core_function core_check_capsules = {
    .name = "check_capsules",
    .summary = "Checked copies of the arrays of capsules, read-only, with defaults filled in.",
    .parts = {CORE_PART(capsules_arguments)},
    .positional = 7,
    .returns = "tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], "
               "NDArray[np.float64], NDArray[np.bool_], NDArray[np.int32]]",
    .size = sizeof(capsules_call),
    .run = run_check,
    .finish = finish_check,
    .entry = enter_check,
};

/* ------------------------------------------------------------------------------------------------------ weights -- */

static const core_argument weights_results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(capsules_call, joint_indices), "(V, K)"},
    {"joint_weights", CORE_SAME, .at = offsetof(capsules_call, joint_weights), "(V, K)"},
};

/* Also finds the most influences of a point, before there are arrays for them. */
static sbs_status run_weights(void *address, sbs_fault *fault) {
  capsules_call *given = address;
  const sbs_capsules capsules = describe_capsules(given);
  const sbs_capsules_points points = describe_points(given);
  const size_t room = given->joint_indices != NULL ? core_length(&given->call, 'K') : 0;

  return sbs_capsules_weights(&capsules, &points, &given->options, room, core_data(given->joint_indices),
                              core_data(given->joint_weights), &given->report, fault);
}

static int prepare_weights(void *address) {
  capsules_call *given = address;
  const size_t count = core_length(&given->call, 'J');
  size_t most = given->limit < count ? given->limit : count;

  if (given->limit == 0) {
    if (!core_run(given, run_weights)) return 0;
    most = given->report.max_influences > 0 ? given->report.max_influences : 1;
  }
  core_set_length(&given->call, 'K', most);
  return 1;
}

CORE_ENTRY(enter_weights, core_capsule_weights, capsules_call)

const core_function core_capsule_weights = {
    .name = "capsule_weights",
    .summary = "Capsule weights; without a limit there is room for the influences of the point with the most.",
    .parts = {CORE_PART(points_argument), CORE_PART(capsules_arguments), CORE_PART(options),
              CORE_PART(threads_argument)},
    .positional = 8,
    CORE_RESULTS(weights_results),
    .size = sizeof(capsules_call),
    .set_defaults = set_defaults,
    .prepare = prepare_weights,
    .run = run_weights,
    .entry = enter_weights,
};

static const core_argument dense_results[] = {
    {"joint_weights", CORE_SAME, .at = offsetof(capsules_call, joint_weights), "(V, J)"},
};

static sbs_status run_dense(void *address, sbs_fault *fault) {
  capsules_call *given = address;
  const sbs_capsules capsules = describe_capsules(given);
  const sbs_capsules_points points = describe_points(given);
  const size_t limit = given->limit < capsules.capsule_count ? given->limit : capsules.capsule_count;

  return sbs_capsules_weights_dense(&capsules, &points, &given->options, given->limit > 0 ? limit : 0,
                                    PyArray_DATA(given->joint_weights), NULL, fault);
}

CORE_ENTRY(enter_dense, core_capsule_weights_dense, capsules_call)

const core_function core_capsule_weights_dense = {
    .name = "capsule_weights_dense",
    .summary = "The same as a matrix.",
    .parts = {CORE_PART(points_argument), CORE_PART(capsules_arguments), CORE_PART(options),
              CORE_PART(threads_argument)},
    .positional = 8,
    CORE_RESULTS(dense_results),
    .size = sizeof(capsules_call),
    .set_defaults = set_defaults,
    .run = run_dense,
    .entry = enter_dense,
};

/* ------------------------------------------------------------------------------------------------------ outside -- */

static void set_outside_defaults(void *address) {
  set_defaults(address);
  ((capsules_call *)address)->options.outside = SBS_CAPSULES_OUTSIDE_UNWEIGHTED;
}

static PyObject *finish_outside(void *address) {
  return PyLong_FromSize_t(((const capsules_call *)address)->report.outside);
}

CORE_ENTRY(enter_outside, core_count_outside, capsules_call)

const core_function core_count_outside = {
    .name = "count_outside",
    .summary = "How many points are outside of all outer capsules.",
    .parts = {CORE_PART(points_argument), CORE_PART(capsules_arguments), CORE_PART(threads_argument)},
    .positional = 8,
    .returns = "int",
    .size = sizeof(capsules_call),
    .set_defaults = set_outside_defaults,
    .run = run_weights,
    .finish = finish_outside,
    .entry = enter_outside,
};
