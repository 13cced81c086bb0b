/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "geometry.h"

#include <sbs/surface.h>

/* A call of any of these functions: each uses some of the fields. */
typedef struct surface_call {
  core_call call;
  sbs_mesh_desc mesh;
  int threads;
  const double *points, *starts, *ends;
  const int32_t *point_labels, *triangle_labels, *start_vertices, *representatives;
  int32_t *triangles;
  double *barycentric, *distances;
  unsigned char *flags;
} surface_call;

#define AT(field) .at = offsetof(surface_call, field)
#define MESH_PART CORE_PART_AT(offsetof(surface_call, mesh), core_mesh_rows)

static const core_row threads_row[] = {{"threads", CORE_THREADS, AT(threads), .optional = 1}};

/* Runs a step on the surface of a call. */
static sbs_status with_surface(surface_call *given, sbs_fault *fault,
                               sbs_status (*step)(surface_call *given, const sbs_surface *surface, sbs_fault *fault)) {
  sbs_surface *surface = NULL;
  sbs_status status = sbs_surface_new(&given->mesh, NULL, &surface, fault);

  if (status == SBS_OK) status = step(given, surface, fault);
  sbs_surface_free(surface);
  return status;
}

/* ------------------------------------------------------------------------------------------------------ nearest -- */

static const core_row nearest_rows[] = {
    {"points", CORE_DOUBLES, AT(points), "(N, 3)"},
    {"point_labels", CORE_INT32, AT(point_labels), "(N,)", .optional = 1},
    {"triangle_labels", CORE_INT32, AT(triangle_labels), "(T,)", .optional = 1},
    {"triangles", CORE_INT32, AT(triangles), "(N,)", .result = 1},
    {"barycentric", CORE_DOUBLES, AT(barycentric), "(N, 3)", .result = 1},
    {"distances", CORE_DOUBLES, AT(distances), "(N,)", .result = 1},
};

static int prepare_nearest(void *address) {
  const surface_call *given = address;

  if ((given->point_labels == NULL) == (given->triangle_labels == NULL)) return 1;
  PyErr_SetString(PyExc_ValueError, "point_labels and triangle_labels go together");
  return 0;
}

static sbs_status find_nearest(surface_call *given, const sbs_surface *surface, sbs_fault *fault) {
  return sbs_surface_nearest(surface, given->points, core_length(given, 'N'), given->point_labels,
                             given->triangle_labels, given->threads, given->triangles, given->barycentric,
                             given->distances, fault);
}

static sbs_status run_nearest(void *given, sbs_fault *fault) {
  return with_surface(given, fault, find_nearest);
}

CORE_FUNCTION(core_nearest_on_surface, surface_call, .name = "nearest_on_surface",
              .summary = "The nearest point of a surface to each point. Triangles with the label of the point are "
                         "skipped; -1 and infinity if\nnone is left.",
              .parts = {MESH_PART, CORE_PART(nearest_rows), CORE_PART(threads_row)}, .positional = 3,
              .prepare = prepare_nearest, .run = run_nearest)

/* ------------------------------------------------------------------------------------------------------ blocked -- */

static const core_row blocked_rows[] = {
    {"starts", CORE_DOUBLES, AT(starts), "(N, 3)"},
    {"ends", CORE_DOUBLES, AT(ends), "(N, 3)"},
    {"start_vertices", CORE_INT32, AT(start_vertices), "(N,)", .optional = 1},
    {"blocked", CORE_FLAGS, AT(flags), "(N,)", .result = 1},
};

static sbs_status find_blocked(surface_call *given, const sbs_surface *surface, sbs_fault *fault) {
  return sbs_surface_blocked(surface, given->starts, given->ends, core_length(given, 'N'), given->start_vertices,
                             given->threads, given->flags, fault);
}

static sbs_status run_blocked(void *given, sbs_fault *fault) {
  return with_surface(given, fault, find_blocked);
}

CORE_FUNCTION(core_segments_blocked, surface_call, .name = "segments_blocked",
              .summary = "Whether a surface crosses each segment between its ends. Triangles at the vertex that a "
                         "segment starts from, if given,\ndo not count.",
              .parts = {MESH_PART, CORE_PART(blocked_rows), CORE_PART(threads_row)}, .positional = 4,
              .run = run_blocked)

/* ----------------------------------------------------------------------------------------------------- crossing -- */

static const core_row crossing_rows[] = {
    {"representatives", CORE_INT32, AT(representatives), "(V,)", .optional = 1},
    {"crossing", CORE_FLAGS, AT(flags), "(T,)", .result = 1},
};

static sbs_status find_crossing(surface_call *given, const sbs_surface *surface, sbs_fault *fault) {
  return sbs_surface_crossing(surface, given->representatives, given->threads, given->flags, fault);
}

static sbs_status run_crossing(void *given, sbs_fault *fault) {
  return with_surface(given, fault, find_crossing);
}

CORE_FUNCTION(core_triangles_crossing, surface_call, .name = "triangles_crossing",
              .summary = "Whether each triangle crosses another that it shares no vertex with. Vertices with one "
                         "representative, from weld,\nare one.",
              .parts = {MESH_PART, CORE_PART(crossing_rows), CORE_PART(threads_row)}, .positional = 2,
              .run = run_crossing)
