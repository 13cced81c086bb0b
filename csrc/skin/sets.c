/* SPDX-License-Identifier: MIT */
#include "skin/sets.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "skin/influences.h"
#include "skin/joint_sets.h"

/* ------------------------------------------------------------------------------------------------ sets of vertices */

/* The search for sets. */
typedef struct set_finder {
  const sbs_binding *binding;
  sbs_joint_sets table;
  int32_t *numbers; /* (set_count of the previous skin) the number of each set in the table, -1 if it is not there */
  sbs_influences influences;
} set_finder;

/* The set and the heaviest joint of a vertex from the previous skin. */
static sbs_status keep_vertex(set_finder *finder, sbs_skin *skin, size_t vertex) {
  const sbs_skin *previous = finder->binding->previous;
  const size_t set = (size_t)previous->set_of_vertex[vertex];
  sbs_status status = SBS_OK;
  if (finder->numbers[set] < 0) {
    status = sbs_joint_sets_find(&finder->table, previous->set_joints + previous->set_offsets[set],
                                 sbs_set_size(previous, set), finder->numbers + set);
  }
  skin->set_of_vertex[vertex] = finder->numbers[set];
  skin->heaviest[vertex] = previous->heaviest[vertex];
  skin->repairs[vertex] = previous->repairs ? previous->repairs[vertex] : 0;
  return status;
}

static sbs_status read_vertex(set_finder *finder, sbs_skin *skin, size_t vertex) {
  sbs_influences *influences = &finder->influences;
  sbs_influences_read(finder->binding->desc, finder->binding->options->sum_tolerance, vertex, influences);
  skin->repairs[vertex] = (unsigned char)influences->repairs;
  skin->heaviest[vertex] = influences->count ? influences->joints[influences->heaviest] : 0;
  return sbs_joint_sets_find(&finder->table, influences->joints, influences->count, skin->set_of_vertex + vertex);
}

/* Gives the skin the arrays of the table, in lexicographic order, and renumbers the sets of its vertices. */
static sbs_status adopt_sets(sbs_skin *skin, sbs_joint_sets *table) {
  int32_t *ranks = sbs_allocate(&skin->allocator, table->count, sizeof *ranks);
  if (!ranks) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_status status = sbs_joint_sets_sort(table, ranks);
  if (!status) {
    for (size_t v = 0; v < skin->vertex_count; v++) skin->set_of_vertex[v] = ranks[skin->set_of_vertex[v]];
    skin->set_count = table->count;
    skin->set_offsets = table->offsets;
    skin->set_joints = table->joints;
    skin->memory += (table->count + 1) * sizeof *table->offsets + table->offsets[table->count] * sizeof *table->joints;
    table->offsets = NULL;
    table->joints = NULL;
  }
  sbs_release(&skin->allocator, ranks);
  return status;
}

/* The heaviest joint of most vertices; of equal ones the lowest. */
static sbs_status find_main_joint(sbs_skin *skin) {
  int32_t *counts = sbs_allocate(&skin->allocator, skin->joint_count, sizeof *counts);
  if (!counts) return SBS_ERROR_OUT_OF_MEMORY;
  memset(counts, 0, skin->joint_count * sizeof *counts);
  for (size_t v = 0; v < skin->vertex_count; v++) counts[skin->heaviest[v]]++;
  for (size_t j = 0; j < skin->joint_count; j++) {
    if (counts[j] > counts[skin->main_joint]) skin->main_joint = (int32_t)j;
  }
  sbs_release(&skin->allocator, counts);
  return SBS_OK;
}

