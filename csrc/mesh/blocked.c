/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/threads.h"
#include "mesh/segment.h"
#include "mesh/surface.h"

enum {
  SEGMENT_TIME = 1000, /* nanoseconds per segment, about */
  CHUNK = 16
};

typedef struct segment {
  sbs_vec3 start, direction; /* from start to end */
  int32_t start_vertex;
} segment;

/* Clips the part [*low, *high] of the segment to that between two parallel planes; returns 0 if none is left. */
static int clip(double start, double direction, double from, double to, double *low, double *high) {
  if (direction == 0.0) return from <= start && start <= to;
  const double first = (from - start) / direction, second = (to - start) / direction;
  *low = fmax(*low, fmin(first, second));
  *high = fmin(*high, fmax(first, second) * (1.0 + 4.0 * DBL_EPSILON)); /* rounding must not lose flat boxes */
  return *low <= *high;
}

static int meets_box(const segment *s, const sbs_surface_node *node) {
  double low = 0.0, high = 1.0;
  return clip(s->start.x, s->direction.x, node->low[0], node->high[0], &low, &high) &&
         clip(s->start.y, s->direction.y, node->low[1], node->high[1], &low, &high) &&
         clip(s->start.z, s->direction.z, node->low[2], node->high[2], &low, &high);
}

static int has_corner(const int32_t *corners, int32_t vertex) {
  return corners[0] == vertex || corners[1] == vertex || corners[2] == vertex;
}

static int is_blocked(const sbs_surface *surface, const segment *s) {
  int32_t stack[SBS_SURFACE_DEPTH] = {0};
  size_t height = 1;
  while (height) {
    const sbs_surface_node *node = surface->nodes + stack[--height];
    if (!meets_box(s, node)) continue;
    for (int32_t place = node->first; place < node->first + node->count; place++) {
      if (!has_corner(surface->vertices[place], s->start_vertex) &&
          sbs_segment_crosses(s->start, s->direction, surface->corners[place])) {
        return 1;
      }
    }
    if (!node->count) {
      stack[height++] = node->first;
      stack[height++] = node->first + 1;
    }
  }
  return 0;
}

typedef struct request {
  const sbs_surface *surface;
  const double *starts, *ends;
  size_t segment_count;
  const int32_t *start_vertices;
  unsigned char *blocked;
} request;

static sbs_status answer(void *context, sbs_share share, int worker) {
  const request *asked = context;
  const double scale = asked->surface->scale;
  (void)worker;
  for (size_t i = share.begin; i < share.end; i++) {
    const double *start = asked->starts + 3 * i, *end = asked->ends + 3 * i;
    const segment s = {.start = {scale * start[0], scale * start[1], scale * start[2]},
                       .direction = {scale * end[0] - scale * start[0], scale * end[1] - scale * start[1],
                                     scale * end[2] - scale * start[2]},
                       .start_vertex = asked->start_vertices ? asked->start_vertices[i] : -1};
    asked->blocked[i] = (unsigned char)is_blocked(asked->surface, &s);
  }
  return SBS_OK;
}

sbs_status sbs_surface_blocked(const sbs_surface *surface, const double *starts, const double *ends,
                               size_t segment_count, const int32_t *start_vertices, int threads, unsigned char *blocked,
                               sbs_fault *fault) {
  if (!surface) return sbs_fault_in(fault, SBS_ERROR_NULL, "surface");
  if (!starts) return sbs_fault_in(fault, SBS_ERROR_NULL, "starts");
  if (!ends) return sbs_fault_in(fault, SBS_ERROR_NULL, "ends");
  if (!blocked) return sbs_fault_in(fault, SBS_ERROR_NULL, "blocked");
  sbs_status status = sbs_validate_vectors(starts, 0, SBS_FLOAT64, segment_count, "starts", "starts", fault);
  if (!status) status = sbs_validate_vectors(ends, 0, SBS_FLOAT64, segment_count, "ends", "ends", fault);
  if (status) return status;

  request asked = {surface, starts, ends, segment_count, start_vertices, blocked};
  return sbs_share_work(sbs_choose_threads(threads, SEGMENT_TIME * (double)segment_count), segment_count, CHUNK, answer,
                        &asked);
}
