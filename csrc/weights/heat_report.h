/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_REPORT_H
#define SBS_WEIGHTS_HEAT_REPORT_H

#include "sbs/heat.h"
#include "weights/heat_joins.h"

/*
 * Lists the islands that are joined to others.
 *
 *   mesh_vertex_count  V
 *   reasons            (I)
 *   listed             (as many as have a reason) by island
 *
 * Errors: OUT_OF_MEMORY.
 */
sbs_status sbs_heat_list_joins(const sbs_heat_joins *joins, const sbs_heat_surface *surface, size_t mesh_vertex_count,
                               const signed char *reasons, const sbs_allocator *allocator, sbs_heat_join *listed);

#endif
