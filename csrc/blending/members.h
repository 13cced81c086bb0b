/* SPDX-License-Identifier: MIT */
#ifndef SBS_BLENDING_MEMBERS_H
#define SBS_BLENDING_MEMBERS_H

#include "sbs/sbs.h"

/* What belongs to each of some groups: vertices to joints, or joints to their parents. */
typedef struct sbs_members {
  size_t *offsets; /* (groups + 1) those of group g are members[offsets[g]] to members[offsets[g + 1] - 1], ascending */
  int32_t *members;
} sbs_members;

/* Groups by the group (count) of each; -1: in none. Release it in any case. */
sbs_status sbs_members_new(const int32_t *group, size_t count, size_t group_count, const sbs_allocator *allocator,
                           sbs_members *members);

void sbs_members_release(const sbs_allocator *allocator, sbs_members *members);

#endif
