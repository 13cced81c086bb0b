/* SPDX-License-Identifier: MIT */
#ifndef SBS_MUSCLES_ARRANGE_H
#define SBS_MUSCLES_ARRANGE_H

#include "muscles/bound.h"

/* A vertex and its share in a muscle. */
typedef struct sbs_cover_pair {
  int32_t vertex;
  float u, share, distance;
  float distance_slope[2], share_slope[2];
  float frame[2][3]; /* directions on the skin that slopes are along */
} sbs_cover_pair;

typedef struct sbs_pair_list {
  size_t count, room;
  sbs_cover_pair *pairs;
} sbs_pair_list;

/*
 * Makes the cover of all pairs, sorted by muscle; those of muscle m end at muscle_ends[m]. `slots` (vertex_count) are
 * for its use.
 */
sbs_status sbs_arrange_cover(sbs_muscles *muscles, const sbs_pair_list *list, const size_t *muscle_ends, int32_t *slots,
                             sbs_fault *fault);

void sbs_release_cover(const sbs_allocator *allocator, sbs_cover *cover);

#endif
