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

/* Orders the sets so that those with the same work to do stand together. */
static sbs_status order_sets(sbs_skin *skin) {
  const size_t keys = 2 * (skin->max_influences + 1); /* the size, and whether there is a child */
  size_t *starts = sbs_allocate(&skin->allocator, keys + 1, sizeof *starts);
  skin->set_order = sbs_skin_allocate(skin, skin->set_count, sizeof *skin->set_order);
  if (starts && skin->set_order) {
    memset(starts, 0, (keys + 1) * sizeof *starts);
    for (size_t set = 0; set < skin->set_count; set++) {
      starts[2 * sbs_set_size(skin, set) + (skin->set_children[set] >= 0) + 1]++;
      skin->solve_count += sbs_set_size(skin, set) > 1;
    }
    for (size_t key = 0; key < keys; key++) starts[key + 1] += starts[key];
    for (size_t set = 0; set < skin->set_count; set++) {
      skin->set_order[starts[2 * sbs_set_size(skin, set) + (skin->set_children[set] >= 0)]++] = (int32_t)set;
    }
    skin->solve_order = skin->set_order + (skin->set_count - skin->solve_count);
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

/* What is counted of vertices before there are groups. */
typedef struct tally {
  int32_t *heaviest; /* how many have it as their heaviest: for each joint of each set, one for the empty set */
  int32_t *numbers;  /* (2 * set_count) for each set and whether linear: how many there are; in the end the group */
} tally;

static int32_t *heaviest_joints(const sbs_skin *skin, const tally *t, size_t set) {
  return t->heaviest + skin->set_offsets[set] + (set && !sbs_set_size(skin, 0)); /* the empty set comes first */
}

/*
 * Appends the groups of a set that have vertices, with their pivots; without arrays it only counts. Both have the same,
 * so that the centers of vertices change nothing of methods that don't read them.
 */
static void add_groups(sbs_skin *skin, const tally *t, size_t set) {
  const int32_t *counts = heaviest_joints(skin, t, set), others = (int32_t)sbs_set_others(skin, set);
  int32_t used = 0, most = 0;
  for (int32_t i = 0; i <= others; i++) {
    used += counts[i] > 0;
    if (counts[i] > counts[most]) most = i;
  }
  for (int32_t linear = 0; linear < 2; linear++) {
    int32_t *number = t->numbers + 2 * set + (size_t)linear;
    if (!*number) continue;
    if (skin->groups) {
      *number = (int32_t)skin->group_count;
      skin->groups[skin->group_count] = (sbs_group){(int32_t)set, others, linear, used, skin->pivot_count};
      skin->pivots[skin->group_count].joint = most;
      sbs_pivot *more = skin->pivots + skin->pivot_count;
      for (int32_t i = 0; i <= others; i++) {
        if (counts[i] && i != most) (more++)->joint = i;
      }
    }
    skin->group_count++;
    skin->pivot_count += (size_t)used - 1;
  }
}

static void number_rows(sbs_skin *skin) {
  for (size_t g = 0; g < skin->group_count; g++) {
    skin->pivots[g].first_row = skin->row_count;
    skin->row_count += (size_t)skin->groups[g].others;
  }
  for (size_t g = 0; g < skin->group_count; g++) {
    for (int32_t k = 1; k < skin->groups[g].pivot_count; k++) {
      skin->pivots[sbs_group_pivot(skin, g, (size_t)k)].first_row = skin->row_count;
      skin->row_count += (size_t)skin->groups[g].others;
    }
  }
}

static sbs_status find_groups(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *heaviest,
                              int32_t *group_of_vertex) {
  const size_t joints = skin->set_offsets[skin->set_count] + 1, numbers = 2 * skin->set_count;
  if (numbers > INT32_MAX) return SBS_ERROR_TOO_LARGE; /* groups are numbered like vertices */
  tally t = {sbs_allocate(&skin->allocator, joints, sizeof *t.heaviest),
             sbs_allocate(&skin->allocator, numbers, sizeof *t.numbers)};
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  if (!t.heaviest || !t.numbers) goto cleanup;
  memset(t.heaviest, 0, joints * sizeof *t.heaviest);
  memset(t.numbers, 0, numbers * sizeof *t.numbers);
  for (size_t v = 0; v < skin->vertex_count; v++) {
    const size_t set = (size_t)group_of_vertex[v];
    const size_t number = 2 * set + (size_t)(sbs_set_size(skin, set) > 1 && is_own_center(desc, v));
    heaviest_joints(skin, &t, set)[heaviest[v]]++;
    t.numbers[number]++;
    group_of_vertex[v] = (int32_t)number;
  }
  for (size_t i = 0; i < skin->set_count; i++) add_groups(skin, &t, (size_t)skin->set_order[i]);
  const size_t groups = skin->group_count;
  skin->groups = sbs_skin_allocate(skin, groups, sizeof *skin->groups);
  skin->pivots = sbs_skin_allocate(skin, groups + skin->pivot_count, sizeof *skin->pivots);
  if (!skin->groups || !skin->pivots) goto cleanup;
  skin->group_count = 0;
  skin->pivot_count = groups; /* those that are more stand behind the first ones */
  for (size_t i = 0; i < skin->set_count; i++) add_groups(skin, &t, (size_t)skin->set_order[i]);
  number_rows(skin);
  for (size_t v = 0; v < skin->vertex_count; v++) group_of_vertex[v] = t.numbers[group_of_vertex[v]];
  status = SBS_OK;

cleanup:
  sbs_release(&skin->allocator, t.heaviest);
  sbs_release(&skin->allocator, t.numbers);
  return status;
}

sbs_status sbs_skin_arrange(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *heaviest,
                            int32_t *group_of_vertex) {
  sbs_status status = classify_sets(skin, desc->parents);
  if (!status) status = order_sets(skin);
  return status ? status : find_groups(skin, desc, heaviest, group_of_vertex);
}
