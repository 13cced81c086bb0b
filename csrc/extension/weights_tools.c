/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "geometry.h"

/* A call of any of these functions: each uses some of the fields. */
typedef struct tools_call {
  core_call call;
  sbs_influences_table table;
  sbs_mesh_desc mesh;
  const int32_t *locked_joints;
  const unsigned char *locked; /* the mask of these */
  const double *lengths;
  size_t limit, max_influences;
  sbs_influences_clean_options clean;
  sbs_influences_clean_report report;
  sbs_influences_smooth_options smooth;
  sbs_influences_diffuse_options diffuse;
  int32_t *joint_indices;
  void *joint_weights;
} tools_call;

#define AT(field) .at = offsetof(tools_call, field)
#define INFLUENCES_PART CORE_PART_AT(offsetof(tools_call, table), core_influences_rows)
#define MESH_PART CORE_PART_AT(offsetof(tools_call, mesh), core_mesh_rows)

static const core_row locked_row[] = {{"locked", CORE_INT32, AT(locked_joints), "(L,)", .optional = 1}};

static const core_row limited_results[] = {
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, W)", .result = 1},
    {"joint_weights", CORE_SAME, AT(joint_weights), "(V, W)", .result = 1},
};

static void set_defaults(void *address) {
  tools_call *given = address;

  given->clean = sbs_default_influences_clean_options();
  given->smooth = sbs_default_influences_smooth_options();
  given->diffuse = sbs_default_influences_diffuse_options();
}

/* Finds the number of joints and the limit where they were not given, and the mask of locked joints. */
static int prepare(void *address) {
  tools_call *given = address;
  const size_t size = core_length(given, 'V') * core_length(given, 'K');

  if (given->table.joint_count == 0) {
    const int32_t used = core_largest(given->table.joint_indices, size);
    const int32_t most = given->locked_joints != NULL ? core_largest(given->locked_joints, core_length(given, 'L')) : 0;
    given->table.joint_count = (size_t)(used > most ? used : most) + 1;
  }
  if (given->limit == 0) given->limit = core_length(given, 'K');
  core_set_length(given, 'W', given->limit);
  return core_new_mask(given, given->locked_joints, 'L', "locked", given->table.joint_count, &given->locked);
}

/* --------------------------------------------------------------------------------------------------------- tidy -- */

static const core_row tidy_rows[] = {
    {"joint_count", CORE_COUNT, AT(table.joint_count), .optional = 1},
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, K)", .result = 1},
    {"joint_weights", CORE_DOUBLES, AT(joint_weights), "(V, K)", .result = 1},
};

static sbs_status run_tidy(void *address, sbs_fault *fault) {
  tools_call *given = address;
  return sbs_influences_tidy(&given->table, given->joint_indices, given->joint_weights, &given->max_influences, fault);
}

static PyObject *finish_tidy(void *address) {
  return Py_BuildValue("OOn", core_result(address, 0), core_result(address, 1),
                       (Py_ssize_t)((const tools_call *)address)->max_influences);
}

CORE_FUNCTION(core_tidy_weights, tools_call, .name = "tidy_weights",
              .summary = "Influences as a skin uses them, and the most of a vertex.",
              .parts = {INFLUENCES_PART, CORE_PART(tidy_rows)}, .positional = 2,
              .returns = "tuple[NDArray[np.int32], NDArray[np.float64], int]", .prepare = prepare, .run = run_tidy,
              .finish = finish_tidy)

/* -------------------------------------------------------------------------------------------------------- clean -- */

static const core_row clean_rows[] = {
    {"normalize", CORE_FLAG, AT(clean.normalize), .optional = 1},
    {"limit", CORE_COUNT, AT(clean.limit), .optional = 1},
    {"threshold", CORE_REAL, AT(clean.threshold), .optional = 1},
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, K)", .result = 1},
    {"joint_weights", CORE_SAME, AT(joint_weights), "(V, K)", .result = 1},
};

static sbs_status run_clean(void *address, sbs_fault *fault) {
  tools_call *given = address;

  given->clean.locked = given->locked;
  return sbs_influences_clean(&given->table, &given->clean, given->joint_indices, given->joint_weights, &given->report,
                              fault);
}

static PyObject *finish_clean(void *address) {
  const sbs_influences_clean_report *report = &((const tools_call *)address)->report;

  return Py_BuildValue("OO(nnnn)", core_result(address, 0), core_result(address, 1), (Py_ssize_t)report->changed,
                       (Py_ssize_t)report->unweighted, (Py_ssize_t)report->off_sum, (Py_ssize_t)report->max_influences);
}

CORE_FUNCTION(core_clean_weights, tools_call, .name = "clean_weights",
              .summary = "Normalizes, limits and prunes; also counts (changed, unweighted, off_sum, max_influences).",
              .parts = {INFLUENCES_PART, CORE_PART(clean_rows), CORE_PART(locked_row)}, .positional = 2,
              .returns = "tuple[NDArray[np.int32], _Floats, tuple[int, int, int, int]]", .set_defaults = set_defaults,
              .prepare = prepare, .run = run_clean, .finish = finish_clean)

/* ------------------------------------------------------------------------------------------------------- smooth -- */

static const core_row smooth_rows[] = {
    {"iterations", CORE_COUNT, AT(smooth.iterations), .optional = 1},
    {"strength", CORE_REAL, AT(smooth.strength), .optional = 1},
    {"limit", CORE_COUNT, AT(limit), .optional = 1},
    {"mask", CORE_DOUBLES, AT(smooth.mask), "(V,)", .optional = 1},
};

static const core_row normalize_row[] = {{"normalize", CORE_FLAG, AT(smooth.normalize), .optional = 1}};

static sbs_status run_smooth(void *address, sbs_fault *fault) {
  tools_call *given = address;

  given->smooth.locked = given->locked;
  return sbs_influences_smooth(&given->table, &given->mesh, &given->smooth, given->limit, given->joint_indices,
                               given->joint_weights, fault);
}

CORE_FUNCTION(core_smooth_weights, tools_call, .name = "smooth_weights", .summary = "Smoothed over the surface.",
              .parts = {INFLUENCES_PART, MESH_PART, CORE_PART(smooth_rows), CORE_PART(locked_row),
                        CORE_PART(normalize_row), CORE_PART(limited_results)},
              .positional = 4, .set_defaults = set_defaults, .prepare = prepare, .run = run_smooth)

/* ------------------------------------------------------------------------------------------------------ diffuse -- */

static const core_row diffuse_rows[] = {
    {"lengths", CORE_DOUBLES, AT(lengths), "(V,)"},
    {"limit", CORE_COUNT, AT(limit), .optional = 1},
    {"threshold", CORE_REAL, AT(diffuse.threshold), .optional = 1},
};

static sbs_status run_diffuse(void *address, sbs_fault *fault) {
  tools_call *given = address;

  given->diffuse.locked = given->locked;
  return sbs_influences_diffuse(&given->table, &given->mesh, given->lengths, &given->diffuse, given->limit,
                                given->joint_indices, given->joint_weights, fault);
}

CORE_FUNCTION(core_diffuse_weights, tools_call, .name = "diffuse_weights",
              .summary = "Spread over the surface by lengths.",
              .parts = {INFLUENCES_PART, MESH_PART, CORE_PART(diffuse_rows), CORE_PART(locked_row),
                        CORE_PART(limited_results)},
              .positional = 5, .set_defaults = set_defaults, .prepare = prepare, .run = run_diffuse)
