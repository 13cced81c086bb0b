/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_HEAT_EQUATION_H
#define SBS_WEIGHTS_HEAT_EQUATION_H

#include "weights/heat_joins.h"
#include "weights/heat_sources.h"

/*
 * Solves (-L + H) w = H p for all bones at once, depth by depth. The equation is multiplied by the area of each vertex,
 * which makes it symmetric. All entries off the diagonal are negative or zero and no row has a negative sum, so that no
 * temperature is negative (the maximum principle) except by rounding, which is corrected.
 *
 *   temperatures  (W, B), each row with a sum of 1
 *
 * Errors: NO_CONVERGENCE if there is no finite solution, CANCELLED, OUT_OF_MEMORY, INTERNAL.
 */
sbs_status sbs_heat_solve(const sbs_heat_surface *surface, const sbs_heat_sources *sources, const sbs_heat_joins *joins,
                          double strength, const sbs_heat_progress *progress, const sbs_allocator *allocator,
                          double *temperatures);

#endif
