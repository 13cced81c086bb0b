/* SPDX-License-Identifier: MIT */
#include "gradient/arrangement.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "skin/influences.h"

enum {
  LANES = SBS_GRADIENT_LANES
};

/* What is needed while vertices are arranged. */
typedef struct arranger {
  sbs_gradient *gradient;
  const sbs_skin *skin;
  const sbs_skin_desc *desc;
  int32_t *sets;       /* (vertex_count) twice the set, plus 1 for a vertex that is its own center */
  int32_t *counts;     /* (2 set_count) of the tile at hand */
  int32_t *keys;       /* (SBS_TILE) those that occur in it, in the order of their first vertex */
  int32_t *order;      /* (SBS_TILE) its vertices by key */
  size_t weight_count; /* so far */
  int is_other;        /* whether the description is not that of the skin */
  sbs_influences influences;
} arranger;

static int is_own_center(const sbs_skin_desc *desc, size_t vertex) {
  if (!desc->centers) return 0;
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : 3 * sbs_scalar_size(desc->scalar);
  const char *position = (const char *)desc->rest_positions + vertex * stride;
  for (size_t axis = 0; axis < 3; axis++) {
    if (sbs_scalar_get(position, desc->scalar, axis) != desc->centers[3 * vertex + axis]) return 0;
  }
  return 1;
}

/*
 * The weights of a vertex in its lane, and where those of the caller's columns are among them. Returns whether each is
 * that of one column, which has a place.
 */
static int put_vertex(arranger *a, size_t set, size_t vertex, size_t block, size_t lane, size_t weights) {
  sbs_gradient *gradient = a->gradient;
  const sbs_skin_desc *desc = a->desc;
  const size_t size = sbs_set_size(a->skin, set), columns = gradient->columns;
  const int32_t *joints = a->skin->set_joints + a->skin->set_offsets[set];
  sbs_influences_read(desc, 0.0, vertex, &a->influences);
  a->is_other |= a->influences.count != size;
  double sum = 0.0;
  size_t used = 0;
  for (size_t k = 0; k < columns; k++) {
    const double weight = sbs_scalar_get(desc->joint_weights, desc->weight_scalar, vertex * columns + k);
    uint16_t slot = (uint16_t)size;
    if (weight > 0.0 && isfinite(weight)) {
      sum += weight;
      for (slot = 0; slot < size && joints[slot] != desc->joint_indices[vertex * columns + k];) slot++;
      a->is_other |= slot == size;
      if (slot < size) gradient->places[weights + slot * LANES + lane] = (uint32_t)(vertex * columns + k);
      used++;
    }
    gradient->slots[vertex * columns + k] = slot;
  }
  sbs_scalar_put(gradient->scales, gradient->scalar, block * LANES + lane, sum > 0.0 ? 1.0 / sum : 1.0);
  gradient->heaviest[block * LANES + lane] = (uint16_t)a->influences.heaviest;
  for (size_t i = 0; i < size; i++) {
    sbs_scalar_put(gradient->weights, gradient->scalar, weights + i * LANES + lane,
                   i < a->influences.count ? a->influences.weights[i] : 0.0);
  }
  return used == size;
}

static void put_part(arranger *a, sbs_gradient_part *part, const int32_t *vertices) {
  sbs_gradient *gradient = a->gradient;
  const size_t size = sbs_set_size(a->skin, (size_t)part->set), count = (size_t)part->vertex_count;
  part->placed = gradient->vertex_count * gradient->columns <= UINT32_MAX;
  for (size_t i = 0; i < (count + LANES - 1) / LANES * LANES; i++) {
    const size_t vertex = (size_t)vertices[i < count ? i : count - 1], block = part->first_block + i / LANES;
    gradient->vertices[block * LANES + i % LANES] = (int32_t)vertex;
    part->placed &=
        put_vertex(a, (size_t)part->set, vertex, block, i % LANES, part->weights + i / LANES * size * LANES);
  }
}

/* The vertices of a tile, sorted by set; without `put` they are only counted. */
static void arrange_tile(arranger *a, size_t begin, size_t end, int put) {
  sbs_gradient *gradient = a->gradient;
  size_t key_count = 0;
  for (size_t v = begin; v < end; v++) {
    if (!a->counts[a->sets[v]]++) a->keys[key_count++] = a->sets[v];
  }
  int32_t first = 0;
  for (size_t k = 0; k < key_count; k++) {
    const int32_t count = a->counts[a->keys[k]];
    a->counts[a->keys[k]] = first;
    first += count;
  }
  for (size_t v = begin; v < end; v++) a->order[a->counts[a->sets[v]]++] = (int32_t)v;

  first = 0;
  for (size_t k = 0; k < key_count; k++) {
    const size_t set = (size_t)a->keys[k] / 2, size = sbs_set_size(a->skin, set);
    const int32_t last = a->counts[a->keys[k]];
    a->counts[a->keys[k]] = 0;
    while (first < last) {
      int32_t count = last - first;
      if (count > LANES * SBS_GRADIENT_PART_BLOCKS) count = LANES * SBS_GRADIENT_PART_BLOCKS;
      const size_t blocks = ((size_t)count + LANES - 1) / LANES;
      if (put) {
        sbs_gradient_part *part = gradient->parts + gradient->part_count;
        *part = (sbs_gradient_part){.set = (int32_t)set,
                                    .vertex_count = count,
                                    .own = a->keys[k] % 2,
                                    .first_block = gradient->block_count,
                                    .weights = a->weight_count};
        put_part(a, part, a->order + first);
      }
      gradient->part_count++;
      gradient->block_count += blocks;
      a->weight_count += blocks * size * LANES;
      first += count;
    }
  }
}

