/* SPDX-License-Identifier: MIT */
/*
 * A skin with other weights at some of its vertices. It equals one that is bound anew, bit for bit: a set that gains or
 * loses a vertex has another centroid, so its vertices are packed anew; all else is copied.
 */
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "skin/arrange.h"
#include "skin/centroids.h"
#include "skin/find_sets.h"
#include "skin/influences.h"
#include "skin/pack.h"
#include "skin/pack_centers.h"
#include "skin/validate.h"
#include "skin/with_frames.h"

typedef struct updater {
  const sbs_skin *old;
  sbs_skin *skin; /* the new one */
  const sbs_skin_desc *desc;
  const sbs_skin_options *options;
  const int32_t *vertices; /* (vertex_count) that change */
  size_t vertex_count;

  unsigned char *changed;    /* (V) 1 for those */
  int32_t *old_sets;         /* (V) */
  int32_t *sets;             /* (V) of changed vertices the set in the table; then the new sets of all, then groups */
  int32_t *heaviest;         /* (V) the heaviest joint, as an index within its set */
  sbs_joint_sets table;      /* sets of the changed vertices */
  int32_t *old_numbers;      /* (set_count of old) the new number of each old set, -1 if it has lost all its vertices */
  int32_t *table_numbers;    /* (table.count) the new number of each set of the table */
  size_t *remaining;         /* (set_count of old) its vertices that do not change */
  unsigned char *moved_sets; /* (set_count of skin) 1 for sets with other vertices than before */
} updater;

/* ------------------------------------------------------------------------------------------------------------ input */

static sbs_status check_same_mesh(const sbs_skin *skin, const sbs_skin_desc *desc, sbs_fault *fault) {
  if (desc->vertex_count != skin->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex_count", (double)desc->vertex_count,
                            (double)skin->vertex_count);
  }
  if (desc->joint_count != skin->skeleton_joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "joint_count", (double)desc->joint_count,
                            (double)skin->skeleton_joint_count);
  }
  if (!sbs_twist_equal(desc->twist, skin->twist)) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist");
  if (desc->scalar != skin->scalar) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, (double)skin->scalar);
  }
  if (!desc->rest_normals != !skin->normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "rest_normals");
  if (!desc->centers != !skin->centers) return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
  return sbs_validate_vectors(desc->rest_positions, desc->rest_positions_stride, desc->scalar, 0, "rest_positions",
                              "rest_positions_stride", fault);
}

static sbs_status check_vertices(const updater *work, sbs_fault *fault) {
  const size_t columns = work->desc->influences_per_vertex;
  for (size_t i = 0; i < work->vertex_count; i++) {
    const int32_t vertex = work->vertices[i];
    if (vertex < 0 || (size_t)vertex >= work->desc->vertex_count) {
      return sbs_fault_row(fault, SBS_ERROR_VERTEX_INDEX, "vertices", i, vertex, (double)work->desc->vertex_count);
    }
    for (size_t k = 0; k < columns; k++) {
      const int32_t joint = work->desc->joint_indices[(size_t)vertex * columns + k];
      if (joint < 0 || (size_t)joint >= work->desc->joint_count) {
        return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", (size_t)vertex, k, joint,
                            (double)work->desc->joint_count);
      }
    }
  }
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------------- sets */

/* Reads the old sets and heaviest joints back from the items. */
static void read_old_sets(updater *work) {
  const sbs_skin *old = work->old;
  memset(work->changed, 0, old->vertex_count);
  for (size_t i = 0; i < work->vertex_count; i++) work->changed[work->vertices[i]] = 1;
  memset(work->remaining, 0, old->set_count * sizeof *work->remaining);
  for (size_t i = 0; i < old->item_count; i++) {
    const sbs_item *item = old->items + i;
    const sbs_group *group = old->groups + item->group;
    const int32_t *vertices = old->vertices + item->first_block * SBS_BLOCK;
    const int32_t *heaviest = old->heaviest + item->first_block * SBS_BLOCK;
    for (int32_t k = 0; k < item->vertex_count; k++) {
      work->old_sets[vertices[k]] = group->set;
      work->heaviest[vertices[k]] = heaviest[k];
      work->remaining[group->set] += !work->changed[vertices[k]];
    }
  }
}

