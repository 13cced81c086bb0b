/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_ARRANGE_H
#define SBS_SKIN_ARRANGE_H

#include "skin/skin.h"

/*
 * Works out what follows from the sets of a skin: which of them are a joint and its parent, their order, and the
 * groups with their pivots.
 *
 *   desc             what the skin is made of
 *   heaviest         (vertex_count) the heaviest joint of each vertex, as an index within its set
 *   group_of_vertex  (vertex_count) the set of each vertex; receives its group
 */
sbs_status sbs_skin_arrange(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *heaviest,
                            int32_t *group_of_vertex);

#endif
