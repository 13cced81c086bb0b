/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "mesh.h"

#include <sbs/heat.h>

typedef struct heat_call {
  core_call call;
  PyArrayObject *positions, *triangles, *heads, *tails, *enabled, *joint_indices, *joint_weights, *islands;
  sbs_heat_options options;
  size_t limit;
  sbs_heat_report report;
  sbs_heat_join *joins;
} heat_call;

static const core_argument arguments[] = {
    {"positions", CORE_REALS, .at = offsetof(heat_call, positions), "(V, 3)"},
    {"triangles", CORE_INT32, .at = offsetof(heat_call, triangles), "(T, 3)"},
    {"heads", CORE_DOUBLES, .at = offsetof(heat_call, heads), "(J, 3)"},
    {"tails", CORE_DOUBLES, .at = offsetof(heat_call, tails), "(J, 3)"},
    {"enabled", CORE_FLAGS, .at = offsetof(heat_call, enabled), "(J,)", .optional = 1},
    {"strength", CORE_REAL, .at = offsetof(heat_call, options.strength), .optional = 1},
    {"limit", CORE_COUNT, .at = offsetof(heat_call, limit), .optional = 1},
    {"prune", CORE_REAL, .at = offsetof(heat_call, options.prune), .optional = 1},
    CORE_PROGRESS_ARGUMENT,
    {"threads", CORE_THREADS, .at = offsetof(heat_call, options.threads), .optional = 1},
};

static const core_argument results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(heat_call, joint_indices), "(V, L)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(heat_call, joint_weights), "(V, L)"},
    {"islands", CORE_INT32, .at = offsetof(heat_call, islands), "(V,)"},
};

/* In the order of sbs_heat_trouble and sbs_heat_reason. */
static const char *const trouble_words[] = {"", "the mesh has no surface", "the surface is in tiny pieces",
                                            "the surface sees no bone", "the heat equation has no finite solution"};
static const char *const reason_words[] = {"sees no bone", "tiny", "no triangles"};

static void set_defaults(void *address) {
  ((heat_call *)address)->options = sbs_default_heat_options();
}

/* Room for as many influences as there are enabled joints, or as the limit says, and for a join of each vertex. */
static int prepare(void *address) {
  heat_call *given = address;
  const size_t joint_count = core_length(&given->call, 'J');
  const npy_bool *enabled = core_data(given->enabled);
  PyObject *joins;
  size_t most = 0;

  for (size_t j = 0; j < joint_count; j++) most += enabled == NULL || enabled[j];
  if (given->limit > 0 && given->limit < most) most = given->limit;
  core_set_length(&given->call, 'L', most > 0 ? most : 1); /* without joints the library raises */
  joins = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(core_length(&given->call, 'V') * sizeof *given->joins));
  if (!core_hold(given, joins)) return 0;
  given->joins = (sbs_heat_join *)(void *)PyBytes_AsString(joins);
  return 1;
}

static sbs_status run(void *address, sbs_fault *fault) {
  heat_call *given = address;
  const sbs_mesh_desc mesh = core_mesh_of(given->positions, given->triangles);
  const sbs_heat_bones bones = {.joint_count = core_length(&given->call, 'J'),
                                .heads = PyArray_DATA(given->heads),
                                .tails = PyArray_DATA(given->tails),
                                .enabled = core_data(given->enabled)};

  given->options.progress = core_progress(&given->call, &given->options.progress_user);
  return sbs_heat_weights(&mesh, &bones, &given->options, core_length(&given->call, 'L'),
                          PyArray_DATA(given->joint_indices), PyArray_DATA(given->joint_weights),
                          PyArray_DATA(given->islands), given->joins, &given->report, fault);
}

static PyObject *list_joins(const sbs_heat_join *joins, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);

  for (size_t i = 0; list != NULL && i < count; i++) {
    PyObject *join = Py_BuildValue("iinds", (int)joins[i].island, (int)joins[i].neighbor,
                                   (Py_ssize_t)joins[i].vertex_count, joins[i].distance, reason_words[joins[i].reason]);
    if (join == NULL || PyList_SetItem(list, (Py_ssize_t)i, join) < 0) Py_CLEAR(list); /* steals join */
  }
  return list;
}

static PyObject *finish(void *address) {
  const heat_call *given = address;
  const sbs_heat_report *report = &given->report;
  const int trouble = report->trouble != SBS_HEAT_WORKS;

  return Py_BuildValue("NON(snnnnn)",
                       trouble ? Py_NewRef(Py_None) : PyTuple_Pack(2, given->joint_indices, given->joint_weights),
                       given->islands, list_joins(given->joins, report->join_count), trouble_words[report->trouble],
                       (Py_ssize_t)report->max_influences, (Py_ssize_t)report->island_count, (Py_ssize_t)report->welded,
                       (Py_ssize_t)report->degenerate_triangles, (Py_ssize_t)report->blind_vertices);
}

CORE_ENTRY(enter, core_heat_weights, heat_call)

const core_function core_heat_weights = {
    .name = "heat_weights",
    .summary = "Weights by heat: the influences, or None with trouble; islands; what was joined, each as (island, "
               "neighbor, vertices,\ndistance, reason); and (trouble, most influences, islands, welded, degenerate "
               "triangles, blind vertices). Rows are padded\nbeyond the most influences.",
    .parts = {CORE_PART(arguments)},
    .positional = 4,
    CORE_RESULTS(results),
    .returns = "tuple[tuple[NDArray[np.int32], NDArray[np.float64]] | None, NDArray[np.int32], "
               "list[tuple[int, int, int, float, Literal['sees no bone', 'tiny', 'no triangles']]], tuple[str, int, "
               "int, int, int, int]]",
    .size = sizeof(heat_call),
    .set_defaults = set_defaults,
    .prepare = prepare,
    .run = run,
    .finish = finish,
    .entry = enter,
};
