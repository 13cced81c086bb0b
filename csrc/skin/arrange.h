/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_ARRANGE_H
#define SBS_SKIN_ARRANGE_H

#include "skin/skin.h"

/*
 * Works out what follows from the sets of a skin: which of them are a joint and its parent, in which order centers are
 * solved for, and the pivot groups.
 *
 *   desc             what the skin is made of
 *   sets             (vertex_count) the set of each vertex
 *   group_of_vertex  (vertex_count) the pivot of each vertex within its set; receives its group
 */
sbs_status sbs_skin_arrange(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *sets, int32_t *group_of_vertex);

#endif
