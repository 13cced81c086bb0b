/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_SIMILARITY_H
#define SBS_SOLVE_SIMILARITY_H

#include "solve/center_samples.h"

/*
 * Finds the center of a vertex from its influences and the samples, in the units of the points.
 *
 * Returns 0, and does not write the center, if no sample is similar.
 */
int sbs_find_center(const sbs_sampling *sampling, size_t vertex, double sigma, double center[3]);

/* How many blocks of samples sbs_find_center goes over, to estimate its time. */
size_t sbs_count_blocks(const sbs_sampling *sampling, size_t vertex);

#endif
