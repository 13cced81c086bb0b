/* SPDX-License-Identifier: MIT */
#include "skin/arrange.h"

#include <string.h>

#include "base/memory.h"
#include "base/scalar.h"

/* Tells the sets of a joint and its parent, whose rotation center is known beforehand, from those to be solved. */
static sbs_status classify_sets(sbs_skin *skin, const int32_t *parents) {
  skin->set_children = sbs_skin_allocate(skin, skin->set_count, sizeof *skin->set_children);
  if (!skin->set_children) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t set = 0; set < skin->set_count; set++) {
    const int32_t *joints = skin->set_joints + skin->set_offsets[set];
    const size_t size = sbs_set_size(skin, set);
    int32_t child = -1;
    if (size == 2 && parents) {
      if (parents[joints[0]] == joints[1]) child = joints[0];
      if (parents[joints[1]] == joints[0]) child = joints[1];
    }
    skin->set_children[set] = child;
    skin->nontrivial_set_count += size > 1 && child < 0;
    if (size > skin->max_influences) skin->max_influences = size;
  }
  return SBS_OK;
}

/* Orders the sets that have a rotation center so that those with the same work to do stand together. */
static sbs_status order_solves(sbs_skin *skin) {
  const size_t keys = 2 * (skin->max_influences + 1); /* the size, and whether there is a child */
  size_t *starts = sbs_allocate(&skin->allocator, keys + 1, sizeof *starts);
  if (!starts) return SBS_ERROR_OUT_OF_MEMORY;
  memset(starts, 0, (keys + 1) * sizeof *starts);
  for (size_t set = 0; set < skin->set_count; set++) {
    if (sbs_set_size(skin, set) < 2) continue;
    starts[2 * sbs_set_size(skin, set) + (skin->set_children[set] >= 0) + 1]++;
    skin->solve_count++;
  }
  for (size_t key = 0; key < keys; key++) starts[key + 1] += starts[key];
  skin->solve_order = sbs_skin_allocate(skin, skin->solve_count, sizeof *skin->solve_order);
  if (skin->solve_order) {
    for (size_t set = 0; set < skin->set_count; set++) {
      if (sbs_set_size(skin, set) < 2) continue;
      skin->solve_order[starts[2 * sbs_set_size(skin, set) + (skin->set_children[set] >= 0)]++] = (int32_t)set;
    }
  }
  sbs_release(&skin->allocator, starts);
  return skin->solve_order ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

static int is_own_center(const sbs_skin_desc *desc, size_t vertex) {
  if (!desc->centers) return 0;
  const size_t packed = 3 * sbs_scalar_size(desc->scalar);
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : packed;
  const void *position = (const char *)desc->rest_positions + vertex * stride;
  const double *center = desc->centers + 3 * vertex;
  for (size_t axis = 0; axis < 3; axis++) {
    if (sbs_scalar_get(position, desc->scalar, axis) != center[axis]) return 0;
  }
  return 1;
}

/*
 * Numbers the pivot groups in use; group_of_vertex holds the pivots at first and the groups at last. In between it
 * holds slots: two for each joint of each set as a pivot, the second for vertices that are their own centers.
 */
static sbs_status find_groups(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *sets,
                              int32_t *group_of_vertex) {
  const size_t pivots = skin->set_offsets[skin->set_count] + 1; /* and one for the empty set, which comes first */
  const size_t slots = 2 * pivots, shift = sbs_set_size(skin, 0) ? 0 : 1;
  if (slots > INT32_MAX) return SBS_ERROR_TOO_LARGE; /* they are numbered like vertices */
  int32_t *numbers = sbs_allocate(&skin->allocator, slots, sizeof *numbers);
  if (!numbers) return SBS_ERROR_OUT_OF_MEMORY;
  memset(numbers, -1, slots * sizeof *numbers);

  for (size_t v = 0; v < skin->vertex_count; v++) {
    const size_t set = (size_t)sets[v], size = sbs_set_size(skin, set);
    const size_t pivot = skin->set_offsets[set] + (size_t)group_of_vertex[v] + (size ? shift : 0);
    const size_t slot = 2 * pivot + (size > 1 && is_own_center(desc, v));
    numbers[slot] = 0;
    group_of_vertex[v] = (int32_t)slot;
  }
  for (size_t slot = 0; slot < slots; slot++) skin->group_count += numbers[slot] == 0;
  skin->groups = sbs_skin_allocate(skin, skin->group_count, sizeof *skin->groups);
  skin->set_groups = sbs_skin_allocate(skin, skin->set_count + 1, sizeof *skin->set_groups);
  if (!skin->groups || !skin->set_groups) {
    sbs_release(&skin->allocator, numbers);
    return SBS_ERROR_OUT_OF_MEMORY;
  }
  size_t slot = 0;
  int32_t group = 0;
  for (size_t set = 0; set < skin->set_count; set++) {
    const size_t size = sbs_set_size(skin, set);
    skin->set_groups[set] = (size_t)group;
    for (size_t i = 0; i < 2 * (size ? size : 1); i++, slot++) {
      if (numbers[slot] < 0) continue;
      skin->groups[group] = (sbs_group){(int32_t)set, (int32_t)(i / 2), (int32_t)(i % 2), skin->row_count};
      skin->row_count += sbs_set_others(skin, set);
      numbers[slot] = group++;
    }
  }
  skin->set_groups[skin->set_count] = (size_t)group;
  for (size_t v = 0; v < skin->vertex_count; v++) group_of_vertex[v] = numbers[group_of_vertex[v]];
  sbs_release(&skin->allocator, numbers);
  return SBS_OK;
}

sbs_status sbs_skin_arrange(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *sets, int32_t *group_of_vertex) {
  sbs_status status = classify_sets(skin, desc->parents);
  if (!status) status = order_solves(skin);
  return status ? status : find_groups(skin, desc, sets, group_of_vertex);
}
