/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>

#include "functions.h"
#include "geometry.h"

#include <sbs/subdivision.h>

/* A call of any of these functions: each uses some of the fields. */
typedef struct mesh_call {
  core_call call;
  sbs_mesh_desc mesh;
  const int32_t *representatives;
  void *found; /* numbers for vertices or triangles */
  size_t *offsets;
  const unsigned char *chosen;
  int scheme;
  size_t levels;
  const sbs_subdivision *fine;
} mesh_call;

#define AT(field) .at = offsetof(mesh_call, field)

#define MESH_PART CORE_PART_AT(offsetof(mesh_call, mesh), core_mesh_rows)

static const core_row representatives_row[] = {
    {"representatives", CORE_INT32, AT(representatives), "(V,)"},
};

/* --------------------------------------------------------------------------------------------------------- weld -- */

static const core_row weld_rows[] = {
    {"positions", CORE_REALS, AT(mesh.positions), "(V, 3)", .scalar = offsetof(mesh_call, mesh.scalar)},
    {"V", CORE_LENGTH, AT(mesh.vertex_count)},
    {"representatives", CORE_INT32, AT(found), "(V,)", .result = 1},
};

static sbs_status run_weld(void *address, sbs_fault *fault) {
  mesh_call *given = address;
  return sbs_mesh_weld(&given->mesh, NULL, given->found, fault);
}

CORE_FUNCTION(core_weld, mesh_call, .name = "weld", .summary = "The lowest vertex at the same point as each.",
              .parts = {CORE_PART(weld_rows)}, .positional = 1, .run = run_weld)

/* ---------------------------------------------------------------------------------------------------- adjacency -- */

/* O is V + 1; a triangle gives each corner two neighbors. */
static const core_row adjacency_rows[] = {
    {"triangles", CORE_INT32, AT(mesh.triangles), "(T, 3)"},
    {"representatives", CORE_INT32, AT(representatives), "(V,)"},
    {"V", CORE_LENGTH, AT(mesh.vertex_count)},
    {"T", CORE_LENGTH, AT(mesh.triangle_count)},
    {"offsets", CORE_INTP, AT(offsets), "(O,)", .result = 1},
    {"neighbors", CORE_INT32, AT(found), "(6 T,)", .result = 1},
};

static int prepare_adjacency(void *address) {
  core_set_length(address, 'O', core_length(address, 'V') + 1);
  return 1;
}

static sbs_status run_adjacency(void *address, sbs_fault *fault) {
  mesh_call *given = address;
  return sbs_mesh_adjacency(&given->mesh, given->representatives, NULL, given->offsets, given->found, fault);
}

/* Without the room that neighbors did not need. */
static PyObject *finish_adjacency(void *address) {
  const mesh_call *given = address;
  const size_t count = given->offsets[core_length(address, 'V')];

  return Py_BuildValue("ON", core_result(address, 0), core_copy(given->found, count, 0, NPY_INT32));
}

CORE_FUNCTION(core_adjacency, mesh_call, .name = "adjacency",
              .summary =
                  "Neighbors over edges: those of vertex i are neighbors[offsets[i]:offsets[i + 1]]. Corners stand for "
                  "their\nrepresentatives, from weld.",
              .parts = {CORE_PART(adjacency_rows)}, .positional = 2, .prepare = prepare_adjacency, .run = run_adjacency,
              .finish = finish_adjacency)

/* ------------------------------------------------------------------------------------------------------ islands -- */

static const core_row islands_rows[] = {
    {"triangles", CORE_INT32, AT(mesh.triangles), "(T, 3)"},
    {"vertex_count", CORE_COUNT, AT(mesh.vertex_count), "V"},
    {"T", CORE_LENGTH, AT(mesh.triangle_count)},
    {"islands", CORE_INT32, AT(found), "(V,)", .result = 1},
};

static sbs_status run_islands(void *address, sbs_fault *fault) {
  mesh_call *given = address;
  size_t island_count;

  return sbs_mesh_islands(&given->mesh, given->found, &island_count, fault);
}

CORE_FUNCTION(core_islands, mesh_call, .name = "islands",
              .summary =
                  "The number of each vertex's island. Triangles connect islands; they are numbered by their lowest "
                  "vertices.",
              .parts = {CORE_PART(islands_rows)}, .positional = 2, .run = run_islands)

/* ---------------------------------------------------------------------------------------------------- curvature -- */

static const core_row curvature_results[] = {
    {"angles", CORE_DOUBLES, AT(found), "(T,)", .result = 1},
};

static sbs_status run_curvature(void *address, sbs_fault *fault) {
  mesh_call *given = address;
  return sbs_mesh_curvature(&given->mesh, given->representatives, NULL, given->found, fault);
}

CORE_FUNCTION(
    core_curvature, mesh_call, .name = "curvature",
    .summary = "The largest angle between the normal of each triangle and those of its neighbors, in radians.",
    .parts = {MESH_PART, CORE_PART(representatives_row), CORE_PART(curvature_results)}, .positional = 3,
    .run = run_curvature)

/* ---------------------------------------------------------------------------------------------------- subdivide -- */

/* In the order of sbs_subdivision_scheme. */
static const char *const scheme_words[] = {"1:3", "1:4", NULL};

static const core_row subdivide_rows[] = {
    {"chosen", CORE_FLAGS, AT(chosen), "(T,)"},
    {"scheme", CORE_WORD, AT(scheme), .words = scheme_words, .optional = 1},
    {"levels", CORE_COUNT, AT(levels), .optional = 1},
};

static void set_subdivide_defaults(void *address) {
  mesh_call *given = address;

  given->scheme = SBS_SUBDIVISION_1_TO_4;
  given->levels = 1;
}

static sbs_status run_subdivide(void *address, sbs_fault *fault) {
  mesh_call *given = address;
  const int levels = given->levels < INT_MAX ? (int)given->levels : INT_MAX;

  return sbs_subdivision_new(&given->mesh, given->representatives, given->chosen, (sbs_subdivision_scheme)given->scheme,
                             levels, NULL, &given->fine, fault);
}

static PyObject *finish_subdivide(void *address) {
  const sbs_subdivision *fine = ((const mesh_call *)address)->fine;
  PyObject *result = Py_BuildValue("NNNN", core_copy(fine->parents, fine->new_vertex_count, 3, NPY_INT32),
                                   core_copy(fine->shares, fine->new_vertex_count, 3, NPY_DOUBLE),
                                   core_copy(fine->triangles, fine->triangle_count, 3, NPY_INT32),
                                   core_copy(fine->sources, fine->triangle_count, 0, NPY_INT32));

  sbs_subdivision_free(fine);
  return result;
}

CORE_FUNCTION(
    core_subdivide, mesh_call, .name = "subdivide",
    .summary = "Divides chosen triangles, and their neighbors where needed: (parents (N, 3), shares (N, 3), triangles "
               "(T', 3),\nsources (T',)). Parents and shares are those of the new vertices.",
    .parts = {MESH_PART, CORE_PART(representatives_row), CORE_PART(subdivide_rows)}, .positional = 4,
    .returns = "tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]",
    .set_defaults = set_subdivide_defaults, .run = run_subdivide, .finish = finish_subdivide)
