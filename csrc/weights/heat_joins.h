/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_JOINS_H
#define SBS_WEIGHTS_HEAT_JOINS_H

#include "sbs/surface.h"
#include "weights/heat_progress.h"
#include "weights/heat_surface.h"

/*
 * The order in which islands are heated, and where the vertices of those that are not heated by bones hang on others:
 * on the nearest point of those that are at least one step nearer to the bones.
 */
typedef struct sbs_heat_joins {
  size_t depth_count;   /* D, at least 1: the bones heat the islands of depth 0 */
  size_t *depth_starts; /* (D + 1) where the vertices of each depth begin in `vertices` */
  int32_t *vertices;    /* (W) by depth, ascending within */
  int32_t *triangles;   /* (W) what the vertex at that place hangs on; -1: nothing */
  double (*shares)[3];  /* (W, 3) of the triangle's corners in the nearest point, with a sum of 1 */
  double *distances;    /* (W) to it */
} sbs_heat_joins;

/*
 * Joins the islands that have a reason (I), not -1, to the others, of which there must be one, by a minimum spanning
 * tree of their least distances (Boruvka's algorithm). Released by sbs_heat_joins_free also where that fails.
 *
 * Errors: OUT_OF_MEMORY, CANCELLED, INTERNAL.
 */
sbs_status sbs_heat_joins_init(sbs_heat_joins *joins, const sbs_heat_surface *surface, const sbs_surface *tree,
                               const signed char *reasons, int threads, const sbs_heat_progress *progress,
                               const sbs_allocator *allocator);

void sbs_heat_joins_free(sbs_heat_joins *joins, const sbs_allocator *allocator);

#endif
