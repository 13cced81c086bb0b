/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>

#include "functions.h"
#include "mesh.h"

#include <sbs/subdivision.h>

sbs_mesh_desc core_mesh_of(PyArrayObject *positions, PyArrayObject *triangles) {
  sbs_mesh_desc mesh = sbs_default_mesh_desc();

  mesh.vertex_count = (size_t)PyArray_DIM(positions, 0);
  mesh.scalar = core_scalar(positions);
  mesh.positions = PyArray_DATA(positions);
  if (triangles != NULL) {
    mesh.triangle_count = (size_t)PyArray_DIM(triangles, 0);
    mesh.triangles = PyArray_DATA(triangles);
  }
  return mesh;
}

/* --------------------------------------------------------------------------------------------------------- weld -- */

typedef struct weld_call {
  core_call call;
  PyArrayObject *positions, *representatives;
} weld_call;

static const core_argument weld_arguments[] = {
    {"positions", CORE_REALS, .at = offsetof(weld_call, positions), "(V, 3)"},
};

static const core_argument weld_results[] = {
    {"representatives", CORE_INT32, .at = offsetof(weld_call, representatives), "(V,)"},
};

static sbs_status run_weld(void *address, sbs_fault *fault) {
  weld_call *given = address;
  const sbs_mesh_desc mesh = core_mesh_of(given->positions, NULL);

  return sbs_mesh_weld(&mesh, NULL, PyArray_DATA(given->representatives), fault);
}

CORE_ENTRY(enter_weld, core_weld, weld_call)

const core_function core_weld = {
    .name = "weld",
    .summary = "The lowest vertex at the same point as each.",
    .parts = {CORE_PART(weld_arguments)},
    .positional = 1,
    CORE_RESULTS(weld_results),
    .size = sizeof(weld_call),
    .run = run_weld,
    .entry = enter_weld,
};

/* ---------------------------------------------------------------------------------------------------- adjacency -- */

typedef struct adjacency_call {
  core_call call;
  PyArrayObject *triangles, *representatives, *offsets, *neighbors;
} adjacency_call;

static const core_argument adjacency_arguments[] = {
    {"triangles", CORE_INT32, .at = offsetof(adjacency_call, triangles), "(T, 3)"},
    {"representatives", CORE_INT32, .at = offsetof(adjacency_call, representatives), "(V,)"},
};

/* O is V + 1; a triangle gives each corner two neighbors. */
static const core_argument adjacency_results[] = {
    {"offsets", CORE_INTP, .at = offsetof(adjacency_call, offsets), "(O,)"},
    {"neighbors", CORE_INT32, .at = offsetof(adjacency_call, neighbors), "(6 T,)"},
};

static int prepare_adjacency(void *address) {
  core_set_length(address, 'O', core_length(address, 'V') + 1);
  return 1;
}

static sbs_status run_adjacency(void *address, sbs_fault *fault) {
  adjacency_call *given = address;
  sbs_mesh_desc mesh = sbs_default_mesh_desc();

  mesh.vertex_count = core_length(&given->call, 'V');
  mesh.triangle_count = core_length(&given->call, 'T');
  mesh.triangles = PyArray_DATA(given->triangles);
  return sbs_mesh_adjacency(&mesh, PyArray_DATA(given->representatives), NULL, PyArray_DATA(given->offsets),
                            PyArray_DATA(given->neighbors), fault);
}

/* Without the room that neighbors did not need. */
static PyObject *finish_adjacency(void *address) {
  const adjacency_call *given = address;
  const npy_intp count = ((const npy_intp *)PyArray_DATA(given->offsets))[core_length(&given->call, 'V')];
  PyArrayObject *neighbors = (PyArrayObject *)PyArray_SimpleNew(1, &count, NPY_INT32);
  PyObject *result = NULL;

  if (neighbors != NULL) {
    memcpy(PyArray_DATA(neighbors), PyArray_DATA(given->neighbors), (size_t)PyArray_NBYTES(neighbors));
    result = PyTuple_Pack(2, given->offsets, neighbors);
  }
  Py_XDECREF((PyObject *)neighbors);
  return result;
}

CORE_ENTRY(enter_adjacency, core_adjacency, adjacency_call)

const core_function core_adjacency = {
    .name = "adjacency",
    .summary = "Neighbors over edges: those of vertex i are neighbors[offsets[i]:offsets[i + 1]]. Corners stand for "
               "their\nrepresentatives, from weld.",
    .parts = {CORE_PART(adjacency_arguments)},
    .positional = 2,
    CORE_RESULTS(adjacency_results),
    .size = sizeof(adjacency_call),
    .prepare = prepare_adjacency,
    .run = run_adjacency,
    .finish = finish_adjacency,
    .entry = enter_adjacency,
};

/* ------------------------------------------------------------------------------------------------------ islands -- */

typedef struct islands_call {
  core_call call;
  PyArrayObject *triangles, *islands;
  size_t vertex_count;
} islands_call;

static const core_argument islands_arguments[] = {
    {"triangles", CORE_INT32, .at = offsetof(islands_call, triangles), "(T, 3)"},
    {"vertex_count", CORE_COUNT, .at = offsetof(islands_call, vertex_count), "V"},
};

static const core_argument islands_results[] = {
    {"islands", CORE_INT32, .at = offsetof(islands_call, islands), "(V,)"},
};