static sbs_status arrange_all(arranger *a, int put) {
  sbs_gradient *gradient = a->gradient;
  gradient->part_count = gradient->block_count = a->weight_count = 0;
  for (size_t begin = 0; begin < gradient->vertex_count; begin += SBS_TILE) {
    const sbs_status status = sbs_tell((double)begin / (double)gradient->vertex_count);
    if (status) return status;
    const size_t left = gradient->vertex_count - begin;
    arrange_tile(a, begin, begin + (left < SBS_TILE ? left : SBS_TILE), put);
  }
  return SBS_OK;
}

/* The parts of each set. */
static void order_parts(sbs_gradient *gradient) {
  memset(gradient->set_parts, 0, (gradient->set_count + 1) * sizeof *gradient->set_parts);
  for (size_t i = 0; i < gradient->part_count; i++) gradient->set_parts[gradient->parts[i].set + 1]++;
  for (size_t s = 0; s < gradient->set_count; s++) gradient->set_parts[s + 1] += gradient->set_parts[s];
  for (size_t i = 0; i < gradient->part_count; i++) {
    gradient->part_order[gradient->set_parts[gradient->parts[i].set]++] = (int32_t)i;
  }
  for (size_t s = gradient->set_count; s > 0; s--) gradient->set_parts[s] = gradient->set_parts[s - 1];
  gradient->set_parts[0] = 0;
}

static sbs_status arrange(arranger *a) {
  sbs_gradient *gradient = a->gradient;
  sbs_arena *arena = &gradient->arena;
  sbs_status status = sbs_skin_joint_set_of_vertex(a->skin, a->sets);
  for (size_t v = 0; v < gradient->vertex_count; v++) a->sets[v] = 2 * a->sets[v] + is_own_center(a->desc, v);
  memset(a->counts, 0, 2 * gradient->set_count * sizeof *a->counts);
  if (!status) status = arrange_all(a, 0);
  if (status) return status;
  gradient->parts = sbs_arena_take(arena, gradient->part_count, sizeof *gradient->parts);
  gradient->set_parts = sbs_arena_take(arena, gradient->set_count + 1, sizeof *gradient->set_parts);
  gradient->part_order = sbs_arena_take(arena, gradient->part_count, sizeof *gradient->part_order);
  gradient->vertices = sbs_arena_take(arena, gradient->block_count, LANES * sizeof *gradient->vertices);
  gradient->weights = sbs_arena_take(arena, a->weight_count, sbs_scalar_size(gradient->scalar));
  gradient->heaviest = sbs_arena_take(arena, gradient->block_count, LANES * sizeof *gradient->heaviest);
  gradient->places = sbs_arena_take(arena, a->weight_count, sizeof *gradient->places);
  gradient->scales = sbs_arena_take(arena, gradient->block_count, LANES * sbs_scalar_size(gradient->scalar));
  gradient->slots = sbs_arena_take(arena, gradient->vertex_count, gradient->columns * sizeof *gradient->slots);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  status = arrange_all(a, 1);
  if (!status && a->is_other) status = SBS_ERROR_OPTION;
  if (!status) order_parts(gradient);
  return status;
}

static sbs_status check_desc(const sbs_skin *skin, const sbs_skin_desc *desc, sbs_fault *fault) {
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!desc->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (desc->vertex_count != skin->vertex_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "vertex_count");
  if (desc->joint_count != skin->skeleton_joint_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "joint_count");
  if (!sbs_twist_equal(desc->twist, skin->twist)) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist");
  const size_t most = skin->twist ? UINT16_MAX / 2 : UINT16_MAX;
  if (desc->influences_per_vertex >= most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)desc->influences_per_vertex,
                            (double)most);
  }
  if (desc->scalar != skin->scalar) return sbs_fault_in(fault, SBS_ERROR_OPTION, "scalar");
  return SBS_OK;
}

/* ---------------------------------------------------------------------------------------------------- the twist -- */

/* The influences of a description, spread along the bones of its twist. */
typedef struct spread_influences {
  int32_t *joint_indices;      /* (V, 2 K) */
  double *joint_weights;       /* (V, 2 K) */
  sbs_gradient_spread *spread; /* (V, K) */
} spread_influences;

