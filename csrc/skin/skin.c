/* SPDX-License-Identifier: MIT */
#include "skin/skin.h"

#include <string.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "skin/influences.h"

void *sbs_skin_allocate(sbs_skin *skin, size_t count, size_t size) {
  void *memory = sbs_allocate(&skin->allocator, count, size);
  if (memory) skin->memory += count * size;
  return memory;
}

sbs_skin *sbs_skin_begin(const sbs_skin_desc *desc, const sbs_allocator *allocator) {
  const sbs_twist *twist = sbs_twist_with_bones(desc->twist);
  sbs_skin *skin = sbs_allocate(allocator, 1, sizeof *skin);
  if (!skin) return NULL;
  *skin = (sbs_skin){.allocator = *allocator,
                     .isa = sbs_choose_isa(),
                     .memory = sizeof *skin,
                     .vertex_count = desc->vertex_count,
                     .joint_count = twist ? sbs_twist_joint_count(twist) : desc->joint_count,
                     .skeleton_joint_count = desc->joint_count,
                     .is_moved = desc->twist_positions != NULL,
                     .scalar = desc->scalar};
  if (!twist) return skin;
  if (sbs_twist_copy(twist, allocator, &skin->twist)) {
    sbs_skin_free(skin);
    return NULL;
  }
  skin->memory += sbs_twist_memory(twist);
  return skin;
}

sbs_status sbs_skin_copy_joint_positions(sbs_skin *skin, const double *joint_positions) {
  if (!joint_positions) return SBS_OK;
  skin->joint_positions = sbs_skin_allocate(skin, skin->joint_count, 3 * sizeof(double));
  if (!skin->joint_positions) return SBS_ERROR_OUT_OF_MEMORY;
  memcpy(skin->joint_positions, joint_positions, skin->joint_count * 3 * sizeof(double));
  return SBS_OK;
}

/* A copy of an array of a skin, which may be NULL; without memory the status says so. */
static void *copy_array(const sbs_skin *skin, const void *array, size_t count, size_t size, sbs_status *status) {
  void *copy = array ? sbs_allocate(&skin->allocator, count, size) : NULL;
  if (copy) {
    memcpy(copy, array, count * size);
  } else if (array) {
    *status = SBS_ERROR_OUT_OF_MEMORY;
  }
  return copy;
}

sbs_skin *sbs_skin_copy(const sbs_skin *skin) {
  sbs_skin *copy = sbs_allocate(&skin->allocator, 1, sizeof *copy);
  if (!copy) return NULL;
  sbs_status status = SBS_OK;
  const size_t size = sbs_scalar_size(skin->scalar), block = SBS_BLOCK * size, blocks = skin->block_count;
  const sbs_item *last = skin->items + skin->item_count - 1;
  const size_t numbers = last->stream + sbs_item_blocks(last) * sbs_block_size(skin->groups + last->group);
  *copy = *skin;
#define COPY(name, count) copy->name = copy_array(skin, skin->name, count, sizeof *skin->name, &status)
  COPY(joint_positions, 3 * skin->joint_count);
  COPY(set_offsets, skin->set_count + 1);
  COPY(set_joints, skin->set_offsets[skin->set_count]);
  COPY(set_centroids, 3 * skin->set_count);
  COPY(set_children, skin->set_count);
  COPY(set_order, skin->set_count);
  COPY(repairs, skin->vertex_count);
  COPY(groups, skin->group_count);
  COPY(pivots, skin->pivot_count);
  COPY(items, skin->item_count);
  COPY(vertices, blocks * SBS_BLOCK);
  COPY(runs, blocks);
  COPY(heaviest, blocks * SBS_BLOCK);
  for (size_t k = 0; k < SBS_COPY_SIZES; k++) {
    COPY(copies.lanes[k], skin->copies.starts[k][blocks]);
    COPY(copies.starts[k], blocks + 1);
  }
#undef COPY
  copy->stream = copy_array(skin, skin->stream, numbers, size, &status);
  copy->pivot_weights = copy_array(skin, skin->pivot_weights, blocks, block, &status);
  copy->normals = copy_array(skin, skin->normals, blocks, 3 * block, &status);
  copy->centers = copy_array(skin, skin->centers, blocks, 3 * block, &status);
  if (copy->set_order) copy->solve_order = copy->set_order + (skin->solve_order - skin->set_order);
  copy->twist = NULL;
  if (!status && skin->twist) status = sbs_twist_copy(skin->twist, &skin->allocator, &copy->twist);
  if (!status) return copy;
  sbs_skin_free(copy);
  return NULL;
}

