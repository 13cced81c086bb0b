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
                     .block_count = (desc->vertex_count + SBS_BLOCK - 1) / SBS_BLOCK,
                     .joint_count = twist ? sbs_twist_joint_count(twist) : desc->joint_count,
                     .skeleton_joint_count = desc->joint_count,
                     .scalar = desc->scalar};
  if (!twist) return skin;
  if (sbs_twist_copy(twist, allocator, &skin->twist)) {
    sbs_skin_free(skin);
    return NULL;
  }
  skin->memory += sbs_twist_memory(twist);
  return skin;
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
  sbs_release(&allocator, skin->solve_order);
  sbs_release(&allocator, skin->set_starts);
  sbs_release(&allocator, skin->set_vertices);
  sbs_release(&allocator, skin->signs.pairs);
  sbs_release(&allocator, skin->set_of_vertex);
  sbs_release(&allocator, skin->heaviest);
  sbs_release(&allocator, skin->repairs);
  sbs_release(&allocator, skin->blocks);
  sbs_release(&allocator, skin->joints);
  sbs_release(&allocator, skin->set_rows);
  sbs_release(&allocator, skin->weights);
  sbs_release(&allocator, skin->pair_weights);
  sbs_release(&allocator, skin->positions);
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
  memcpy(sets, skin->set_of_vertex, skin->vertex_count * sizeof *sets);
  return SBS_OK;
}