static int compare_sets(const int32_t *a, size_t a_size, const int32_t *b, size_t b_size) {
  for (size_t i = 0; i < a_size && i < b_size; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return (a_size > b_size) - (a_size < b_size);
}

static void append_set(sbs_skin *skin, const int32_t *joints, size_t size) {
  const size_t begin = skin->set_offsets[skin->set_count];
  if (size) memcpy(skin->set_joints + begin, joints, size * sizeof *joints);
  skin->set_offsets[++skin->set_count] = begin + size;
}

/* Merges the old sets that still have a vertex with those of the table, which are in order both. */
static sbs_status merge_sets(updater *work) {
  const sbs_skin *old = work->old;
  const sbs_joint_sets *table = &work->table;
  sbs_skin *skin = work->skin;
  skin->set_offsets = sbs_allocate(&skin->allocator, old->set_count + table->count + 1, sizeof *skin->set_offsets);
  skin->set_joints =
      sbs_allocate(&skin->allocator, old->set_offsets[old->set_count] + table->offsets[table->count], sizeof(int32_t));
  if (!skin->set_offsets || !skin->set_joints) return SBS_ERROR_OUT_OF_MEMORY;

  skin->set_offsets[0] = 0;
  size_t a = 0, b = 0;
  while (a < old->set_count || b < table->count) {
    if (a < old->set_count && !work->remaining[a]) {
      work->old_numbers[a++] = -1;
      continue;
    }
    int order = a < old->set_count ? -1 : 1;
    if (a < old->set_count && b < table->count) {
      order = compare_sets(old->set_joints + old->set_offsets[a], sbs_set_size(old, a),
                           table->joints + table->offsets[b], table->offsets[b + 1] - table->offsets[b]);
    }
    const int32_t number = (int32_t)skin->set_count;
    if (order <= 0) {
      append_set(skin, old->set_joints + old->set_offsets[a], sbs_set_size(old, a));
      work->old_numbers[a++] = number;
    } else {
      append_set(skin, table->joints + table->offsets[b], table->offsets[b + 1] - table->offsets[b]);
    }
    if (order >= 0) work->table_numbers[b++] = number;
  }
  skin->memory += (skin->set_count + 1) * sizeof *skin->set_offsets;
  skin->memory += skin->set_offsets[skin->set_count] * sizeof *skin->set_joints;
  return SBS_OK;
}

/* Numbers the sets of all vertices anew, and notes which sets have other vertices than before. */
static void renumber(updater *work, const int32_t *ranks) {
  memset(work->moved_sets, 0, work->skin->set_count);
  for (size_t v = 0; v < work->old->vertex_count; v++) {
    const int32_t before = work->old_numbers[work->old_sets[v]];
    const int32_t after = work->changed[v] ? work->table_numbers[ranks[work->sets[v]]] : before;
    work->sets[v] = after;
    if (after == before) continue;
    work->moved_sets[after] = 1;
    if (before >= 0) work->moved_sets[before] = 1;
  }
}

/* Finds the new sets of all vertices. */
static sbs_status update_sets(updater *work) {
  const sbs_allocator *allocator = &work->skin->allocator;
  sbs_joint_sets *table = &work->table;
  sbs_status status = sbs_find_sets(table, work->desc, work->options, work->vertices, work->vertex_count, work->sets,
                                    work->heaviest, work->skin->repairs);
  if (status) return status;
  const size_t most = work->old->set_count + table->count;
  int32_t *ranks = sbs_allocate(allocator, table->count, sizeof *ranks);
  work->table_numbers = sbs_allocate(allocator, table->count, sizeof *work->table_numbers);
  work->moved_sets = sbs_allocate(allocator, most, 1);
  status = SBS_ERROR_OUT_OF_MEMORY;
  if (ranks && work->table_numbers && work->moved_sets) status = sbs_joint_sets_sort(table, ranks);
  if (!status) status = merge_sets(work);
  if (!status) renumber(work, ranks);
  sbs_release(allocator, ranks);
  return status;
}

static sbs_status update_centroids(updater *work) {
  const sbs_skin *old = work->old;
  sbs_skin *skin = work->skin;
  skin->set_centroids = sbs_skin_allocate(skin, skin->set_count, 3 * sizeof(double));
  if (!skin->set_centroids) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t set = 0; set < old->set_count; set++) {
    const int32_t number = work->old_numbers[set];
    if (number < 0) continue;
    memcpy(skin->set_centroids + 3 * (size_t)number, old->set_centroids + 3 * set, 3 * sizeof(double));
  }
  return sbs_find_centroids(skin, work->desc, work->sets, work->moved_sets);
}

