/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_CENTROIDS_H
#define SBS_SKIN_CENTROIDS_H

#include "skin/skin.h"

/*
 * Finds the mean rest positions of sets, and how many vertices have no joint. Not a bit depends on the order of the
 * vertices. The skin's largest coordinate is known.
 *
 *   desc    has the positions
 *   sets    (vertex_count) the set of each vertex
 *   wanted  (set_count) 1 for the sets to be found, or NULL: all; the others are left as they are
 */
sbs_status sbs_find_centroids(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *sets,
                              const unsigned char *wanted);

#endif
