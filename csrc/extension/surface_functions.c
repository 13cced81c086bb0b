/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "mesh.h"

#include <sbs/surface.h>

/* How the structure of a call with a surface starts. */
typedef struct surface_call {
  core_call call;
  PyArrayObject *positions, *triangles;
  int threads;
} surface_call;

static const core_argument surface_arguments[] = {
    {"positions", CORE_REALS, .at = offsetof(surface_call, positions), "(V, 3)"},
    {"triangles", CORE_INT32, .at = offsetof(surface_call, triangles), "(T, 3)"},
};

static sbs_status make_surface(const surface_call *given, sbs_surface **surface, sbs_fault *fault) {
  const sbs_mesh_desc mesh = core_mesh_of(given->positions, given->triangles);
  return sbs_surface_new(&mesh, NULL, surface, fault);
}

/* ------------------------------------------------------------------------------------------------------ nearest -- */

typedef struct nearest_call {
  surface_call surface;
  PyArrayObject *points, *point_labels, *triangle_labels, *nearest, *barycentric, *distances;
} nearest_call;

static const core_argument nearest_arguments[] = {
    {"points", CORE_DOUBLES, .at = offsetof(nearest_call, points), "(N, 3)"},
    {"point_labels", CORE_INT32, .at = offsetof(nearest_call, point_labels), "(N,)", .optional = 1},
    {"triangle_labels", CORE_INT32, .at = offsetof(nearest_call, triangle_labels), "(T,)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(nearest_call, surface.threads), .optional = 1},
};

static const core_argument nearest_results[] = {
    {"triangles", CORE_INT32, .at = offsetof(nearest_call, nearest), "(N,)"},
    {"barycentric", CORE_DOUBLES, .at = offsetof(nearest_call, barycentric), "(N, 3)"},
    {"distances", CORE_DOUBLES, .at = offsetof(nearest_call, distances), "(N,)"},
};

static int prepare_nearest(void *address) {
  const nearest_call *given = address;

  if ((given->point_labels == NULL) == (given->triangle_labels == NULL)) return 1;
  PyErr_SetString(PyExc_ValueError, "point_labels and triangle_labels go together");
  return 0;
}

static sbs_status run_nearest(void *address, sbs_fault *fault) {
  nearest_call *given = address;
  sbs_surface *surface = NULL;
  sbs_status status = make_surface(&given->surface, &surface, fault);

  if (status == SBS_OK) {
    status = sbs_surface_nearest(surface, PyArray_DATA(given->points), core_length(address, 'N'),
                                 core_data(given->point_labels), core_data(given->triangle_labels),
                                 given->surface.threads, PyArray_DATA(given->nearest), PyArray_DATA(given->barycentric),
                                 PyArray_DATA(given->distances), fault);
  }
  sbs_surface_free(surface);
  return status;
}

CORE_ENTRY(enter_nearest, core_nearest_on_surface, nearest_call)

const core_function core_nearest_on_surface = {
    .name = "nearest_on_surface",
    .summary = "The nearest point of a surface to each point. Triangles with the label of the point are skipped; -1 "
               "and infinity if\nnone is left.",
    .parts = {CORE_PART(surface_arguments), CORE_PART(nearest_arguments)},
    .positional = 3,
    CORE_RESULTS(nearest_results),
    .size = sizeof(nearest_call),
    .prepare = prepare_nearest,
    .run = run_nearest,
    .entry = enter_nearest,
};

/* ------------------------------------------------------------------------------------------------------ blocked -- */

typedef struct blocked_call {
  surface_call surface;
  PyArrayObject *starts, *ends, *start_vertices, *blocked;
} blocked_call;

static const core_argument blocked_arguments[] = {
    {"starts", CORE_DOUBLES, .at = offsetof(blocked_call, starts), "(N, 3)"},
    {"ends", CORE_DOUBLES, .at = offsetof(blocked_call, ends), "(N, 3)"},
    {"start_vertices", CORE_INT32, .at = offsetof(blocked_call, start_vertices), "(N,)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(blocked_call, surface.threads), .optional = 1},
};

static const core_argument blocked_results[] = {
    {"blocked", CORE_FLAGS, .at = offsetof(blocked_call, blocked), "(N,)"},
};

static sbs_status run_blocked(void *address, sbs_fault *fault) {
  blocked_call *given = address;
  sbs_surface *surface = NULL;
  sbs_status status = make_surface(&given->surface, &surface, fault);

  if (status == SBS_OK) {
    status = sbs_surface_blocked(surface, PyArray_DATA(given->starts), PyArray_DATA(given->ends),
                                 core_length(address, 'N'), core_data(given->start_vertices), given->surface.threads,
                                 PyArray_DATA(given->blocked), fault);
  }
  sbs_surface_free(surface);
  return status;
}

CORE_ENTRY(enter_blocked, core_segments_blocked, blocked_call)

const core_function core_segments_blocked = {
    .name = "segments_blocked",
    .summary = "Whether a surface crosses each segment between its ends. Triangles at the vertex that a segment starts "
               "from, if given,\ndo not count.",
    .parts = {CORE_PART(surface_arguments), CORE_PART(blocked_arguments)},
    .positional = 4,
    CORE_RESULTS(blocked_results),
    .size = sizeof(blocked_call),
    .run = run_blocked,
    .entry = enter_blocked,
};