/* Notes where each influence is along its bone; the joint indices were checked. */
static void find_spread(const sbs_skin_desc *desc, sbs_gradient_spread *spread) {
  const size_t columns = desc->influences_per_vertex;
  for (size_t i = 0; i < desc->vertex_count * columns; i++) {
    const sbs_vec3 point = sbs_twist_point(desc, i / columns);
    const int32_t bone = desc->twist->bone_of_joint[desc->joint_indices[i]];
    spread[i] = (sbs_gradient_spread){.bone = bone};
    if (bone >= 0) spread[i].share = sbs_twist_share_at(desc->twist, desc->twist->bones + bone, point, NULL);
  }
}

/* Makes of a description one that has the frames of the twist as joints, and influences of these. */
static sbs_status spread_desc(sbs_skin_desc *desc, const sbs_skin *skin, const sbs_allocator *allocator,
                              spread_influences *made, sbs_fault *fault) {
  if (!skin->twist) return SBS_OK;
  const size_t columns = 2 * desc->influences_per_vertex;
  made->joint_indices = sbs_allocate(allocator, desc->vertex_count, columns * sizeof *made->joint_indices);
  made->joint_weights = sbs_allocate(allocator, desc->vertex_count, columns * sizeof *made->joint_weights);
  made->spread = sbs_allocate(allocator, desc->vertex_count, columns / 2 * sizeof *made->spread);
  if (!made->joint_indices || !made->joint_weights || !made->spread) {
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  const void *positions = desc->twist_positions ? desc->twist_positions : desc->rest_positions;
  const sbs_status status =
      sbs_twist_influences(skin->twist, desc->vertex_count, desc->scalar, positions, desc->rest_positions_stride,
                           columns / 2, desc->joint_indices, desc->weight_scalar, desc->joint_weights, NULL,
                           made->joint_indices, made->joint_weights, fault);
  if (status) return status;
  find_spread(desc, made->spread);
  desc->twist = NULL;
  desc->joint_count = skin->joint_count;
  desc->influences_per_vertex = columns;
  desc->joint_indices = made->joint_indices;
  desc->joint_weights = made->joint_weights;
  desc->weight_scalar = SBS_FLOAT64;
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------- public -- */

static sbs_status new_gradient(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_allocator *allocator,
                               sbs_gradient **result, sbs_fault *fault) {
  sbs_gradient *gradient = sbs_allocate(allocator, 1, sizeof *gradient);
  if (!gradient) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  *gradient = (sbs_gradient){.allocator = *allocator,
                             .vertex_count = skin->vertex_count,
                             .joint_count = skin->joint_count,
                             .columns = desc->influences_per_vertex,
                             .set_count = skin->set_count,
                             .scalar = skin->scalar};
  gradient->arena = sbs_arena_from(&gradient->allocator);
  sbs_arena arena = sbs_arena_from(allocator);
  arranger a = {.gradient = gradient,
                .skin = skin,
                .desc = desc,
                .sets = sbs_arena_take(&arena, skin->vertex_count, sizeof *a.sets),
                .counts = sbs_arena_take(&arena, 2 * skin->set_count, sizeof *a.counts),
                .keys = sbs_arena_take(&arena, SBS_TILE, sizeof *a.keys),
                .order = sbs_arena_take(&arena, SBS_TILE, sizeof *a.order),
                .influences = sbs_influences_new(allocator, desc)};
  const int has_all = !arena.failed && a.influences.joints && a.influences.weights;
  const sbs_status status = has_all ? arrange(&a) : SBS_ERROR_OUT_OF_MEMORY;
  sbs_arena_release(&arena);
  sbs_influences_free(allocator, &a.influences);
  if (status) {
    sbs_gradient_free(gradient);
    return sbs_fault_in(fault, status, status == SBS_ERROR_OPTION ? "joint_weights" : NULL);
  }
  *result = gradient;
  return SBS_OK;
}

sbs_status sbs_gradient_new(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_allocator *allocator,
                            sbs_gradient **result, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!result) return sbs_fault_in(fault, SBS_ERROR_NULL, "gradient");
  const sbs_allocator by_default = sbs_default_allocator();
  if (!allocator) allocator = &by_default;
  sbs_status status = check_desc(skin, desc, fault);
  if (status) return status;
  sbs_skin_desc with_frames = *desc;
  spread_influences made = {0};
  sbs_gradient *gradient = NULL;
  status = spread_desc(&with_frames, skin, allocator, &made, fault);
  if (!status) status = new_gradient(skin, &with_frames, allocator, &gradient, fault);
  sbs_release(allocator, made.joint_indices);
  sbs_release(allocator, made.joint_weights);
  if (status) {
    sbs_release(allocator, made.spread);
    return status;
  }
  gradient->spread = made.spread;
  *result = gradient;
  return SBS_OK;
}

void sbs_gradient_free(sbs_gradient *gradient) {
  if (!gradient) return;
  const sbs_allocator allocator = gradient->allocator;
  sbs_arena_release(&gradient->arena);
  sbs_release(&allocator, gradient->spread);
  sbs_release(&allocator, gradient);
}
