/* SPDX-License-Identifier: MIT */
/* Lists of neighbors, as sbs_mesh_adjacency makes them. */
#ifndef SBS_MESH_NEIGHBORS_H
#define SBS_MESH_NEIGHBORS_H

#include <stddef.h>
#include <stdint.h>

/* The place of an edge in the lists, by binary search: neighbors are sorted. The edge is there. */
static inline size_t sbs_find_neighbor(const size_t *offsets, const int32_t *neighbors, int32_t from, int32_t to) {
  size_t low = offsets[from], high = offsets[from + 1];
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (neighbors[middle] <= to) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

#endif