void sbs_skin_count_repairs(sbs_skin *skin, sbs_weight_report *report) {
  size_t repaired = 0;
  *report = (sbs_weight_report){0};
  for (size_t v = 0; v < skin->vertex_count; v++) {
    if (!skin->repairs[v]) continue;
    repaired++;
    sbs_influences_count_repairs(skin->repairs[v], report);
  }
  if (repaired) return;
  sbs_release(&skin->allocator, skin->repairs);
  skin->repairs = NULL;
  skin->memory -= skin->vertex_count;
}

void sbs_skin_free(sbs_skin *skin) {
  if (!skin) return;
  const sbs_allocator allocator = skin->allocator;
  sbs_twist_free(skin->twist);
  sbs_release(&allocator, skin->joint_positions);
  sbs_release(&allocator, skin->set_offsets);
  sbs_release(&allocator, skin->set_joints);
  sbs_release(&allocator, skin->set_centroids);
  sbs_release(&allocator, skin->set_children);
  sbs_release(&allocator, skin->set_order);
  sbs_release(&allocator, skin->repairs);
  sbs_release(&allocator, skin->groups);
  sbs_release(&allocator, skin->pivots);
  sbs_release(&allocator, skin->items);
  sbs_release(&allocator, skin->vertices);
  sbs_release(&allocator, skin->runs);
  for (size_t k = 0; k < SBS_COPY_SIZES; k++) {
    sbs_release(&allocator, skin->copies.lanes[k]);
    sbs_release(&allocator, skin->copies.starts[k]);
  }
  sbs_release(&allocator, skin->stream);
  sbs_release(&allocator, skin->pivot_weights);
  sbs_release(&allocator, skin->heaviest);
  sbs_release(&allocator, skin->normals);
  sbs_release(&allocator, skin->centers);
  sbs_release(&allocator, skin);
}

/* ---------------------------------------------------------------------------------------------------- questions -- */

sbs_status sbs_skin_get_info(const sbs_skin *skin, sbs_skin_info *info) {
  if (!skin || !info) return SBS_ERROR_NULL;
  *info = (sbs_skin_info){.vertex_count = skin->vertex_count,
                          .joint_count = skin->skeleton_joint_count,
                          .twist_bone_count = skin->twist ? skin->twist->bone_count : 0,
                          .joint_set_count = skin->set_count,
                          .joint_set_size_sum = skin->set_offsets[skin->set_count],
                          .nontrivial_joint_set_count = skin->nontrivial_set_count,
                          .unweighted_vertex_count = skin->unweighted_vertex_count,
                          .max_influences = skin->max_influences,
                          .memory = skin->memory,
                          .scalar = skin->scalar,
                          .has_normals = skin->normals != NULL,
                          .has_centers = skin->centers != NULL,
                          .instruction_set = sbs_isa_name(skin->isa)};
  return SBS_OK;
}

sbs_status sbs_skin_joint_sets(const sbs_skin *skin, size_t *offsets, int32_t *joints) {
  if (!skin || !offsets || !joints) return SBS_ERROR_NULL;
  memcpy(offsets, skin->set_offsets, (skin->set_count + 1) * sizeof *offsets);
  memcpy(joints, skin->set_joints, skin->set_offsets[skin->set_count] * sizeof *joints);
  return SBS_OK;
}

sbs_status sbs_skin_joint_set_of_vertex(const sbs_skin *skin, int32_t *sets) {
  if (!skin || !sets) return SBS_ERROR_NULL;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    const int32_t *vertices = skin->vertices + item->first_block * SBS_BLOCK;
    for (int32_t k = 0; k < item->vertex_count; k++) sets[vertices[k]] = skin->groups[item->group].set;
  }
  return SBS_OK;
}

sbs_status sbs_skin_vertex_order(const sbs_skin *skin, int32_t *order) {
  if (!skin || !order) return SBS_ERROR_NULL;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    memcpy(order, skin->vertices + item->first_block * SBS_BLOCK, (size_t)item->vertex_count * sizeof *order);
    order += item->vertex_count;
  }
  return SBS_OK;
}