/* ----------------------------------------------------------------------------------------------------------- update */

static sbs_status allocate(updater *work) {
  const sbs_allocator *allocator = &work->skin->allocator;
  const size_t count = work->old->vertex_count, set_count = work->old->set_count;
  work->changed = sbs_allocate(allocator, count, 1);
  work->old_sets = sbs_allocate(allocator, count, sizeof *work->old_sets);
  work->sets = sbs_allocate(allocator, count, sizeof *work->sets);
  work->heaviest = sbs_allocate(allocator, count, sizeof *work->heaviest);
  work->old_numbers = sbs_allocate(allocator, set_count, sizeof *work->old_numbers);
  work->remaining = sbs_allocate(allocator, set_count, sizeof *work->remaining);
  work->skin->repairs = sbs_skin_allocate(work->skin, count, 1);
  const sbs_status status = sbs_joint_sets_init(&work->table, allocator);
  if (!work->changed || !work->old_sets || !work->sets || !work->heaviest || !work->old_numbers || !work->remaining ||
      !work->skin->repairs) {
    return SBS_ERROR_OUT_OF_MEMORY;
  }
  if (work->old->repairs) {
    memcpy(work->skin->repairs, work->old->repairs, count);
  } else {
    memset(work->skin->repairs, 0, count);
  }
  return status;
}

static void release(updater *work) {
  const sbs_allocator *allocator = &work->options->allocator;
  sbs_joint_sets_free(&work->table);
  sbs_release(allocator, work->changed);
  sbs_release(allocator, work->old_sets);
  sbs_release(allocator, work->sets);
  sbs_release(allocator, work->heaviest);
  sbs_release(allocator, work->old_numbers);
  sbs_release(allocator, work->table_numbers);
  sbs_release(allocator, work->remaining);
  sbs_release(allocator, work->moved_sets);
}

static sbs_status update(updater *work, sbs_weight_report *report, sbs_fault *fault) {
  sbs_skin *skin = work->skin;
  sbs_status status = allocate(work);
  if (!status) {
    read_old_sets(work);
    status = update_sets(work);
  }
  if (status) return sbs_fault_in(fault, status, NULL);
  if (work->options->strict) {
    status = sbs_check_strict(work->desc, work->options, skin->repairs, fault);
    if (status) return status;
  }
  sbs_skin_count_repairs(skin, report);
  const sbs_pack_previous previous = {work->old, work->changed, work->moved_sets};
  if ((status = update_centroids(work)) || (status = sbs_skin_arrange(skin, work->desc, work->heaviest, work->sets)) ||
      (status = sbs_skin_copy_joint_positions(skin, work->old->joint_positions)) ||
      (status = sbs_pack(skin, work->desc, work->sets, work->heaviest, &previous)) ||
      (status = sbs_pack_centers(skin, work->desc))) {
    sbs_fault_in(fault, status, NULL);
  }
  return status;
}

sbs_status sbs_skin_update(const sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *vertices,
                           size_t vertex_count, const sbs_skin_options *options, sbs_skin **updated,
                           sbs_weight_report *report, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!vertices && vertex_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "vertices");
  if (!updated) return sbs_fault_in(fault, SBS_ERROR_NULL, "updated");
  const sbs_skin_options defaults = sbs_default_skin_options();
  if (!options) options = &defaults;
  updater work = {.old = skin, .desc = desc, .options = options, .vertices = vertices, .vertex_count = vertex_count};
  sbs_status status = sbs_validate_desc_form(desc, options, fault);
  if (!status) status = check_same_mesh(skin, desc, fault);
  if (!status) status = check_vertices(&work, fault);
  if (status) return status;

  sbs_skin *made = sbs_skin_begin(desc, &options->allocator);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  made->largest = skin->largest;
  made->size = skin->size;
  made->size_with_origin = skin->size_with_origin;
  sbs_weight_report repairs = {0};
  sbs_desc_with_frames with;
  work.desc = &with.desc;
  work.skin = made;
  work.table.allocator = &made->allocator;
  status = sbs_add_frames(desc, &options->allocator, &with, fault);
  if (!status) status = update(&work, &repairs, fault);
  sbs_release_frames(&options->allocator, &with);
  release(&work);
  if (status) {
    sbs_skin_free(made);
    return status;
  }
  *updated = made;
  if (report) *report = repairs;
  return SBS_OK;
}
