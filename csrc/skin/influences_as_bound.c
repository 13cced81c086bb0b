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

/* The influences of a vertex; how many there are. `heaviest` receives which one is. */
static size_t read_vertex(const sbs_skin *skin, size_t vertex, influence *influences, size_t *heaviest) {
  const size_t set = (size_t)skin->set_of_vertex[vertex], count = sbs_set_size(skin, set);
  const int32_t *joints = skin->set_joints + skin->set_offsets[set];
  *heaviest = 0;
  sbs_get_weights(skin, vertex, &influences->weight, sizeof *influences / sizeof influences->weight);
  for (size_t i = 0; i < count; i++) {
    influences[i].joint = joints[i];
    if (joints[i] == skin->heaviest[vertex]) *heaviest = i;
  }
  return count;
}

/* Writes a vertex's row; returns the sum of weights that it lost. */
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
  for (size_t v = 0; v < skin->vertex_count; v++) {
    size_t heaviest;
    const size_t count = read_vertex(skin, v, influences, &heaviest);
    sort_heaviest_first(influences, count, heaviest);
    const double less = write_row(influences, count, width, joints + width * v, weights + width * v);
    if (less > most) most = less;
  }
  if (lost) *lost = most;
  sbs_release(&skin->allocator, influences);
  return SBS_OK;
}
