/* SPDX-License-Identifier: MIT */
#include "muscles/bound.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "muscles/cover.h"
#include "muscles/path.h"

/* The least length of a belly whose tendons are nearly the whole path, as a share of that. */
#define LEAST_BELLY 1e-9

sbs_muscle sbs_default_muscle(void) {
  return (sbs_muscle){.point_count = 2, .flattening = 1.0, .contraction = 0.2, .most_growth = 2.0};
}

sbs_muscles_desc sbs_default_muscles_desc(void) {
  return (sbs_muscles_desc){0};
}

static void bind_muscle(const sbs_muscle *given, sbs_bound_muscle *muscle) {
  *muscle = (sbs_bound_muscle){.point_count = given->point_count,
                               .flattening = given->flattening,
                               .thin_joint = given->thin_joint,
                               .contraction = given->contraction,
                               .most_growth = given->most_growth,
                               .reach = given->reach};
  memcpy(muscle->joints, given->joints, sizeof muscle->joints);
  memcpy(muscle->points, given->points, sizeof muscle->points);
  sbs_make_profile(given, &muscle->profile);
  sbs_make_squares(&muscle->profile, muscle->squares);
  const double *thin = given->thin_direction;
  const double thin_length = sqrt(thin[0] * thin[0] + thin[1] * thin[1] + thin[2] * thin[2]);
  for (int i = 0; i < 3; i++) muscle->thin_direction[i] = thin_length > 0.0 ? thin[i] / thin_length : 0.0;

  sbs_posed_muscle posed;
  sbs_bezier(muscle->points[0], muscle->point_count, &posed.path);
  const double length = sbs_path_length(&posed.path);
  for (int i = 0; i < 2; i++) muscle->tendons[i] = given->tendons[i] * length;
  muscle->length = length;
  muscle->belly_length = fmax(length - muscle->tendons[0] - muscle->tendons[1], LEAST_BELLY * length);
  sbs_place_belly(muscle, length, muscle->belly_length, &posed);
  muscle->rest_volume = sbs_belly_volume(muscle, &posed);
}

static void find_size_joints(sbs_muscles *muscles) {
  for (size_t m = 0; m < muscles->muscle_count; m++) {
    for (size_t i = 0; i < muscles->muscles[m].point_count && muscles->size_joint_count < SBS_SIZE_JOINTS; i++) {
      const int32_t joint = muscles->muscles[m].joints[i];
      size_t found = 0;
      while (found < muscles->size_joint_count && muscles->size_joints[found] != joint) found++;
      if (found == muscles->size_joint_count) muscles->size_joints[muscles->size_joint_count++] = joint;
    }
  }
}

sbs_status sbs_muscles_new(const sbs_muscles_desc *desc, const sbs_allocator *allocator, sbs_muscles **muscles,
                           sbs_fault *fault) {
  sbs_status status = sbs_check_muscles_desc(desc, fault);
  if (status) return status;
  if (!muscles) return sbs_fault_in(fault, SBS_ERROR_NULL, "muscles");
  sbs_allocator chosen;
  status = sbs_choose_allocator(allocator, &chosen, fault);
  if (status) return status;
  sbs_muscles *made = sbs_allocate(&chosen, 1, sizeof *made);
  if (!made) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  *made = (sbs_muscles){.allocator = chosen,
                        .isa = sbs_choose_isa(),
                        .joint_count = desc->joint_count,
                        .muscle_count = desc->muscle_count,
                        .vertex_count = desc->vertex_count,
                        .has_normals = desc->rest_normals != NULL,
                        .muscles = sbs_allocate(&chosen, desc->muscle_count, sizeof *made->muscles)};
  if (!made->muscles) status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  for (size_t m = 0; m < desc->muscle_count && !status; m++) bind_muscle(desc->muscles + m, made->muscles + m);
  if (!status) find_size_joints(made);
  if (!status && desc->vertex_count) status = sbs_bind_cover(made, desc, fault);
  if (status) {
    sbs_muscles_free(made);
    return status;
  }
  *muscles = made;
  return SBS_OK;
}

void sbs_muscles_free(sbs_muscles *muscles) {
  if (!muscles) return;
  const sbs_allocator allocator = muscles->allocator;
  sbs_release(&allocator, muscles->cover.blocks);
  sbs_release(&allocator, muscles->muscles);
  sbs_release(&allocator, muscles);
}

size_t sbs_muscles_count(const sbs_muscles *muscles) {
  return muscles ? muscles->muscle_count : 0;
}

size_t sbs_muscles_covered(const sbs_muscles *muscles, size_t *counts) {
  if (!muscles) return 0;
  const sbs_cover *cover = &muscles->cover;
  for (size_t m = 0; counts && m < muscles->muscle_count; m++) counts[m] = 0;
  for (size_t i = 0; counts && i < cover->block_count; i++) counts[cover->blocks[i].muscle] += cover->blocks[i].count;
  return cover->vertex_count;
}

sbs_status sbs_muscles_cover_of(const sbs_muscles *muscles, size_t muscle, int32_t *vertices, double *shares,
                                double *rest, sbs_fault *fault) {
  if (!muscles) return sbs_fault_in(fault, SBS_ERROR_NULL, "muscles");
  if (muscle >= muscles->muscle_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "muscle", (double)muscle, (double)muscles->muscle_count);
  }
  for (size_t i = 0, count = 0; i < muscles->cover.block_count; i++) {
    const sbs_cover_block *block = muscles->cover.blocks + i;
    for (size_t k = 0; k < block->count && (size_t)block->muscle == muscle; k++, count++) {
      if (vertices) vertices[count] = block->vertices[k];
      if (shares) shares[count] = (double)block->shares[k];
      if (rest) rest[count] = (double)block->rest[k];
    }
  }
  return SBS_OK;
}

sbs_status sbs_muscles_measure(const sbs_muscles *muscles, const sbs_pose *pose, const double *activations,
                               sbs_muscle_state *states, sbs_fault *fault) {
  const sbs_status status = sbs_check_muscle_pose(muscles, pose, activations, fault);
  if (status) return status;
  if (!states) return sbs_fault_in(fault, SBS_ERROR_NULL, "states");
  const double size = sbs_size_in(muscles, pose);
  for (size_t m = 0; m < muscles->muscle_count; m++) {
    const double activation = activations ? activations[m] : 0.0;
    sbs_posed_muscle posed;
    sbs_pose_muscle(muscles->muscles + m, pose, size, activation, &posed, states + m);
  }
  return SBS_OK;
}