sbs_status sbs_find_sets(sbs_skin *skin, const sbs_binding *binding) {
  const sbs_allocator *allocator = &skin->allocator;
  const size_t vertex_count = skin->vertex_count, lanes = skin->block_count * SBS_BLOCK;
  const size_t previous_sets = binding->previous ? binding->previous->set_count : 0;
  set_finder finder = {.binding = binding,
                       .numbers = sbs_allocate(allocator, previous_sets, sizeof *finder.numbers),
                       .influences = sbs_influences_new(allocator, binding->desc)};
  sbs_status status = sbs_joint_sets_init(&finder.table, allocator);
  skin->set_of_vertex = sbs_skin_allocate(skin, lanes, sizeof *skin->set_of_vertex);
  skin->heaviest = sbs_skin_allocate(skin, lanes, sizeof *skin->heaviest);
  skin->repairs = sbs_skin_allocate(skin, vertex_count, 1);
  if (!finder.numbers || !finder.influences.joints || !finder.influences.weights || !skin->set_of_vertex ||
      !skin->heaviest || !skin->repairs) {
    status = SBS_ERROR_OUT_OF_MEMORY;
  }
  if (!status) memset(finder.numbers, -1, previous_sets * sizeof *finder.numbers);
  for (size_t v = 0; v < vertex_count && !status; v++) {
    status = sbs_tell_some(v, vertex_count);
    if (status) break;
    status = sbs_is_kept(binding, v) ? keep_vertex(&finder, skin, v) : read_vertex(&finder, skin, v);
  }
  if (!status) status = adopt_sets(skin, &finder.table);
  if (!status) status = find_main_joint(skin);
  for (size_t i = vertex_count; i < lanes && !status; i++) {
    skin->set_of_vertex[i] = skin->set_of_vertex[vertex_count - 1];
    skin->heaviest[i] = skin->heaviest[vertex_count - 1];
  }
  sbs_joint_sets_free(&finder.table);
  sbs_influences_free(allocator, &finder.influences);
  sbs_release(allocator, finder.numbers);
  return status;
}

/* -------------------------------------------------------------------------------------------- arrays by sets */

/* The sets of a joint and its parent have a center that is known beforehand, unless the joint slides. */
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
    skin->solve_count += size > 1;
    skin->nontrivial_set_count += size > 1 && child < 0;
    if (size > skin->max_influences) skin->max_influences = size;
  }
  return SBS_OK;
}

/* Sets that are solved together have the same size. */
static sbs_status order_solves(sbs_skin *skin) {
  const size_t keys = 2 * (skin->max_influences + 1); /* the size, and whether there is a child */
  size_t *starts = sbs_allocate(&skin->allocator, keys + 1, sizeof *starts);
  skin->solve_order = sbs_skin_allocate(skin, skin->solve_count, sizeof *skin->solve_order);
  if (starts && skin->solve_order) {
    memset(starts, 0, (keys + 1) * sizeof *starts);
    for (size_t set = 0; set < skin->set_count; set++) {
      const size_t size = sbs_set_size(skin, set);
      if (size > 1) starts[2 * size + (skin->set_children[set] >= 0) + 1]++;
    }
    for (size_t key = 0; key < keys; key++) starts[key + 1] += starts[key];
    for (size_t set = 0; set < skin->set_count; set++) {
      const size_t size = sbs_set_size(skin, set);
      if (size > 1) skin->solve_order[starts[2 * size + (skin->set_children[set] >= 0)]++] = (int32_t)set;
    }
  }
  sbs_release(&skin->allocator, starts);
  return starts && skin->solve_order ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

static sbs_status list_vertices(sbs_skin *skin) {
  skin->set_starts = sbs_skin_allocate(skin, skin->set_count + 1, sizeof *skin->set_starts);
  skin->set_vertices = sbs_skin_allocate(skin, skin->vertex_count, sizeof *skin->set_vertices);
  if (!skin->set_starts || !skin->set_vertices) return SBS_ERROR_OUT_OF_MEMORY;
  size_t *ends = skin->set_starts + 1; /* each set's end starts at its beginning */
  memset(skin->set_starts, 0, (skin->set_count + 1) * sizeof *skin->set_starts);
  for (size_t v = 0; v < skin->vertex_count; v++) ends[skin->set_of_vertex[v]]++;
  for (size_t set = 0, start = 0; set < skin->set_count; set++) {
    const size_t count = ends[set];
    ends[set] = start;
    start += count;
  }
  for (size_t v = 0; v < skin->vertex_count; v++) {
    skin->set_vertices[ends[skin->set_of_vertex[v]]++] = (int32_t)v;
  }
  /* an empty set is the first in lexicographic order */
  skin->unweighted_vertex_count = sbs_set_size(skin, 0) ? 0 : skin->set_starts[1];
  return SBS_OK;
}

sbs_status sbs_arrange_sets(sbs_skin *skin, const int32_t *parents) {
  sbs_status status = classify_sets(skin, parents);
  if (!status) status = order_solves(skin);
  if (!status) status = list_vertices(skin);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- measures */

static const void *rest_position(const sbs_skin_desc *desc, size_t vertex) {
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : 3 * sbs_scalar_size(desc->scalar);
  return (const char *)desc->rest_positions + vertex * stride;
}

static void measure_box(sbs_skin *skin, const sbs_skin_desc *desc) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t v = 0; v < skin->vertex_count; v++) {
    for (size_t axis = 0; axis < 3; axis++) {
      const double x = sbs_scalar_get(rest_position(desc, v), desc->scalar, axis);
      low[axis] = x < low[axis] ? x : low[axis];
      high[axis] = x > high[axis] ? x : high[axis];
    }
  }
  skin->size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  skin->largest = 0.0;
  for (size_t axis = 0; axis < 3; axis++) {
    const double middle = 0.5 * low[axis] + 0.5 * high[axis];
    skin->origin[axis] = skin->scalar == SBS_FLOAT32 ? (double)(float)middle : middle;
    skin->largest = fmax(skin->largest, fmax(-low[axis], high[axis]));
    low[axis] = fmin(low[axis], 0.0);
    high[axis] = fmax(high[axis], 0.0);
  }
  skin->size_with_origin = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  if (skin->size_with_origin == 0.0) skin->size_with_origin = 1.0;
}

