/* SPDX-License-Identifier: MIT */
#include "gradient/columns.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "pose/twist.h"
#include "skin/influences.h"

/* --------------------------------------------------------------------------------------------------------- slots -- */

/* Which influence of its block a joint of a vertex is, or SBS_NO_SLOT. */
static uint16_t find_slot(const sbs_skin *skin, size_t vertex, int32_t joint) {
  const sbs_block *block = skin->blocks + vertex / SBS_BLOCK;
  const int32_t *joints = skin->joints + block->first;
  if (!block->is_shared) joints += vertex % SBS_BLOCK * block->influences;
  for (size_t k = 0; k < block->influences; k++) {
    if (joints[k] == joint) return (uint16_t)k;
  }
  return SBS_NO_SLOT;
}

/* Whether the skin was made of these weights of a vertex, as far as that can be told. */
static int find_slots(sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc, size_t vertex,
                      sbs_influences *influences) {
  const size_t columns = gradient->columns;
  double sum = 0.0;
  sbs_influences_read(desc, 0.0, vertex, influences);
  const size_t size = sbs_set_size(skin, (size_t)skin->set_of_vertex[vertex]);
  int is_same = influences->count == size;
  for (size_t k = vertex * columns; k < (vertex + 1) * columns; k++) {
    const double weight = sbs_scalar_get(desc->joint_weights, desc->weight_scalar, k);
    gradient->slots[k] = SBS_NO_SLOT;
    if (!(weight > 0.0 && isfinite(weight))) continue;
    sum += weight;
    gradient->slots[k] = find_slot(skin, vertex, desc->joint_indices[k]);
    is_same &= gradient->slots[k] != SBS_NO_SLOT;
  }
  gradient->scales[vertex] = size > 1 ? 1.0 / sum : 0.0;
  return is_same;
}

static sbs_status find_all_slots(sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc) {
  sbs_influences influences = sbs_influences_new(&gradient->allocator, desc);
  sbs_status status = influences.joints && influences.weights ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  for (size_t v = 0; v < skin->vertex_count && !status; v++) {
    status = sbs_tell_some(v, skin->vertex_count);
    if (!status && !find_slots(gradient, skin, desc, v, &influences)) status = SBS_ERROR_OPTION;
  }
  sbs_influences_free(&gradient->allocator, &influences);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- the twist -- */

/* The influences of a description, spread along the bones of its twist. */
typedef struct spread_influences {
  int32_t *joint_indices; /* (V, 2 K) */
  double *joint_weights;  /* (V, 2 K) */
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
static sbs_status spread_desc(sbs_skin_desc *desc, const sbs_skin *skin, sbs_gradient *gradient,
                              spread_influences *made, sbs_fault *fault) {
  const sbs_allocator *allocator = &gradient->allocator;
  if (!skin->twist) return SBS_OK;
  const size_t columns = 2 * desc->influences_per_vertex;
  made->joint_indices = sbs_allocate(allocator, desc->vertex_count, columns * sizeof *made->joint_indices);
  made->joint_weights = sbs_allocate(allocator, desc->vertex_count, columns * sizeof *made->joint_weights);
  gradient->spread = sbs_allocate(allocator, desc->vertex_count, columns / 2 * sizeof *gradient->spread);
  if (!made->joint_indices || !made->joint_weights || !gradient->spread) {
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  const void *positions = desc->twist_positions ? desc->twist_positions : desc->rest_positions;
  const sbs_status status =
      sbs_twist_influences(skin->twist, desc->vertex_count, desc->scalar, positions, desc->rest_positions_stride,
                           columns / 2, desc->joint_indices, desc->weight_scalar, desc->joint_weights, NULL,
                           made->joint_indices, made->joint_weights, fault);
  if (status) return status;
  find_spread(desc, gradient->spread);
  desc->twist = NULL;
  desc->joint_count = skin->joint_count;
  desc->influences_per_vertex = columns;
  desc->joint_indices = made->joint_indices;
  desc->joint_weights = made->joint_weights;
  desc->weight_scalar = SBS_FLOAT64;
  return SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- public -- */

static sbs_status check_desc(const sbs_skin *skin, const sbs_skin_desc *desc, sbs_fault *fault) {
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!desc->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (desc->vertex_count != skin->vertex_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "vertex_count");
  if (desc->joint_count != skin->skeleton_joint_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "joint_count");
  if (!sbs_twist_equal(desc->twist, skin->twist)) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist");
  const size_t most = (size_t)(UINT16_MAX - SBS_MORE_JOINTS) / (skin->twist ? 2 : 1);
  if (desc->influences_per_vertex >= most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)desc->influences_per_vertex,
                            (double)most);
  }
  if (desc->scalar != skin->scalar) return sbs_fault_in(fault, SBS_ERROR_OPTION, "scalar");
  return SBS_OK;
}

/* Fills a gradient that has nothing but its allocator. */
static sbs_status make(sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc, sbs_fault *fault) {
  sbs_skin_desc with_frames = *desc;
  spread_influences made = {0};
  sbs_status status = spread_desc(&with_frames, skin, gradient, &made, fault);
  gradient->vertex_count = skin->vertex_count;
  gradient->joint_count = skin->joint_count;
  gradient->columns = with_frames.influences_per_vertex;
  gradient->set_count = skin->set_count;
  gradient->scalar = skin->scalar;
  if (!status) {
    gradient->slots =
        sbs_allocate(&gradient->allocator, skin->vertex_count, gradient->columns * sizeof *gradient->slots);
    gradient->scales = sbs_allocate(&gradient->allocator, skin->vertex_count, sizeof *gradient->scales);
    status = gradient->slots && gradient->scales ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
    if (!status) status = find_all_slots(gradient, skin, &with_frames);
    if (status) sbs_fault_in(fault, status, status == SBS_ERROR_OPTION ? "joint_weights" : NULL);
  }
  sbs_release(&gradient->allocator, made.joint_indices);
  sbs_release(&gradient->allocator, made.joint_weights);
  return status;
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
  sbs_gradient *gradient = sbs_allocate(allocator, 1, sizeof *gradient);
  if (!gradient) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  *gradient = (sbs_gradient){.allocator = *allocator};
  status = make(gradient, skin, desc, fault);
  if (status) {
    sbs_gradient_free(gradient);
    return status;
  }
  *result = gradient;
  return SBS_OK;
}

void sbs_gradient_free(sbs_gradient *gradient) {
  if (!gradient) return;
  const sbs_allocator allocator = gradient->allocator;
  sbs_release(&allocator, gradient->slots);
  sbs_release(&allocator, gradient->scales);
  sbs_release(&allocator, gradient->spread);
  sbs_release(&allocator, gradient);
}
