/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "geometry.h"

/* How the structure of a call with influences starts. */
typedef struct influences_call {
  core_call call;
  sbs_influences_table table;
  const int32_t *locked;
  int32_t *joint_indices;
  void *joint_weights;
} influences_call;

#define INFLUENCES_PART CORE_PART_AT(offsetof(influences_call, table), core_influences_rows)

static const core_row locked_row[] = {
    {"locked", CORE_INT32, .at = offsetof(influences_call, locked), "(L,)", .optional = 1},
};

/* The number of joints, if it was not given, and a mask of the locked ones. */
static int find_joints(influences_call *given, const unsigned char **locked) {
  if (given->table.joint_count == 0) {
    const size_t size = core_length(given, 'V') * core_length(given, 'K');
    const int32_t used = core_largest(given->table.joint_indices, size);
    const int32_t most = given->locked != NULL ? core_largest(given->locked, core_length(given, 'L')) : 0;
    given->table.joint_count = (size_t)(used > most ? used : most) + 1;
  }
  return core_new_mask(given, given->locked, 'L', "locked", given->table.joint_count, locked);
}

/* --------------------------------------------------------------------------------------------------------- tidy -- */

typedef struct tidy_call {
  influences_call in;
  size_t max_influences;
} tidy_call;

static const core_row tidy_rows[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(tidy_call, in.table.joint_count), .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(tidy_call, in.joint_indices), "(V, K)", .result = 1},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(tidy_call, in.joint_weights), "(V, K)", .result = 1},
};

static int prepare_tidy(void *address) {
  return find_joints(address, NULL);
}

static sbs_status run_tidy(void *address, sbs_fault *fault) {
  tidy_call *given = address;

  return sbs_influences_tidy(&given->in.table, given->in.joint_indices, given->in.joint_weights, &given->max_influences,
                             fault);
}

static PyObject *finish_tidy(void *address) {
  return Py_BuildValue("OOn", core_result(address, 0), core_result(address, 1),
                       (Py_ssize_t)((const tidy_call *)address)->max_influences);
}

CORE_ENTRY(core_tidy_weights, tidy_call)

const core_function core_tidy_weights = {
    .name = "tidy_weights",
    .summary = "Influences as a skin uses them, and the most of a vertex.",
    .parts = {INFLUENCES_PART, CORE_PART(tidy_rows)},
    .positional = 2,
    .returns = "tuple[NDArray[np.int32], NDArray[np.float64], int]",
    .size = sizeof(tidy_call),
    .prepare = prepare_tidy,
    .run = run_tidy,
    .finish = finish_tidy,
    .entry = core_tidy_weights_entry,
};

/* -------------------------------------------------------------------------------------------------------- clean -- */

typedef struct clean_call {
  influences_call in;
  sbs_influences_clean_options options;
  sbs_influences_clean_report report;
} clean_call;

static const core_row clean_rows[] = {
    {"normalize", CORE_FLAG, .at = offsetof(clean_call, options.normalize), .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(clean_call, options.limit), .optional = 1},
    {"threshold", CORE_REAL, .at = offsetof(clean_call, options.threshold), .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(clean_call, in.joint_indices), "(V, K)", .result = 1},
    {"joint_weights", CORE_SAME, .at = offsetof(clean_call, in.joint_weights), "(V, K)", .result = 1},
};

static void set_clean_defaults(void *address) {
  ((clean_call *)address)->options = sbs_default_influences_clean_options();
}

static int prepare_clean(void *address) {
  clean_call *given = address;
  return find_joints(&given->in, &given->options.locked);
}

static sbs_status run_clean(void *address, sbs_fault *fault) {
  clean_call *given = address;

  return sbs_influences_clean(&given->in.table, &given->options, given->in.joint_indices, given->in.joint_weights,
                              &given->report, fault);
}

static PyObject *finish_clean(void *address) {
  const sbs_influences_clean_report *report = &((const clean_call *)address)->report;

  return Py_BuildValue("OO(nnnn)", core_result(address, 0), core_result(address, 1), (Py_ssize_t)report->changed,
                       (Py_ssize_t)report->unweighted, (Py_ssize_t)report->off_sum, (Py_ssize_t)report->max_influences);
}

CORE_ENTRY(core_clean_weights, clean_call)

const core_function core_clean_weights = {
    .name = "clean_weights",
    .summary = "Normalizes, limits and prunes; also counts (changed, unweighted, off_sum, max_influences).",
    .parts = {INFLUENCES_PART, CORE_PART(clean_rows), CORE_PART(locked_row)},
    .positional = 2,
    .returns = "tuple[NDArray[np.int32], _Floats, tuple[int, int, int, int]]",
    .size = sizeof(clean_call),
    .set_defaults = set_clean_defaults,
    .prepare = prepare_clean,
    .run = run_clean,
    .finish = finish_clean,
    .entry = core_clean_weights_entry,
};

