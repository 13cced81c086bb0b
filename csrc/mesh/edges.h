/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_EDGES_H
#define SBS_MESH_EDGES_H

#include "sbs/mesh.h"

/* Side 3 t + i of a mesh goes from corner i of triangle t to the next. Sides with the same two ends are one edge. */
typedef struct sbs_edges {
  size_t count;      /* of edges */
  int32_t *of_sides; /* (3 T) the edge of each side, numbered as they occur first; -1 where both ends are one vertex */
} sbs_edges;

/* The most triangles whose sides can be numbered. */
#define SBS_MOST_TRIANGLES ((size_t)INT32_MAX / 3)

/* Checks the triangles of a mesh, and representatives unless NULL, for sbs_edges_find. */
sbs_status sbs_edges_validate(const sbs_mesh_desc *mesh, const int32_t *representatives, sbs_fault *fault);

/*
 * Finds the edges of triangles, in linear time.
 *
 *   triangles        (T, 3) in range, T at most SBS_MOST_TRIANGLES
 *   representatives  (V) or NULL: corners stand for their representatives
 *
 * Errors: OUT_OF_MEMORY, CANCELLED. Then there is nothing to free.
 */
sbs_status sbs_edges_find(const int32_t *triangles, size_t triangle_count, const int32_t *representatives,
                          const sbs_allocator *allocator, sbs_edges *edges);

/* In place of a second side: there is none, or there are more than two. */
enum {
  SBS_NO_SIDE = -1,
  SBS_MANY_SIDES = -2
};

/* Finds the first two sides at each edge, in arrays of one number an edge. */
void sbs_edges_pair_sides(const sbs_edges *edges, size_t side_count, int32_t *firsts, int32_t *seconds);

void sbs_edges_free(sbs_edges *edges, const sbs_allocator *allocator);

#endif
