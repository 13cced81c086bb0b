/* SPDX-License-Identifier: MIT */
#include "skin/with_frames.h"

#include "base/fault.h"
#include "base/memory.h"
#include "twist/twist.h"

sbs_status sbs_add_frames(const sbs_skin_desc *desc, const sbs_allocator *allocator, sbs_desc_with_frames *with,
                          sbs_fault *fault) {
  *with = (sbs_desc_with_frames){.desc = *desc};
  with->desc.twist = sbs_twist_with_bones(desc->twist);
  if (!with->desc.twist) return SBS_OK;
  const size_t count = sbs_twist_joint_count(desc->twist);
  with->desc.joint_count = count;
  with->desc.parents = NULL; /* without positions they say nothing of the frames */
  if (!desc->joint_positions) return SBS_OK;
  with->positions = sbs_allocate(allocator, count, 3 * sizeof *with->positions);
  if (desc->parents) with->parents = sbs_allocate(allocator, count, sizeof *with->parents);
  if (!with->positions || (desc->parents && !with->parents)) {
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  with->desc.joint_positions = with->positions;
  with->desc.parents = with->parents;
  return sbs_twist_joints(desc->twist, desc->parents, desc->joint_positions, with->parents, with->positions, fault);
}

void sbs_release_frames(const sbs_allocator *allocator, const sbs_desc_with_frames *with) {
  sbs_release(allocator, with->positions);
  sbs_release(allocator, with->parents);
}
