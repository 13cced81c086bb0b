/* SPDX-License-Identifier: MIT */
#include "blending/members.h"

#include "base/memory.h"

sbs_status sbs_members_new(const int32_t *group, size_t count, size_t group_count, const sbs_allocator *allocator,
                           sbs_members *members) {
  members->offsets = sbs_allocate(allocator, group_count + 2, sizeof *members->offsets);
  members->members = sbs_allocate(allocator, count, sizeof *members->members);
  if (!members->offsets || !members->members) return SBS_ERROR_OUT_OF_MEMORY;

  /* Group g is counted in offsets[g + 2], so that filling the lists leaves each offset in its place. */
  size_t *offsets = members->offsets;
  for (size_t g = 0; g < group_count + 2; g++) offsets[g] = 0;
  for (size_t i = 0; i < count; i++) {
    if (group[i] >= 0) offsets[group[i] + 2]++;
  }
  for (size_t g = 2; g < group_count + 2; g++) offsets[g] += offsets[g - 1];
  for (size_t i = 0; i < count; i++) {
    if (group[i] >= 0) members->members[offsets[group[i] + 1]++] = (int32_t)i;
  }
  return SBS_OK;
}

void sbs_members_release(const sbs_allocator *allocator, sbs_members *members) {
  sbs_release(allocator, members->offsets);
  sbs_release(allocator, members->members);
}
