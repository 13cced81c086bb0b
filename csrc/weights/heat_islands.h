/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_ISLANDS_H
#define SBS_WEIGHTS_HEAT_ISLANDS_H

#include "sbs/heat.h"
#include "weights/heat_surface.h"

/*
 * Finds which islands have heat of their own and which must be joined to others.
 *
 *   seen     (W) whether a bone is visible from a vertex
 *   reasons  (I) why an island has no heat of its own, as sbs_heat_reason, or -1 if it has
 *   trouble  SBS_HEAT_WORKS, or why heat does not work at all
 *
 * Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_heat_sort_islands(const sbs_heat_surface *surface, const unsigned char *seen,
                                 const sbs_allocator *allocator, signed char *reasons, sbs_heat_trouble *trouble);

#endif
