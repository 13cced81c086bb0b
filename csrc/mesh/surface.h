/* SPDX-License-Identifier: MIT */
#ifndef SBS_MESH_SURFACE_H
#define SBS_MESH_SURFACE_H

#include "sbs/surface.h"

enum {
  SBS_SURFACE_LEAF = 4,  /* the most triangles in a leaf */
  SBS_SURFACE_DEPTH = 64 /* more levels than halving 2^31 triangles can make */
};

/* A box and its contents. The two children of an inner node are adjacent. */
typedef struct sbs_surface_node {
  double low[3], high[3];
  int32_t first; /* leaf: the place of its first triangle; inner: its left child */
  int32_t count; /* leaf: its number of triangles; inner: 0 */
} sbs_surface_node;

/*
 * Triangles are stored in the order of the tree. Coordinates are multiplied by a power of two that brings the mesh to a
 * size of about 1, so that no square or product of three underflows or overflows.
 */
struct sbs_surface {
  sbs_allocator allocator;
  double scale; /* from the caller's units */
  size_t triangle_count;
  sbs_surface_node *nodes;
  double (*corners)[3][3];
  int32_t (*vertices)[3];
  int32_t *numbers; /* the caller's number of each triangle */
};

#endif
