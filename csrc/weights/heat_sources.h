/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_SOURCES_H
#define SBS_WEIGHTS_HEAT_SOURCES_H

#include "sbs/heat.h"
#include "sbs/surface.h"
#include "weights/heat_progress.h"
#include "weights/heat_surface.h"

/* A bone that heats a vertex directly: its nearest, or as near, and visible from it. */
typedef struct sbs_heat_source {
  int32_t vertex, bone; /* the bone's number among the enabled ones */
  double distance;
} sbs_heat_source;

typedef struct sbs_heat_sources {
  size_t bone_count;        /* B: joints that are enabled */
  int32_t *joints;          /* (B) ascending */
  size_t count;             /* N */
  sbs_heat_source *sources; /* (N) by vertex, then bone */
  unsigned char *seen;      /* (W) whether a nearest bone is visible from a vertex */
} sbs_heat_sources;

/*
 * Finds the nearest bones of all vertices, and whether the surface hides them. Call sbs_heat_sources_free also if this
 * fails.
 *
 *   tree  of the surface; NULL if it has no triangles
 *
 * Errors: OUT_OF_MEMORY, CANCELLED.
 */
sbs_status sbs_heat_sources_init(sbs_heat_sources *sources, const sbs_heat_surface *surface, const sbs_surface *tree,
                                 const sbs_heat_bones *bones, int threads, const sbs_heat_progress *progress,
                                 const sbs_allocator *allocator);

void sbs_heat_sources_free(sbs_heat_sources *sources, const sbs_allocator *allocator);

#endif
