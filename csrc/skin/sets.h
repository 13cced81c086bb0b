/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_SETS_H
#define SBS_SKIN_SETS_H

#include "skin/binding.h"

/*
 * Reads the influences of all vertices, and finds the joint sets of a skin, the set and the heaviest joint of each
 * vertex, and `repairs`. Errors: OUT_OF_MEMORY, CANCELLED.
 */
sbs_status sbs_find_sets(sbs_skin *skin, const sbs_binding *binding);

/*
 * Finds all that follows from the sets: which are a joint and its parent, the order in which centers are solved, and
 * the vertices of each. Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_arrange_sets(sbs_skin *skin, const int32_t *parents);

/* Measures the rest positions of a description: the box, the origin and the centroids. Errors: OUT_OF_MEMORY. */
sbs_status sbs_measure_sets(sbs_skin *skin, const sbs_skin_desc *desc);

#endif
