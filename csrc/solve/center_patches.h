/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_CENTER_PATCHES_H
#define SBS_SOLVE_CENTER_PATCHES_H

#include "solve/center_rows.h"

/*
 * The triangles that are sampled, by pair of joints. Coordinates are relative to the middle of the mesh, and multiplied
 * by a power of two that brings it to a size of about 1, so that no product overflows.
 */
typedef struct sbs_patches {
  size_t triangle_count;
  int32_t *triangles;  /* (triangle_count, 3), a copy, so that a progress function cannot change them */
  double middle[3];    /* in the caller's units */
  double scale;        /* from the caller's units */
  double (*points)[3]; /* (vertices) */
  uint16_t *splits;    /* (triangle_count) into how many parts the sides are cut; 0: not sampled */
  size_t
      *offsets; /* (pairs + 1) the triangles where pair i has weight are owners[offsets[i]] to [offsets[i + 1] - 1] */
  int32_t *owners; /* ascending for each pair */
} sbs_patches;

/*
 * Prepares all triangles. Their corners are in range.
 *
 *   refinement  from 0.01 on, or infinite
 *
 * Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_patches_new(sbs_patches *patches, const sbs_skin_desc *desc, const sbs_rows *rows,
                           const sbs_pairs *pairs, size_t triangle_count, const int32_t *triangles, double refinement,
                           sbs_arena *arena);

/* The area of a triangle, in the units of the points. */
double sbs_patch_area(const sbs_patches *patches, size_t triangle);

#endif
