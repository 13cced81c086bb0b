/* SPDX-License-Identifier: MIT */
#include "skin/blocks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "skin/influences.h"

/* --------------------------------------------------------------------------------------------------- influences -- */

/* Where the influences of a lane start, and how far apart they are. */
typedef struct lane_place {
  const int32_t *joints;
  size_t first_weight, step;
} lane_place;

static lane_place find_place(const sbs_skin *skin, size_t lane) {
  const sbs_block *block = skin->blocks + lane / SBS_BLOCK;
  const size_t in_block = lane % SBS_BLOCK, first = block->first + block->influences * in_block;
  return block->is_shared ? (lane_place){skin->joints + block->first, block->first + in_block, SBS_BLOCK}
                          : (lane_place){skin->joints + first, first, 1};
}

/*
 * Goes through the weights of a vertex, one for each joint of its set: `at` is the influence of the one before, -1 at
 * first. Joints ascend, and a shared block has others between. Returns its index in `weights`.
 */
static size_t next_weight(lane_place place, int32_t joint, size_t *at) {
  do ++*at;
  while (place.joints[*at] != joint);
  return place.first_weight + place.step * *at;
}

/* The joints of a vertex's set. */
static const int32_t *vertex_joints(const sbs_skin *skin, size_t vertex, size_t *count) {
  const size_t set = (size_t)skin->set_of_vertex[vertex];
  *count = sbs_set_size(skin, set);
  return skin->set_joints + skin->set_offsets[set];
}

void sbs_get_weights(const sbs_skin *skin, size_t vertex, double *weights, size_t step) {
  const lane_place place = find_place(skin, vertex);
  size_t count, at = SIZE_MAX;
  const int32_t *joints = vertex_joints(skin, vertex, &count);
  for (size_t i = 0; i < count; i++) {
    weights[step * i] = sbs_scalar_get(skin->weights, skin->scalar, next_weight(place, joints[i], &at));
  }
}

/* The joints of all vertices of a block, ascending, of which there is room for `room`. Returns how many there are. */
static size_t unite_joints(const sbs_skin *skin, size_t block, size_t room, int32_t *joints) {
  size_t count = 0;
  for (size_t lane = block * SBS_BLOCK; lane < (block + 1) * SBS_BLOCK; lane++) {
    const size_t set = (size_t)skin->set_of_vertex[lane];
    if (lane % SBS_BLOCK && skin->set_of_vertex[lane - 1] == skin->set_of_vertex[lane]) continue;
    for (size_t k = skin->set_offsets[set]; k < skin->set_offsets[set + 1]; k++) {
      const int32_t joint = skin->set_joints[k];
      size_t at = count;
      while (at > 0 && joints[at - 1] > joint) at--;
      if (at > 0 && joints[at - 1] == joint) continue;
      if (count == room) return count + 1;
      for (size_t i = count++; i > at; i--) joints[i] = joints[i - 1];
      joints[at] = joint;
    }
  }
  return count;
}

/* Finds which blocks are shared, and where their influences start. Returns how many these are. */
static size_t describe_blocks(sbs_skin *skin, int32_t *united) {
  size_t first = 0;
  for (size_t b = 0; b < skin->block_count; b++) {
    const int32_t *sets = skin->set_of_vertex + b * SBS_BLOCK;
    size_t most = 1;
    int one_set = 1;
    for (size_t lane = 0; lane < SBS_BLOCK; lane++) {
      const size_t size = sbs_set_size(skin, (size_t)sets[lane]);
      if (size > most) most = size;
      one_set &= sets[lane] == *sets;
    }
    const size_t count = unite_joints(skin, b, most + SBS_MORE_JOINTS, united);
    const int is_shared = count > 0 && count <= most + SBS_MORE_JOINTS;
    skin->blocks[b] = (sbs_block){.first = first,
                                  .influences = (uint32_t)(is_shared ? count : most),
                                  .is_shared = (uint8_t)is_shared,
                                  .is_one_set = (uint8_t)one_set};
    first += skin->blocks[b].influences * SBS_BLOCK;
  }
  return first;
}

