/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "geometry.h"

#include <sbs/heat.h>

typedef struct heat_call {
  core_call call;
  sbs_mesh_desc mesh;
  sbs_heat_bones bones;
  sbs_heat_options options;
  size_t limit;
  int32_t *joint_indices, *islands;
  double *joint_weights;
  sbs_heat_join *joins;
  sbs_heat_report report;
} heat_call;

#define AT(field) .at = offsetof(heat_call, field)

static const core_row rows[] = {
    {"heads", CORE_DOUBLES, AT(bones.heads), "(J, 3)"},
    {"tails", CORE_DOUBLES, AT(bones.tails), "(J, 3)"},
    {"enabled", CORE_FLAGS, AT(bones.enabled), "(J,)", .optional = 1},
    {"strength", CORE_REAL, AT(options.strength), .optional = 1},
    {"limit", CORE_COUNT, AT(limit), .optional = 1},
    {"prune", CORE_REAL, AT(options.prune), .optional = 1},
    CORE_PROGRESS_ROW,
    {"threads", CORE_THREADS, AT(options.threads), .optional = 1},
    {"J", CORE_LENGTH, AT(bones.joint_count)},
    {"joint_indices", CORE_INT32, AT(joint_indices), "(V, L)", .result = 1},
    {"joint_weights", CORE_DOUBLES, AT(joint_weights), "(V, L)", .result = 1},
    {"islands", CORE_INT32, AT(islands), "(V,)", .result = 1},
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
  const unsigned char *enabled = given->bones.enabled;
  size_t most = 0;

  for (size_t j = 0; j < given->bones.joint_count; j++) most += enabled == NULL || enabled[j];
  if (given->limit > 0 && given->limit < most) most = given->limit;
  core_set_length(given, 'L', most > 0 ? most : 1); /* without joints the library raises */
  given->joins = core_hold_memory(given, given->mesh.vertex_count * sizeof *given->joins);
  return given->joins != NULL;
}

static sbs_status run(void *address, sbs_fault *fault) {
  heat_call *given = address;

  given->options.progress = core_progress(&given->call, &given->options.progress_user);
  return sbs_heat_weights(&given->mesh, &given->bones, &given->options, core_length(given, 'L'), given->joint_indices,
                          given->joint_weights, given->islands, given->joins, &given->report, fault);
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

  return Py_BuildValue(
      "NON(snnnnn)", trouble ? Py_NewRef(Py_None) : PyTuple_Pack(2, core_result(given, 0), core_result(given, 1)),
      core_result(given, 2), list_joins(given->joins, report->join_count), trouble_words[report->trouble],
      (Py_ssize_t)report->max_influences, (Py_ssize_t)report->island_count, (Py_ssize_t)report->welded,
      (Py_ssize_t)report->degenerate_triangles, (Py_ssize_t)report->blind_vertices);
}

CORE_FUNCTION(
    core_heat_weights, heat_call, .name = "heat_weights",
    .summary = "Weights by heat: the influences, or None with trouble; islands; the joins, each as (island, "
               "neighbor, vertices,\ndistance, reason); and (trouble, most influences, islands, welded, degenerate "
               "triangles, blind vertices). Rows are padded\nbeyond the most influences.",
    .parts = {CORE_PART_AT(offsetof(heat_call, mesh), core_mesh_rows), CORE_PART(rows)}, .positional = 4,
    .returns = "tuple[tuple[NDArray[np.int32], NDArray[np.float64]] | None, NDArray[np.int32], "
               "list[tuple[int, int, int, float, Literal['sees no bone', 'tiny', 'no triangles']]], tuple[str, int, "
               "int, int, int, int]]",
    .set_defaults = set_defaults, .prepare = prepare, .run = run, .finish = finish)
