/* SPDX-License-Identifier: MIT */
#ifndef SBS_BLENDING_MEMBERS_H
#define SBS_BLENDING_MEMBERS_H

#include "sbs/sbs.h"

/* The members of each group: the vertices of a joint, or the children of a joint. */
typedef struct sbs_members {
  size_t *offsets; /* (groups + 1) those of group g are members[offsets[g]] to members[offsets[g + 1] - 1], ascending */
  int32_t *members;
} sbs_members;

/* Collects members by the group (count) of each, -1: in none. Call sbs_members_release also if this fails. */
sbs_status sbs_members_new(const int32_t *group, size_t count, size_t group_count, const sbs_allocator *allocator,
                           sbs_members *members);

void sbs_members_release(const sbs_allocator *allocator, sbs_members *members);

#endif
