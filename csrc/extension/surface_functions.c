/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "geometry.h"

#include <sbs/surface.h>

/* How the structure of a call with a surface starts. */
typedef struct surface_call {
  core_call call;
  sbs_mesh_desc mesh;
  int threads;
} surface_call;

#define MESH_PART CORE_PART_AT(offsetof(surface_call, mesh), core_mesh_rows)

static const core_row threads_row[] = {
    {"threads", CORE_THREADS, .at = offsetof(surface_call, threads), .optional = 1},
};

/* ------------------------------------------------------------------------------------------------------ nearest -- */

typedef struct nearest_call {
  surface_call in;
  const double *points;
  const int32_t *point_labels, *triangle_labels;
  int32_t *triangles;
  double *barycentric, *distances;
} nearest_call;

static const core_row nearest_rows[] = {
    {"points", CORE_DOUBLES, .at = offsetof(nearest_call, points), "(N, 3)"},
    {"point_labels", CORE_INT32, .at = offsetof(nearest_call, point_labels), "(N,)", .optional = 1},
    {"triangle_labels", CORE_INT32, .at = offsetof(nearest_call, triangle_labels), "(T,)", .optional = 1},
    {"triangles", CORE_INT32, .at = offsetof(nearest_call, triangles), "(N,)", .result = 1},
    {"barycentric", CORE_DOUBLES, .at = offsetof(nearest_call, barycentric), "(N, 3)", .result = 1},
    {"distances", CORE_DOUBLES, .at = offsetof(nearest_call, distances), "(N,)", .result = 1},
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
  sbs_status status = sbs_surface_new(&given->in.mesh, NULL, &surface, fault);

  if (status == SBS_OK) {
    status = sbs_surface_nearest(surface, given->points, core_length(given, 'N'), given->point_labels,
                                 given->triangle_labels, given->in.threads, given->triangles, given->barycentric,
                                 given->distances, fault);
  }
  sbs_surface_free(surface);
  return status;
}

CORE_ENTRY(core_nearest_on_surface, nearest_call)

const core_function core_nearest_on_surface = {
    .name = "nearest_on_surface",
    .summary = "The nearest point of a surface to each point. Triangles with the label of the point are skipped; -1 "
               "and infinity if\nnone is left.",
    .parts = {MESH_PART, CORE_PART(nearest_rows), CORE_PART(threads_row)},
    .positional = 3,
    .size = sizeof(nearest_call),
    .prepare = prepare_nearest,
    .run = run_nearest,
    .entry = core_nearest_on_surface_entry,
};

/* ------------------------------------------------------------------------------------------------------ blocked -- */

typedef struct blocked_call {
  surface_call in;
  const double *starts, *ends;
  const int32_t *start_vertices;
  unsigned char *blocked;
} blocked_call;

static const core_row blocked_rows[] = {
    {"starts", CORE_DOUBLES, .at = offsetof(blocked_call, starts), "(N, 3)"},
    {"ends", CORE_DOUBLES, .at = offsetof(blocked_call, ends), "(N, 3)"},
    {"start_vertices", CORE_INT32, .at = offsetof(blocked_call, start_vertices), "(N,)", .optional = 1},
    {"blocked", CORE_FLAGS, .at = offsetof(blocked_call, blocked), "(N,)", .result = 1},
};

static sbs_status run_blocked(void *address, sbs_fault *fault) {
  blocked_call *given = address;
  sbs_surface *surface = NULL;
  sbs_status status = sbs_surface_new(&given->in.mesh, NULL, &surface, fault);

  if (status == SBS_OK) {
    status = sbs_surface_blocked(surface, given->starts, given->ends, core_length(given, 'N'), given->start_vertices,
                                 given->in.threads, given->blocked, fault);
  }
  sbs_surface_free(surface);
  return status;
}

CORE_ENTRY(core_segments_blocked, blocked_call)

const core_function core_segments_blocked = {
    .name = "segments_blocked",
    .summary = "Whether a surface crosses each segment between its ends. Triangles at the vertex that a segment starts "
               "from, if given,\ndo not count.",
    .parts = {MESH_PART, CORE_PART(blocked_rows), CORE_PART(threads_row)},
    .positional = 4,
    .size = sizeof(blocked_call),
    .run = run_blocked,
    .entry = core_segments_blocked_entry,
};

/* ----------------------------------------------------------------------------------------------------- crossing -- */

typedef struct crossing_call {
  surface_call in;
  const int32_t *representatives;
  unsigned char *crossing;
} crossing_call;

static const core_row crossing_rows[] = {
    {"representatives", CORE_INT32, .at = offsetof(crossing_call, representatives), "(V,)", .optional = 1},
    {"crossing", CORE_FLAGS, .at = offsetof(crossing_call, crossing), "(T,)", .result = 1},
};

static sbs_status run_crossing(void *address, sbs_fault *fault) {
  crossing_call *given = address;
  sbs_surface *surface = NULL;
  sbs_status status = sbs_surface_new(&given->in.mesh, NULL, &surface, fault);

  if (status == SBS_OK) {
    status = sbs_surface_crossing(surface, given->representatives, given->in.threads, given->crossing, fault);
  }
  sbs_surface_free(surface);
  return status;
}

CORE_ENTRY(core_triangles_crossing, crossing_call)

const core_function core_triangles_crossing = {
    .name = "triangles_crossing",
    .summary = "Whether each triangle crosses another that it shares no vertex with. Vertices with one representative, "
               "from weld,\nare one.",
    .parts = {MESH_PART, CORE_PART(crossing_rows), CORE_PART(threads_row)},
    .positional = 2,
    .size = sizeof(crossing_call),
    .run = run_crossing,
    .entry = core_triangles_crossing_entry,
};
