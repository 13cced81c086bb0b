/* SPDX-License-Identifier: MIT */
#include "twist/twist.h"

#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"

sbs_twist_desc sbs_default_twist_desc(void) {
  return (sbs_twist_desc){0};
}

/* ------------------------------------------------------------------------------------------------- new and free -- */

/* The squares of a shorter bone would have lost digits. */
#define SHORTEST 1e-140

static sbs_status check_counts(const sbs_twist_desc *desc, size_t frames, sbs_fault *fault) {
  if (!desc->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (desc->joint_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)desc->joint_count, INT32_MAX);
  }
  if (frames < 2) return sbs_fault_number(fault, SBS_ERROR_OPTION, "frames_per_bone", (double)frames, 2.0);
  if (desc->bone_count > (INT32_MAX - desc->joint_count) / frames) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "bone_count", (double)desc->bone_count, INT32_MAX);
  }
  if (!desc->bone_count) return SBS_OK;
  if (!desc->joints) return sbs_fault_in(fault, SBS_ERROR_NULL, "joints");
  if (!desc->parents) return sbs_fault_in(fault, SBS_ERROR_NULL, "parents");
  if (!desc->heads) return sbs_fault_in(fault, SBS_ERROR_NULL, "heads");
  if (!desc->tails) return sbs_fault_in(fault, SBS_ERROR_NULL, "tails");
  const sbs_status status = sbs_validate_numbers(desc->heads, desc->bone_count, 3, "heads", fault);
  return status ? status : sbs_validate_numbers(desc->tails, desc->bone_count, 3, "tails", fault);
}

/* Reads the bones; the arrays are there. */
static sbs_status read_bones(sbs_twist *twist, const sbs_twist_desc *desc, sbs_fault *fault) {
  const int32_t count = (int32_t)desc->joint_count;
  for (size_t j = 0; j < desc->joint_count; j++) twist->bone_of_joint[j] = -1;
  for (size_t b = 0; b < desc->bone_count; b++) {
    const int32_t joint = desc->joints[b], parent = desc->parents[b], child = desc->children ? desc->children[b] : -1;
    if (joint < 0 || joint >= count || twist->bone_of_joint[joint] >= 0) {
      return sbs_fault_row(fault, SBS_ERROR_JOINT_INDEX, "joints", b, joint, count);
    }
    if (parent < -1 || parent >= count || parent == joint) {
      return sbs_fault_row(fault, SBS_ERROR_PARENT, "parents", b, parent, count);
    }
    if (child < -1 || child >= count || child == joint) {
      return sbs_fault_row(fault, SBS_ERROR_JOINT_INDEX, "children", b, child, count);
    }
    const sbs_vec3 head = sbs_vec3_read(desc->heads + 3 * b);
    const sbs_vec3 bone = sbs_vec3_subtract(sbs_vec3_read(desc->tails + 3 * b), head);
    const double length = sbs_vec3_length(bone);
    if (!(length > SHORTEST)) return sbs_fault_row(fault, SBS_ERROR_OPTION, "tails", b, length, 0.0);
    twist->bone_of_joint[joint] = (int32_t)b;
    twist->bones[b] =
        (sbs_twist_bone){joint, parent, child, head, {bone.x / length, bone.y / length, bone.z / length}, length};
  }
  return SBS_OK;
}

sbs_status sbs_twist_new(const sbs_twist_desc *desc, const sbs_allocator *allocator, sbs_twist **twist,
                         sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!twist) return sbs_fault_in(fault, SBS_ERROR_NULL, "twist");
  const size_t frames = desc->frames_per_bone ? desc->frames_per_bone : SBS_TWIST_FRAMES;
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = check_counts(desc, frames, fault);
  if (status) return status;
  sbs_twist *made = sbs_allocate(&chosen, 1, sizeof *made);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  *made = (sbs_twist){.allocator = chosen,
                      .isa = sbs_choose_isa(),
                      .joint_count = desc->joint_count,
                      .bone_count = desc->bone_count,
                      .frames = frames,
                      .smooth = desc->smooth != 0,
                      .bones = sbs_allocate(&chosen, desc->bone_count, sizeof *made->bones),
                      .bone_of_joint = sbs_allocate(&chosen, desc->joint_count, sizeof *made->bone_of_joint)};
  const int is_room = made->bones && made->bone_of_joint;
  status = is_room ? read_bones(made, desc, fault) : sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  if (status) {
    sbs_twist_free(made);
    return status;
  }
  *twist = made;
  return SBS_OK;
}

void sbs_twist_free(sbs_twist *twist) {
  if (!twist) return;
  const sbs_allocator allocator = twist->allocator;
  sbs_release(&allocator, twist->bones);
  sbs_release(&allocator, twist->bone_of_joint);
  sbs_release(&allocator, twist);
}

