/* SPDX-License-Identifier: MIT */
/* Union-find: groups as trees, with the lowest member as the root. */
#ifndef SBS_MESH_UNION_FIND_H
#define SBS_MESH_UNION_FIND_H

#include <stddef.h>
#include <stdint.h>

/* Each thing is a group of its own. */
static inline void sbs_groups_init(int32_t *parents, size_t count) {
  for (size_t i = 0; i < count; i++) parents[i] = (int32_t)i;
}

/* Finds the lowest member of a group, and halves the path to it, which makes later calls faster. */
static inline int32_t sbs_groups_find(int32_t *parents, int32_t member) {
  while (parents[member] != member) {
    parents[member] = parents[parents[member]];
    member = parents[member];
  }
  return member;
}

static inline void sbs_groups_unite(int32_t *parents, int32_t a, int32_t b) {
  const int32_t root_a = sbs_groups_find(parents, a), root_b = sbs_groups_find(parents, b);
  if (root_a < root_b) {
    parents[root_b] = root_a;
  } else {
    parents[root_a] = root_b;
  }
}

#endif