/*
 * Coordinates are summed up as integers, which are exact in any order of vertices: the 31 bits from the first of the
 * largest coordinate on, and the 31 bits that follow; a double would keep no more. No sum overflows, as vertices are
 * numbered by 31 bits.
 */
#define BITS 31

typedef struct coordinate_sum {
  int64_t high, low;
} coordinate_sum;

/* The exponent of a power of two that is above all coordinates, and whose inverse is a number as well. */
static int exponent_above(double largest) {
  int exponent;
  frexp(largest, &exponent);
  return exponent < BITS - 1000 ? BITS - 1000 : exponent;
}

static void find_centroid(sbs_skin *skin, const sbs_skin_desc *desc, size_t set, int exponent) {
  const size_t begin = skin->set_starts[set], end = skin->set_starts[set + 1];
  const double scale = ldexp(1.0, BITS - exponent);
  coordinate_sum sums[3] = {{0, 0}};
  for (size_t i = begin; i < end; i++) {
    const void *position = rest_position(desc, (size_t)skin->set_vertices[i]);
    for (size_t axis = 0; axis < 3; axis++) {
      const double x = sbs_scalar_get(position, desc->scalar, axis) * scale;
      const int64_t high = (int64_t)x;
      sums[axis].high += high;
      sums[axis].low += (int64_t)((x - (double)high) * (double)(INT64_C(1) << BITS));
    }
  }
  for (size_t axis = 0; axis < 3; axis++) {
    const double total = (double)sums[axis].high + ldexp((double)sums[axis].low, -BITS);
    skin->set_centroids[3 * set + axis] = ldexp(total / (double)(end - begin), exponent - BITS);
  }
}

sbs_status sbs_measure_sets(sbs_skin *skin, const sbs_skin_desc *desc) {
  if (!skin->set_centroids) skin->set_centroids = sbs_skin_allocate(skin, skin->set_count, 3 * sizeof(double));
  if (!skin->set_centroids) return SBS_ERROR_OUT_OF_MEMORY;
  measure_box(skin, desc);
  const int exponent = exponent_above(skin->largest);
  for (size_t set = 0; set < skin->set_count; set++) find_centroid(skin, desc, set, exponent);
  return SBS_OK;
}
