/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_SURFACE_H
#define SBS_WEIGHTS_HEAT_SURFACE_H

#include "sbs/mesh.h"

/* A mesh with its vertices at one point merged, scaled to a size of 1 and moved to the origin. */
typedef struct sbs_heat_surface {
  size_t vertex_count;    /* W */
  size_t triangle_count;  /* T */
  size_t island_count;    /* I */
  double *positions;      /* (W, 3) */
  int32_t *triangles;     /* (T, 3) */
  int32_t *vertex_of;     /* (V) the vertex of the surface that each vertex of the mesh is */
  int32_t *island_of;     /* (W) */
  double *areas;          /* (T) */
  double *masses;         /* (W) a third of the area around each; at least a thousandth of the mean */
  double center[3], size; /* of the mesh: the middle and the diagonal of its box; a size of 0 counts as 1 */
} sbs_heat_surface;

/*
 * Checks a mesh and makes its surface. Call sbs_heat_surface_free also if this fails.
 *
 *   groups  (V) the lowest of the vertices that each vertex is merged with; NULL: those at one point, or nearly
 *
 * Errors: as sbs_mesh_weld, VERTEX_INDEX.
 */
sbs_status sbs_heat_surface_init(sbs_heat_surface *surface, const sbs_mesh_desc *mesh, const int32_t *groups,
                                 const sbs_allocator *allocator, sbs_fault *fault);

void sbs_heat_surface_free(sbs_heat_surface *surface, const sbs_allocator *allocator);

/* Brings a point from the space of the mesh to the space of the surface. */
void sbs_heat_surface_scale(const sbs_heat_surface *surface, const double point[3], double scaled[3]);

/* The surface as a mesh. */
sbs_mesh_desc sbs_heat_surface_desc(const sbs_heat_surface *surface);

static inline int32_t sbs_heat_island_of_triangle(const sbs_heat_surface *surface, size_t triangle) {
  return surface->island_of[surface->triangles[3 * triangle]];
}

#endif
