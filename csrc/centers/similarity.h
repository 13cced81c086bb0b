/* SPDX-License-Identifier: MIT */
#ifndef SBS_CENTERS_SIMILARITY_H
#define SBS_CENTERS_SIMILARITY_H

#include "centers/samples.h"

/*
 * The center of a vertex's influences among samples, in the units of the points.
 *
 * Returns 0 where no sample is similar to them, and leaves the center alone.
 */
int sbs_find_center(const sbs_sampling *sampling, const sbs_pairs *pairs, const sbs_rows *rows, size_t vertex,
                    double sigma, double center[3]);

/* How many blocks of samples that takes. */
size_t sbs_count_blocks(const sbs_sampling *sampling, const sbs_pairs *pairs, const sbs_rows *rows, size_t vertex);

#endif