/* Puts the joints of a set in place, and behind them its first one. Vertices without weights have joint 0. */
static void put_set(sbs_skin *skin, size_t set, size_t first, size_t count) {
  const size_t size = sbs_set_size(skin, set), offset = skin->set_offsets[set];
  for (size_t i = 0; i < count; i++) {
    const size_t row = offset + (i < size ? i : 0);
    skin->set_rows[first + i] = size ? (int32_t)row : 0;
    skin->joints[first + i] = size ? skin->set_joints[row] : 0;
  }
}

/* Puts the joints of all blocks in place, and weights of 0. */
static void put_joints(sbs_skin *skin, int32_t *united) {
  for (size_t b = 0; b < skin->block_count; b++) {
    const sbs_block *block = skin->blocks + b;
    const size_t count = block->influences;
    for (size_t i = 0; i < SBS_BLOCK * count; i++) sbs_scalar_put(skin->weights, skin->scalar, block->first + i, 0.0);
    if (block->is_one_set && block->is_shared) {
      put_set(skin, (size_t)skin->set_of_vertex[b * SBS_BLOCK], block->first, count);
    } else if (block->is_shared) {
      unite_joints(skin, b, count, united);
      memcpy(skin->joints + block->first, united, count * sizeof *united);
    } else {
      for (size_t l = 0; l < SBS_BLOCK; l++) {
        put_set(skin, (size_t)skin->set_of_vertex[b * SBS_BLOCK + l], block->first + l * count, count);
      }
    }
  }
}

/* Puts the weights of a lane in place, and the sum of the products of all pairs of them, in which nothing cancels. */
static void put_weights(sbs_skin *skin, size_t lane, const double *weights) {
  const lane_place place = find_place(skin, lane);
  size_t count, at = SIZE_MAX;
  const int32_t *joints = vertex_joints(skin, lane, &count);
  double sum = 0.0, pairs = 0.0;
  for (size_t i = 0; i < count; i++) {
    const size_t number = next_weight(place, joints[i], &at);
    sbs_scalar_put(skin->weights, skin->scalar, number, weights[i]);
    const double weight = sbs_scalar_get(skin->weights, skin->scalar, number); /* rounded, as an edit finds it */
    pairs += weight * sum;
    sum += weight;
  }
  sbs_scalar_put(skin->pair_weights, skin->scalar, lane, pairs);
}

sbs_status sbs_arrange_influences(sbs_skin *skin, const sbs_binding *binding) {
  const size_t vertex_count = skin->vertex_count;
  skin->blocks = sbs_skin_allocate(skin, skin->block_count, sizeof *skin->blocks);
  int32_t *united = sbs_allocate(&skin->allocator, skin->max_influences + SBS_MORE_JOINTS + 1, sizeof *united);
  double *weights = sbs_allocate(&skin->allocator, skin->max_influences, sizeof *weights);
  const size_t count = skin->blocks && united ? describe_blocks(skin, united) : 0;
  skin->joints = sbs_skin_allocate(skin, count, sizeof *skin->joints);
  skin->set_rows = sbs_skin_allocate(skin, count, sizeof *skin->set_rows);
  skin->weights = sbs_skin_allocate(skin, count, sbs_scalar_size(skin->scalar));
  skin->pair_weights = sbs_skin_allocate(skin, skin->block_count, SBS_BLOCK * sbs_scalar_size(skin->scalar));
  sbs_influences influences = sbs_influences_new(&skin->allocator, binding->desc);
  sbs_status status = SBS_OK;
  if (!skin->blocks || !united || !weights || !skin->joints || !skin->set_rows || !skin->weights ||
      !skin->pair_weights || !influences.joints || !influences.weights) {
    status = SBS_ERROR_OUT_OF_MEMORY;
  } else {
    put_joints(skin, united);
  }
  for (size_t lane = 0; lane < skin->block_count * SBS_BLOCK && !status; lane++) {
    status = sbs_tell_some(lane, skin->block_count * SBS_BLOCK);
    if (lane >= vertex_count) {
      sbs_get_weights(skin, vertex_count - 1, weights, 1);
      put_weights(skin, lane, weights);
    } else if (sbs_is_kept(binding, lane)) {
      sbs_get_weights(binding->previous, lane, weights, 1);
      put_weights(skin, lane, weights);
    } else {
      sbs_influences_read(binding->desc, 0.0, lane, &influences);
      put_weights(skin, lane, influences.weights);
    }
  }
  sbs_influences_free(&skin->allocator, &influences);
  sbs_release(&skin->allocator, united);
  sbs_release(&skin->allocator, weights);
  return status;
}

