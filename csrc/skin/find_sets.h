/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_FIND_SETS_H
#define SBS_SKIN_FIND_SETS_H

#include "skin/influences.h"
#include "skin/joint_sets.h"

/*
 * Reads the influences of vertices, and finds or adds their joint sets.
 *
 *   vertices  (count) which, or NULL: the first `count`
 *   sets      (V) the set of each vertex that was read, as the table numbers it
 *   heaviest  (V) which of the joints of the set is the vertex's heaviest
 *   repairs   (V) SBS_WEIGHT_ bits
 */
sbs_status sbs_find_sets(sbs_joint_sets *table, const sbs_skin_desc *desc, const sbs_skin_options *options,
                         const int32_t *vertices, size_t count, int32_t *sets, int32_t *heaviest,
                         unsigned char *repairs);

/* SBS_ERROR_WEIGHT for a vertex whose influences were repaired. */
sbs_status sbs_strict_fault(const sbs_skin_desc *desc, const sbs_influences *influences, size_t vertex,
                            sbs_fault *fault);

/* Under `strict`: SBS_ERROR_WEIGHT for the first vertex that was repaired. */
sbs_status sbs_check_strict(const sbs_skin_desc *desc, const sbs_skin_options *options, const unsigned char *repairs,
                            sbs_fault *fault);

#endif
