/* SPDX-License-Identifier: MIT */
/* The influences of a skin as arrays again, from blocks. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "skin/skin.h"

typedef struct influence {
  double weight;
  int32_t joint;
} influence;

/*
 * Joints ascend, so that equal ones stay in their order. Few: by insertion. The heaviest joint is known: rounding may
 * have made another as heavy.
 */
static void sort_heaviest_first(influence *influences, size_t count, size_t heaviest) {
  if (heaviest) {
    const influence first = influences[heaviest];
    memmove(influences + 1, influences, heaviest * sizeof *influences);
    influences[0] = first;
  }
  for (size_t i = 2; i < count; i++) {
    const influence moved = influences[i];
    size_t at = i;
    for (; at > 1 && influences[at - 1].weight < moved.weight; at--) influences[at] = influences[at - 1];
    influences[at] = moved;
  }
}

/*
 * The influences of a vertex of a group; how many there are.
 *
 *   stream  where its x stands
 *   lane    of all lanes of all blocks
 */
static size_t read_lane(const sbs_skin *skin, size_t number, size_t stream, size_t lane, influence *influences) {
  const sbs_group *group = skin->groups + number;
  const int32_t *joints = skin->set_joints + skin->set_offsets[group->set];
  const size_t count = sbs_set_size(skin, (size_t)group->set);
  const size_t pivot = (size_t)skin->pivots[number].joint;
  size_t at = stream + 3 * SBS_BLOCK;
  for (size_t i = 0; i < count; i++) {
    influences[i].joint = joints[i];
    if (i == pivot) {
      influences[i].weight = sbs_scalar_get(skin->pivot_weights, skin->scalar, lane);
    } else {
      influences[i].weight = sbs_scalar_get(skin->stream, skin->scalar, at);
      at += SBS_BLOCK;
    }
  }
  return count;
}

/* Writes a vertex's row; returns what it lost. */
static double write_row(const influence *influences, size_t count, size_t width, int32_t *joints, float *weights) {
  double sum = 0.0, kept = 0.0;
  for (size_t i = 0; i < count; i++) sum += influences[i].weight;
  for (size_t i = 0; i < count && i < width; i++) kept += influences[i].weight;
  for (size_t i = 0; i < width; i++) {
    const int is_there = i < count;
    joints[i] = is_there ? influences[i].joint : count ? influences[0].joint : 0;
    weights[i] = is_there ? (float)(influences[i].weight / kept) : 0.0F;
  }
  return count > width ? 1.0 - kept / sum : 0.0;
}

sbs_status sbs_skin_influences(const sbs_skin *skin, size_t width, int32_t *joints, float *weights, double *lost,
                               sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!joints) return sbs_fault_in(fault, SBS_ERROR_NULL, "joints");
  if (!weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "weights");
  if (!width) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "width");
  influence *influences = sbs_allocate(&skin->allocator, skin->max_influences + 1, sizeof *influences);
  if (!influences) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  double most = 0.0;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    const size_t block_size = sbs_block_size(skin->groups + item->group);
    for (size_t k = 0; k < (size_t)item->vertex_count; k++) {
      const size_t lane = item->first_block * SBS_BLOCK + k, vertex = (size_t)skin->vertices[lane];
      const size_t stream = item->stream + k / SBS_BLOCK * block_size + k % SBS_BLOCK;
      const size_t count = read_lane(skin, (size_t)item->group, stream, lane, influences);
      sort_heaviest_first(influences, count, (size_t)skin->heaviest[lane]);
      const double less = write_row(influences, count, width, joints + width * vertex, weights + width * vertex);
      if (less > most) most = less;
    }
  }
  if (lost) *lost = most;
  sbs_release(&skin->allocator, influences);
  return SBS_OK;
}
