/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "influences.h"
#include "mesh.h"

/* How the structure of a call with influences starts. */
typedef struct influences_call {
  core_call call;
  PyArrayObject *joint_indices, *joint_weights, *locked, *new_joint_indices, *new_joint_weights;
  size_t joint_count;
  sbs_influences_table table;
} influences_call;

static const core_argument influences_arguments[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(influences_call, joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(influences_call, joint_weights), "(V, K)"},
};

/* Describes the table, and makes a mask of the locked joints. */
static int describe(influences_call *given, const unsigned char **locked) {
  if (given->joint_count == 0) {
    const npy_int32 used = core_largest(given->joint_indices);
    const npy_int32 most = given->locked != NULL ? core_largest(given->locked) : 0;
    given->joint_count = (size_t)(used > most ? used : most) + 1;
  }
  given->table = core_influences_of(given->joint_indices, given->joint_weights, given->joint_count);
  return core_new_mask(given, given->locked, "locked", given->joint_count, locked);
}

/* --------------------------------------------------------------------------------------------------------- tidy -- */

typedef struct tidy_call {
  influences_call influences;
  size_t max_influences;
} tidy_call;

static const core_argument tidy_options[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(tidy_call, influences.joint_count), .optional = 1},
};

static const core_argument tidy_results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(tidy_call, influences.new_joint_indices), "(V, K)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(tidy_call, influences.new_joint_weights), "(V, K)"},
};

static int prepare_tidy(void *address) {
  const unsigned char *locked;
  return describe(address, &locked);
}

static sbs_status run_tidy(void *address, sbs_fault *fault) {
  tidy_call *given = address;

  return sbs_influences_tidy(&given->influences.table, PyArray_DATA(given->influences.new_joint_indices),
                             PyArray_DATA(given->influences.new_joint_weights), &given->max_influences, fault);
}

static PyObject *finish_tidy(void *address) {
  const tidy_call *given = address;

  return Py_BuildValue("OOn", given->influences.new_joint_indices, given->influences.new_joint_weights,
                       (Py_ssize_t)given->max_influences);
}

CORE_ENTRY(enter_tidy, core_tidy_weights, tidy_call)

const core_function core_tidy_weights = {
    .name = "tidy_weights",
    .summary = "Influences as a skin uses them, and the most of a vertex.",
    .parts = {CORE_PART(influences_arguments), CORE_PART(tidy_options)},
    .positional = 2,
    CORE_RESULTS(tidy_results),
    .returns = "tuple[NDArray[np.int32], NDArray[np.float64], int]",
    .size = sizeof(tidy_call),
    .prepare = prepare_tidy,
    .run = run_tidy,
    .finish = finish_tidy,
    .entry = enter_tidy,
};

/* -------------------------------------------------------------------------------------------------------- clean -- */

typedef struct clean_call {
  influences_call influences;
  sbs_influences_clean_options options;
  sbs_influences_clean_report report;
} clean_call;

static const core_argument clean_options[] = {
    {"normalize", CORE_FLAG, .at = offsetof(clean_call, options.normalize), .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(clean_call, options.limit), .optional = 1},
    {"threshold", CORE_REAL, .at = offsetof(clean_call, options.threshold), .optional = 1},
    {"locked", CORE_INT32, .at = offsetof(clean_call, influences.locked), "(L,)", .optional = 1},
};

static const core_argument clean_results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(clean_call, influences.new_joint_indices), "(V, K)"},
    {"joint_weights", CORE_SAME, .at = offsetof(clean_call, influences.new_joint_weights), "(V, K)"},
};

static void set_clean_defaults(void *address) {
  ((clean_call *)address)->options = sbs_default_influences_clean_options();
}

static int prepare_clean(void *address) {
  clean_call *given = address;
  return describe(&given->influences, &given->options.locked);
}

static sbs_status run_clean(void *address, sbs_fault *fault) {
  clean_call *given = address;

  return sbs_influences_clean(&given->influences.table, &given->options,
                              PyArray_DATA(given->influences.new_joint_indices),
                              PyArray_DATA(given->influences.new_joint_weights), &given->report, fault);
}

