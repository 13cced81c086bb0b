/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_JOINS_H
#define SBS_WEIGHTS_HEAT_JOINS_H

#include "base/arena.h"
#include "sbs/surface.h"
#include "weights/heat_progress.h"
#include "weights/heat_surface.h"

/*
 * The order in which islands are heated, and for the vertices of islands that bones do not heat the point that heats
 * them: the nearest point of the islands of less depth.
 */
typedef struct sbs_heat_joins {
  size_t depth_count;   /* D, at least 1: the bones heat the islands of depth 0 */
  size_t *depth_starts; /* (D + 1) where each depth begins in `vertices` */
  int32_t *vertices;    /* (W) by depth, ascending within */
  int32_t *triangles;   /* (W) the triangle that heats the vertex at that place; -1: none */
  double (*shares)[3];  /* (W, 3) the nearest point, as weights of the triangle's corners with a sum of 1 */
  double *distances;    /* (W) to it */
  sbs_arena arena;      /* of all these */
} sbs_heat_joins;

/*
 * Joins the islands with a reason (I) other than -1 to the rest, at least one island, by a minimum spanning tree of
 * their least distances (Boruvka's algorithm). Call sbs_heat_joins_free also if this fails.
 *
 * Errors: OUT_OF_MEMORY, CANCELLED, INTERNAL.
 */
sbs_status sbs_heat_joins_init(sbs_heat_joins *joins, const sbs_heat_surface *surface, const sbs_surface *tree,
                               const signed char *reasons, int threads, const sbs_heat_progress *progress,
                               const sbs_allocator *allocator);

void sbs_heat_joins_free(sbs_heat_joins *joins);

#endif
