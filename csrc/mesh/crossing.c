/* SPDX-License-Identifier: MIT */
#include "base/arguments.h"
#include "base/fault.h"
#include "base/threads.h"
#include "mesh/segment.h"
#include "mesh/surface.h"

enum {
  TRIANGLE_TIME = 2000, /* nanoseconds per triangle, about */
  CHUNK = 16
};

typedef struct request {
  const sbs_surface *surface;
  const int32_t *representatives;
  unsigned char *crossing;
} request;

/* A triangle with its box. */
typedef struct boxed {
  int32_t place; /* in the order of the tree */
  double low[3], high[3];
} boxed;

static double least(double a, double b) {
  return a < b ? a : b;
}

static double most(double a, double b) {
  return a > b ? a : b;
}

static boxed box_of(const sbs_surface *surface, size_t place) {
  boxed found = {.place = (int32_t)place};
  double (*corners)[3] = surface->corners[place];
  for (size_t axis = 0; axis < 3; axis++) {
    found.low[axis] = least(least(corners[0][axis], corners[1][axis]), corners[2][axis]);
    found.high[axis] = most(most(corners[0][axis], corners[1][axis]), corners[2][axis]);
  }
  return found;
}

static int boxes_meet(const boxed *triangle, const double low[3], const double high[3]) {
  for (size_t axis = 0; axis < 3; axis++) {
    if (triangle->low[axis] > high[axis] || triangle->high[axis] < low[axis]) return 0;
  }
  return 1;
}

static int share_a_vertex(const request *asked, int32_t place, int32_t other) {
  const int32_t *own = asked->surface->vertices[place], *theirs = asked->surface->vertices[other];
  for (size_t i = 0; i < 3; i++) {
    for (size_t k = 0; k < 3; k++) {
      const int32_t a = own[i], b = theirs[k];
      if (asked->representatives ? asked->representatives[a] == asked->representatives[b] : a == b) return 1;
    }
  }
  return 0;
}

/* Whether a side of the first triangle crosses the second. */
static int side_crosses(double (*sides)[3], double (*corners)[3]) {
  for (size_t i = 0; i < 3; i++) {
    const sbs_vec3 start = sbs_vec3_read(sides[i]), end = sbs_vec3_read(sides[(i + 1) % 3]);
    if (sbs_segment_crosses(start, sbs_vec3_subtract(end, start), corners)) return 1;
  }
  return 0;
}

static int cross(const request *asked, const boxed *triangle, int32_t other) {
  const boxed box = box_of(asked->surface, (size_t)other);
  double (*own)[3] = asked->surface->corners[triangle->place], (*theirs)[3] = asked->surface->corners[other];
  return boxes_meet(triangle, box.low, box.high) && !share_a_vertex(asked, triangle->place, other) &&
         (side_crosses(own, theirs) || side_crosses(theirs, own));
}

static int crosses_any(const request *asked, const boxed *triangle) {
  int32_t stack[SBS_SURFACE_DEPTH] = {0};
  size_t height = 1;
  while (height) {
    const sbs_surface_node *node = asked->surface->nodes + stack[--height];
    if (!boxes_meet(triangle, node->low, node->high)) continue;
    for (int32_t place = node->first; place < node->first + node->count; place++) {
      if (cross(asked, triangle, place)) return 1;
    }
    if (!node->count) {
      stack[height++] = node->first;
      stack[height++] = node->first + 1;
    }
  }
  return 0;
}

static sbs_status answer(void *context, sbs_share share, int worker) {
  const request *asked = context;
  (void)worker;
  for (size_t place = share.begin; place < share.end; place++) {
    const boxed triangle = box_of(asked->surface, place);
    asked->crossing[asked->surface->numbers[place]] = (unsigned char)crosses_any(asked, &triangle);
  }
  return SBS_OK;
}

sbs_status sbs_surface_crossing(const sbs_surface *surface, const int32_t *representatives, int threads,
                                unsigned char *crossing, sbs_fault *fault) {
  if (!surface) return sbs_fault_in(fault, SBS_ERROR_NULL, "surface");
  if (!crossing) return sbs_fault_in(fault, SBS_ERROR_NULL, "crossing");
  const size_t count = surface->triangle_count;
  request asked = {surface, representatives, crossing};
  return sbs_share_work(sbs_choose_threads(threads, TRIANGLE_TIME * (double)count), count, CHUNK, answer, &asked);
}