static PyObject *finish_clean(void *address) {
  const clean_call *given = address;
  const sbs_influences_clean_report *report = &given->report;

  return Py_BuildValue("OO(nnnn)", given->influences.new_joint_indices, given->influences.new_joint_weights,
                       (Py_ssize_t)report->changed, (Py_ssize_t)report->unweighted, (Py_ssize_t)report->off_sum,
                       (Py_ssize_t)report->max_influences);
}

CORE_ENTRY(enter_clean, core_clean_weights, clean_call)

const core_function core_clean_weights = {
    .name = "clean_weights",
    .summary = "Normalizes, limits and prunes; also counts (changed, unweighted, off_sum, max_influences).",
    .parts = {CORE_PART(influences_arguments), CORE_PART(clean_options)},
    .positional = 2,
    CORE_RESULTS(clean_results),
    .returns = "tuple[NDArray[np.int32], _Floats, tuple[int, int, int, int]]",
    .size = sizeof(clean_call),
    .set_defaults = set_clean_defaults,
    .prepare = prepare_clean,
    .run = run_clean,
    .finish = finish_clean,
    .entry = enter_clean,
};

/* ------------------------------------------------------------------------------------------------------- smooth -- */

typedef struct smooth_call {
  influences_call influences;
  PyArrayObject *positions, *triangles, *mask;
  size_t limit;
  sbs_influences_smooth_options options;
} smooth_call;

static const core_argument smooth_arguments[] = {
    {"positions", CORE_REALS, .at = offsetof(smooth_call, positions), "(V, 3)"},
    {"triangles", CORE_INT32, .at = offsetof(smooth_call, triangles), "(T, 3)"},
    {"iterations", CORE_COUNT, .at = offsetof(smooth_call, options.iterations), .optional = 1},
    {"strength", CORE_REAL, .at = offsetof(smooth_call, options.strength), .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(smooth_call, limit), "W", .optional = 1},
    {"mask", CORE_DOUBLES, .at = offsetof(smooth_call, mask), "(V,)", .optional = 1},
    {"locked", CORE_INT32, .at = offsetof(smooth_call, influences.locked), "(L,)", .optional = 1},
    {"normalize", CORE_FLAG, .at = offsetof(smooth_call, options.normalize), .optional = 1},
};

static const core_argument smooth_results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(smooth_call, influences.new_joint_indices), "(V, W)"},
    {"joint_weights", CORE_SAME, .at = offsetof(smooth_call, influences.new_joint_weights), "(V, W)"},
};

static void set_smooth_defaults(void *address) {
  ((smooth_call *)address)->options = sbs_default_influences_smooth_options();
}

static int prepare_smooth(void *address) {
  smooth_call *given = address;

  if (given->limit == 0) {
    given->limit = (size_t)PyArray_DIM(given->influences.joint_indices, 1);
    core_set_length(address, 'W', given->limit);
  }
  given->options.mask = core_data(given->mask);
  return describe(&given->influences, &given->options.locked);
}

static sbs_status run_smooth(void *address, sbs_fault *fault) {
  smooth_call *given = address;
  const sbs_mesh_desc mesh = core_mesh_of(given->positions, given->triangles);

  return sbs_influences_smooth(&given->influences.table, &mesh, &given->options, given->limit,
                               PyArray_DATA(given->influences.new_joint_indices),
                               PyArray_DATA(given->influences.new_joint_weights), fault);
}

CORE_ENTRY(enter_smooth, core_smooth_weights, smooth_call)

const core_function core_smooth_weights = {
    .name = "smooth_weights",
    .summary = "Smoothed over the surface.",
    .parts = {CORE_PART(influences_arguments), CORE_PART(smooth_arguments)},
    .positional = 4,
    CORE_RESULTS(smooth_results),
    .size = sizeof(smooth_call),
    .set_defaults = set_smooth_defaults,
    .prepare = prepare_smooth,
    .run = run_smooth,
    .entry = enter_smooth,
};