sbs_status sbs_twist_copy(const sbs_twist *twist, const sbs_allocator *allocator, sbs_twist **copy) {
  sbs_twist *made = sbs_allocate(allocator, 1, sizeof *made);
  if (!made) return SBS_ERROR_OUT_OF_MEMORY;
  *made = *twist;
  made->allocator = *allocator;
  made->bones = sbs_allocate(allocator, twist->bone_count, sizeof *made->bones);
  made->bone_of_joint = sbs_allocate(allocator, twist->joint_count, sizeof *made->bone_of_joint);
  if (!made->bones || !made->bone_of_joint) {
    sbs_twist_free(made);
    return SBS_ERROR_OUT_OF_MEMORY;
  }
  memcpy(made->bones, twist->bones, twist->bone_count * sizeof *made->bones);
  memcpy(made->bone_of_joint, twist->bone_of_joint, twist->joint_count * sizeof *made->bone_of_joint);
  *copy = made;
  return SBS_OK;
}

size_t sbs_twist_memory(const sbs_twist *twist) {
  return sizeof *twist + twist->bone_count * sizeof *twist->bones + twist->joint_count * sizeof *twist->bone_of_joint;
}

static int bones_are_equal(const sbs_twist_bone *a, const sbs_twist_bone *b) {
  return a->joint == b->joint && a->parent == b->parent && a->child == b->child && a->length == b->length &&
         a->head.x == b->head.x && a->head.y == b->head.y && a->head.z == b->head.z && a->axis.x == b->axis.x &&
         a->axis.y == b->axis.y && a->axis.z == b->axis.z;
}

int sbs_twist_equal(const sbs_twist *a, const sbs_twist *b) {
  a = sbs_twist_with_bones(a);
  b = sbs_twist_with_bones(b);
  if (!a || !b) return a == b;
  if (a->joint_count != b->joint_count || a->bone_count != b->bone_count || a->frames != b->frames ||
      a->smooth != b->smooth) {
    return 0;
  }
  for (size_t i = 0; i < a->bone_count; i++) {
    if (!bones_are_equal(a->bones + i, b->bones + i)) return 0;
  }
  return 1;
}

size_t sbs_twist_joint_count(const sbs_twist *twist) {
  return twist ? twist->joint_count + twist->bone_count * twist->frames : 0;
}

/* ------------------------------------------------------------------------------------------------------- joints -- */

/* The parent, among the frames, of a joint below `parent`, from its position. */
static int32_t parent_with_frames(const sbs_twist *twist, int32_t parent, sbs_vec3 position) {
  const int32_t number = parent < 0 ? -1 : twist->bone_of_joint[parent];
  if (number < 0) return parent;
  const sbs_twist_bone *bone = twist->bones + number;
  const sbs_vec3 tail = sbs_vec3_along(bone->head, bone->length, bone->axis);
  /* Elsewhere the frames of a bone are turned about another place than it. */
  const int at_tail = sbs_vec3_length(sbs_vec3_subtract(position, tail)) <= 1e-6 * bone->length;
  return at_tail ? (int32_t)(sbs_twist_first_frame(twist, (size_t)number) + twist->frames - 1) : parent;
}

static void add_frames(const sbs_twist *twist, size_t number, int32_t *new_parents, double *new_positions) {
  const sbs_twist_bone *bone = twist->bones + number;
  const size_t first = sbs_twist_first_frame(twist, number);
  for (size_t k = 0; k < twist->frames; k++) {
    const double share = k ? ((double)k - 0.5) / (double)(twist->frames - 1) : 0.0;
    sbs_vec3_write(sbs_vec3_along(bone->head, share * bone->length, bone->axis), new_positions + 3 * (first + k));
    if (!new_parents) continue;
    new_parents[first + k] = k ? (int32_t)(first + k - 1) : parent_with_frames(twist, bone->parent, bone->head);
  }
}

sbs_status sbs_twist_joints(const sbs_twist *twist, const int32_t *parents, const double *joint_positions,
                            int32_t *new_parents, double *new_joint_positions, sbs_fault *fault) {
  const size_t count = twist->joint_count;
  sbs_status status = sbs_validate_numbers(joint_positions, count, 3, "joint_positions", fault);
  if (!status && parents) status = sbs_validate_parents(parents, count, &twist->allocator, fault);
  if (status) return status;
  for (size_t j = 0; j < count; j++) {
    const sbs_vec3 position = sbs_vec3_read(joint_positions + 3 * j);
    sbs_vec3_write(position, new_joint_positions + 3 * j);
    if (new_parents) new_parents[j] = parent_with_frames(twist, parents[j], position);
  }
  for (size_t b = 0; b < twist->bone_count; b++) add_frames(twist, b, new_parents, new_joint_positions);
  return SBS_OK;
}
