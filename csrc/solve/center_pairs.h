/* SPDX-License-Identifier: MIT */
#ifndef SBS_SOLVE_CENTER_PAIRS_H
#define SBS_SOLVE_CENTER_PAIRS_H

#include "base/key_table.h"
#include "solve/center_rows.h"

/* The pairs of joints j < k that influence a vertex together, numbered in the order of the vertices. */
typedef struct sbs_pairs {
  sbs_key_table table; /* keys of both joints */
  int32_t (*joints)[2];
} sbs_pairs;

/* Errors: OUT_OF_MEMORY, also if there are too many pairs to number. */
sbs_status sbs_pairs_new(sbs_pairs *pairs, const sbs_rows *rows, size_t joint_count, sbs_arena *arena);

/* The number of a pair, or -1 if no vertex has it. */
int32_t sbs_pairs_find(const sbs_pairs *pairs, int32_t j, int32_t k);

#endif