/* ------------------------------------------------------------------------------------------------------- smooth -- */

typedef struct smooth_call {
  influences_call in;
  sbs_mesh_desc mesh;
  size_t limit;
  sbs_influences_smooth_options options;
} smooth_call;

static const core_row smooth_rows[] = {
    {"iterations", CORE_COUNT, .at = offsetof(smooth_call, options.iterations), .optional = 1},
    {"strength", CORE_REAL, .at = offsetof(smooth_call, options.strength), .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(smooth_call, limit), "W", .optional = 1},
    {"mask", CORE_DOUBLES, .at = offsetof(smooth_call, options.mask), "(V,)", .optional = 1},
};

static const core_row smooth_normalize_rows[] = {
    {"normalize", CORE_FLAG, .at = offsetof(smooth_call, options.normalize), .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(smooth_call, in.joint_indices), "(V, W)", .result = 1},
    {"joint_weights", CORE_SAME, .at = offsetof(smooth_call, in.joint_weights), "(V, W)", .result = 1},
};

static void set_smooth_defaults(void *address) {
  ((smooth_call *)address)->options = sbs_default_influences_smooth_options();
}

static int prepare_smooth(void *address) {
  smooth_call *given = address;

  if (given->limit == 0) {
    given->limit = core_length(given, 'K');
    core_set_length(given, 'W', given->limit);
  }
  return find_joints(&given->in, &given->options.locked);
}

static sbs_status run_smooth(void *address, sbs_fault *fault) {
  smooth_call *given = address;

  return sbs_influences_smooth(&given->in.table, &given->mesh, &given->options, given->limit, given->in.joint_indices,
                               given->in.joint_weights, fault);
}

CORE_ENTRY(core_smooth_weights, smooth_call)

const core_function core_smooth_weights = {
    .name = "smooth_weights",
    .summary = "Smoothed over the surface.",
    .parts = {INFLUENCES_PART, CORE_PART_AT(offsetof(smooth_call, mesh), core_mesh_rows), CORE_PART(smooth_rows),
              CORE_PART(locked_row), CORE_PART(smooth_normalize_rows)},
    .positional = 4,
    .size = sizeof(smooth_call),
    .set_defaults = set_smooth_defaults,
    .prepare = prepare_smooth,
    .run = run_smooth,
    .entry = core_smooth_weights_entry,
};

/* ------------------------------------------------------------------------------------------------------ diffuse -- */

typedef struct diffuse_call {
  influences_call in;
  sbs_mesh_desc mesh;
  const double *lengths;
  size_t limit;
  sbs_influences_diffuse_options options;
} diffuse_call;

static const core_row diffuse_rows[] = {
    {"lengths", CORE_DOUBLES, .at = offsetof(diffuse_call, lengths), "(V,)"},
    {"limit", CORE_COUNT, .at = offsetof(diffuse_call, limit), "W", .optional = 1},
    {"threshold", CORE_REAL, .at = offsetof(diffuse_call, options.threshold), .optional = 1},
};

static const core_row diffuse_result_rows[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(diffuse_call, in.joint_indices), "(V, W)", .result = 1},
    {"joint_weights", CORE_SAME, .at = offsetof(diffuse_call, in.joint_weights), "(V, W)", .result = 1},
};

static void set_diffuse_defaults(void *address) {
  ((diffuse_call *)address)->options = sbs_default_influences_diffuse_options();
}

static int prepare_diffuse(void *address) {
  diffuse_call *given = address;

  if (given->limit == 0) {
    given->limit = core_length(given, 'K');
    core_set_length(given, 'W', given->limit);
  }
  return find_joints(&given->in, &given->options.locked);
}

static sbs_status run_diffuse(void *address, sbs_fault *fault) {
  diffuse_call *given = address;

  return sbs_influences_diffuse(&given->in.table, &given->mesh, given->lengths, &given->options, given->limit,
                                given->in.joint_indices, given->in.joint_weights, fault);
}

CORE_ENTRY(core_diffuse_weights, diffuse_call)

const core_function core_diffuse_weights = {
    .name = "diffuse_weights",
    .summary = "Spread over the surface by lengths.",
    .parts = {INFLUENCES_PART, CORE_PART_AT(offsetof(diffuse_call, mesh), core_mesh_rows), CORE_PART(diffuse_rows),
              CORE_PART(locked_row), CORE_PART(diffuse_result_rows)},
    .positional = 5,
    .size = sizeof(diffuse_call),
    .set_defaults = set_diffuse_defaults,
    .prepare = prepare_diffuse,
    .run = run_diffuse,
    .entry = core_diffuse_weights_entry,
};
