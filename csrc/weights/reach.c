/* SPDX-License-Identifier: MIT */
/* Which vertices a dab reaches, and how far away they are. */
#include <math.h>

#include "weights/brush.h"

/* ------------------------------------------------------------------------------------------- a heap by shortest way */

static void place(sbs_brush *brush, size_t at, int32_t vertex) {
  brush->heap[at] = vertex;
  brush->heap_at[vertex] = (int32_t)at;
}

static void sift_up(sbs_brush *brush, size_t at) {
  const int32_t vertex = brush->heap[at];
  for (; at > 0; at = (at - 1) / 2) {
    const int32_t parent = brush->heap[(at - 1) / 2];
    if (brush->ways[parent] <= brush->ways[vertex]) break;
    place(brush, at, parent);
  }
  place(brush, at, vertex);
}

static int32_t take_nearest(sbs_brush *brush, size_t *count) {
  const int32_t nearest = brush->heap[0], vertex = brush->heap[--*count];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= *count) break;
    if (child + 1 < *count && brush->ways[brush->heap[child + 1]] < brush->ways[brush->heap[child]]) child++;
    if (brush->ways[vertex] <= brush->ways[brush->heap[child]]) break;
    place(brush, at, brush->heap[child]);
    at = child;
  }
  place(brush, at, vertex);
  return nearest;
}

/* ----------------------------------------------------------------------------------------------------------- search */

static double measure_edge(const sbs_brush *brush, int32_t a, int32_t b) {
  const double *p = brush->points[brush->places[a]].position, *q = brush->points[brush->places[b]].position;
  const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
  return sqrt(x * x + y * y + z * z);
}

/* Follows edges from the vertex nearest to the center, as far as the radius: Dijkstra's algorithm. */
static void follow_edges(sbs_brush *brush, double radius) {
  if (!brush->reached_count) return;
  size_t start = 0;
  for (size_t i = 1; i < brush->reached_count; i++) {
    const int nearer = brush->distances[i] < brush->distances[start];
    const int as_near = brush->distances[i] == brush->distances[start];
    if (nearer || (as_near && brush->reached[i] < brush->reached[start])) start = i;
  }
  size_t waiting = 1;
  brush->ways[brush->reached[start]] = brush->distances[start];
  place(brush, 0, brush->reached[start]);
  brush->reached_count = 0;
  while (waiting) {
    const int32_t vertex = take_nearest(brush, &waiting);
    brush->reached[brush->reached_count] = vertex;
    brush->distances[brush->reached_count++] = brush->ways[vertex];
    for (size_t i = brush->offsets[vertex]; i < brush->offsets[vertex + 1]; i++) {
      const int32_t other = brush->neighbors[i];
      const double way = brush->ways[vertex] + measure_edge(brush, vertex, other);
      if (!(way <= radius)) continue;
      if (brush->heap_at[other] < 0) {
        brush->heap[waiting] = other;
        brush->ways[other] = way;
        sift_up(brush, waiting++);
      } else if (way < brush->ways[other]) { /* it is in the heap: vertices already taken are not farther */
        brush->ways[other] = way;
        sift_up(brush, (size_t)brush->heap_at[other]);
      }
    }
  }
  for (size_t i = 0; i < brush->reached_count; i++) brush->heap_at[brush->reached[i]] = -1;
}

void sbs_brush_reach(sbs_brush *brush, const sbs_brush_options *options, const double center[3]) {
  brush->reached_count =
      sbs_point_index_within(&brush->index, center, options->radius, brush->reached, brush->distances);
  for (size_t i = 0; i < brush->reached_count; i++) brush->reached[i] = brush->points[brush->reached[i]].id;
  if (options->distance == SBS_BRUSH_DISTANCE_SURFACE) follow_edges(brush, options->radius);
}