static int prepare_islands(void *address) {
  core_set_length(address, 'V', ((const islands_call *)address)->vertex_count);
  return 1;
}

static sbs_status run_islands(void *address, sbs_fault *fault) {
  islands_call *given = address;
  sbs_mesh_desc mesh = sbs_default_mesh_desc();
  size_t island_count;

  mesh.vertex_count = given->vertex_count;
  mesh.triangle_count = core_length(&given->call, 'T');
  mesh.triangles = PyArray_DATA(given->triangles);
  return sbs_mesh_islands(&mesh, PyArray_DATA(given->islands), &island_count, fault);
}

CORE_ENTRY(enter_islands, core_islands, islands_call)

const core_function core_islands = {
    .name = "islands",
    .summary = "The number of each vertex's island. Triangles connect islands; they are numbered by their lowest "
               "vertices.",
    .parts = {CORE_PART(islands_arguments)},
    .positional = 2,
    CORE_RESULTS(islands_results),
    .size = sizeof(islands_call),
    .prepare = prepare_islands,
    .run = run_islands,
    .entry = enter_islands,
};

/* ---------------------------------------------------------------------------------------------------- curvature -- */

/* Also how the structure of a call of subdivide starts. */
typedef struct curvature_call {
  core_call call;
  PyArrayObject *positions, *triangles, *representatives, *angles;
} curvature_call;

static const core_argument curvature_arguments[] = {
    {"positions", CORE_REALS, .at = offsetof(curvature_call, positions), "(V, 3)"},
    {"triangles", CORE_INT32, .at = offsetof(curvature_call, triangles), "(T, 3)"},
    {"representatives", CORE_INT32, .at = offsetof(curvature_call, representatives), "(V,)"},
};

static const core_argument curvature_results[] = {
    {"angles", CORE_DOUBLES, .at = offsetof(curvature_call, angles), "(T,)"},
};

static sbs_status run_curvature(void *address, sbs_fault *fault) {
  curvature_call *given = address;
  const sbs_mesh_desc mesh = core_mesh_of(given->positions, given->triangles);

  return sbs_mesh_curvature(&mesh, PyArray_DATA(given->representatives), NULL, PyArray_DATA(given->angles), fault);
}

CORE_ENTRY(enter_curvature, core_curvature, curvature_call)

const core_function core_curvature = {
    .name = "curvature",
    .summary = "The largest angle between the normal of each triangle and those of its neighbors, in radians.",
    .parts = {CORE_PART(curvature_arguments)},
    .positional = 3,
    CORE_RESULTS(curvature_results),
    .size = sizeof(curvature_call),
    .run = run_curvature,
    .entry = enter_curvature,
};

/* ---------------------------------------------------------------------------------------------------- subdivide -- */

typedef struct subdivide_call {
  curvature_call coarse;
  PyArrayObject *chosen;
  int scheme;
  size_t levels;
  const sbs_subdivision *fine;
} subdivide_call;

/* In the order of sbs_subdivision_scheme. */
static const char *const scheme_words[] = {"1:3", "1:4", NULL};

static const core_argument subdivide_arguments[] = {
    {"chosen", CORE_FLAGS, .at = offsetof(subdivide_call, chosen), "(T,)"},
    {"scheme", CORE_WORD, .at = offsetof(subdivide_call, scheme), .words = scheme_words, .optional = 1},
    {"levels", CORE_COUNT, .at = offsetof(subdivide_call, levels), .optional = 1},
};

static void set_subdivide_defaults(void *address) {
  subdivide_call *given = address;

  given->scheme = SBS_SUBDIVISION_1_TO_4;
  given->levels = 1;
}

static sbs_status run_subdivide(void *address, sbs_fault *fault) {
  subdivide_call *given = address;
  const sbs_mesh_desc mesh = core_mesh_of(given->coarse.positions, given->coarse.triangles);
  const int levels = given->levels < INT_MAX ? (int)given->levels : INT_MAX;

  return sbs_subdivision_new(&mesh, PyArray_DATA(given->coarse.representatives), PyArray_DATA(given->chosen),
                             (sbs_subdivision_scheme)given->scheme, levels, NULL, &given->fine, fault);
}

static PyObject *finish_subdivide(void *address) {
  const sbs_subdivision *fine = ((const subdivide_call *)address)->fine;
  PyObject *result = Py_BuildValue("NNNN", core_copy(fine->parents, fine->new_vertex_count, 3, NPY_INT32),
                                   core_copy(fine->shares, fine->new_vertex_count, 3, NPY_DOUBLE),
                                   core_copy(fine->triangles, fine->triangle_count, 3, NPY_INT32),
                                   core_copy(fine->sources, fine->triangle_count, 0, NPY_INT32));

  sbs_subdivision_free(fine);
  return result;
}

CORE_ENTRY(enter_subdivide, core_subdivide, subdivide_call)

const core_function core_subdivide = {
    .name = "subdivide",
    .summary = "Divides chosen triangles, and their neighbors where needed: (parents (N, 3), shares (N, 3), triangles "
               "(T', 3),\nsources (T',)). Parents and shares are those of the new vertices.",
    .parts = {CORE_PART(curvature_arguments), CORE_PART(subdivide_arguments)},
    .positional = 4,
    .returns = "tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]",
    .size = sizeof(subdivide_call),
    .set_defaults = set_subdivide_defaults,
    .run = run_subdivide,
    .finish = finish_subdivide,
    .entry = enter_subdivide,
};
