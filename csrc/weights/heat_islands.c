/* SPDX-License-Identifier: MIT */
#include "weights/heat_islands.h"

#include <math.h>

#include "base/memory.h"

/* An island is tiny if the diagonal of its box is at most this share of the mesh's: a button, an eye. */
#define TINY 0.03

/* An island has heat of its own if a bone is visible from at least this share of its area. */
#define SEEN 0.2

typedef struct island {
  double low[3], high[3];
  double area; /* of its triangles */
  double mass, seen_mass;
  size_t triangle_count;
} island;

static int is_tiny(const island *measured) {
  double square = 0.0;
  for (size_t axis = 0; axis < 3; axis++) {
    const double side = measured->high[axis] - measured->low[axis];
    square += side * side;
  }
  return sqrt(square) <= TINY;
}

static void measure(const sbs_heat_surface *surface, const unsigned char *seen, island *islands) {
  for (size_t i = 0; i < surface->island_count; i++) {
    islands[i] = (island){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
  }
  for (size_t t = 0; t < surface->triangle_count; t++) {
    island *own = islands + sbs_heat_island_of_triangle(surface, t);
    own->area += surface->areas[t];
    own->triangle_count++;
  }
  for (size_t v = 0; v < surface->vertex_count; v++) {
    island *own = islands + surface->island_of[v];
    for (size_t axis = 0; axis < 3; axis++) {
      own->low[axis] = fmin(own->low[axis], surface->positions[3 * v + axis]);
      own->high[axis] = fmax(own->high[axis], surface->positions[3 * v + axis]);
    }
    own->mass += surface->masses[v];
    if (seen[v]) own->seen_mass += surface->masses[v];
  }
}

sbs_status sbs_heat_sort_islands(const sbs_heat_surface *surface, const unsigned char *seen,
                                 const sbs_allocator *allocator, signed char *reasons, sbs_heat_trouble *trouble) {
  double area = 0.0, tiny_area = 0.0;
  size_t fed = 0;
  island *islands = sbs_allocate(allocator, surface->island_count, sizeof *islands);
  if (!islands) return SBS_ERROR_OUT_OF_MEMORY;
  measure(surface, seen, islands);
  for (size_t i = 0; i < surface->island_count; i++) {
    const island *own = islands + i;
    area += own->area;
    reasons[i] = -1;
    if (!(own->seen_mass >= SEEN * own->mass)) reasons[i] = SBS_HEAT_SEES_NO_BONE;
    if (is_tiny(own)) {
      tiny_area += own->area;
      reasons[i] = SBS_HEAT_TINY;
    }
    if (!own->triangle_count) reasons[i] = SBS_HEAT_NO_TRIANGLES;
    fed += reasons[i] < 0;
  }
  sbs_release(allocator, islands);
  *trouble = SBS_HEAT_WORKS;
  if (!(area > 0.0)) {
    *trouble = SBS_HEAT_NO_SURFACE;
  } else if (tiny_area > 0.5 * area) {
    *trouble = SBS_HEAT_TINY_PIECES;
  } else if (!fed) {
    *trouble = SBS_HEAT_NO_BONE;
  }
  return SBS_OK;
}