/* ------------------------------------------------------------------------------------------------------ vectors -- */

static double get_vector(const void *vectors, size_t stride, sbs_scalar scalar, size_t row, size_t axis) {
  if (!stride) stride = 3 * sbs_scalar_size(scalar);
  return sbs_scalar_get((const char *)vectors + row * stride, scalar, axis);
}

/* The vertex of a lane: lanes past the last repeat it. */
static size_t lane_vertex(const sbs_skin *skin, size_t lane) {
  return lane < skin->vertex_count ? lane : skin->vertex_count - 1;
}

static sbs_status allocate_vectors(sbs_skin *skin, void **vectors) {
  *vectors = sbs_skin_allocate(skin, skin->block_count, 3 * SBS_BLOCK * sbs_scalar_size(skin->scalar));
  return *vectors ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

sbs_status sbs_pack_positions(sbs_skin *skin, const sbs_skin_desc *desc) {
  const sbs_status status = allocate_vectors(skin, &skin->positions);
  for (size_t lane = 0; lane < skin->block_count * SBS_BLOCK && !status; lane++) {
    const int is_weighted = sbs_set_size(skin, (size_t)skin->set_of_vertex[lane]) > 0;
    for (size_t axis = 0; axis < 3; axis++) {
      const double x =
          get_vector(desc->rest_positions, desc->rest_positions_stride, desc->scalar, lane_vertex(skin, lane), axis);
      sbs_scalar_put(skin->positions, skin->scalar, sbs_vector_index(lane, axis),
                     is_weighted ? x - skin->origin[axis] : x);
    }
  }
  return status;
}

sbs_status sbs_pack_normals(sbs_skin *skin, const sbs_skin_desc *desc) {
  if (!desc->rest_normals) return SBS_OK;
  const sbs_status status = allocate_vectors(skin, &skin->normals);
  for (size_t lane = 0; lane < skin->block_count * SBS_BLOCK && !status; lane++) {
    double n[3], largest = 0.0, length = 1.0;
    for (size_t axis = 0; axis < 3; axis++) {
      n[axis] = get_vector(desc->rest_normals, desc->rest_normals_stride, desc->scalar, lane_vertex(skin, lane), axis);
      largest = fmax(largest, fabs(n[axis]));
    }
    if (largest > 0.0) { /* scaled first, so that no square overflows or vanishes */
      for (size_t axis = 0; axis < 3; axis++) n[axis] /= largest;
      length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    for (size_t axis = 0; axis < 3; axis++) {
      sbs_scalar_put(skin->normals, skin->scalar, sbs_vector_index(lane, axis), n[axis] / length);
    }
  }
  return status;
}

static int is_own_center(const sbs_skin *skin, const sbs_skin_desc *desc, size_t lane) {
  const size_t vertex = lane_vertex(skin, lane);
  if (sbs_set_size(skin, (size_t)skin->set_of_vertex[lane]) < 2) return 0; /* one joint moves it whatever its center */
  for (size_t axis = 0; axis < 3; axis++) {
    const double x = get_vector(desc->rest_positions, desc->rest_positions_stride, desc->scalar, vertex, axis);
    if (x != desc->centers[3 * vertex + axis]) return 0;
  }
  return 1;
}

sbs_status sbs_pack_centers(sbs_skin *skin, const sbs_skin_desc *desc) {
  if (!desc->centers) return SBS_OK;
  const sbs_status status = allocate_vectors(skin, &skin->centers);
  for (size_t lane = 0; lane < skin->block_count * SBS_BLOCK && !status; lane++) {
    const int own = is_own_center(skin, desc, lane);
    skin->blocks[lane / SBS_BLOCK].has_own_centers |= (uint8_t)own;
    const double *center = desc->centers + 3 * lane_vertex(skin, lane);
    for (size_t axis = 0; axis < 3; axis++) {
      sbs_scalar_put(skin->centers, skin->scalar, sbs_vector_index(lane, axis),
                     own ? NAN : center[axis] - skin->origin[axis]);
    }
  }
  return status;
}
