/* SPDX-License-Identifier: MIT */
/* Meshes, influences, skeletons, poses and options out of bytes: mostly without fault, so that calls come far. */
#ifndef SBS_TESTS_FUZZ_THINGS_H
#define SBS_TESTS_FUZZ_THINGS_H

#include <sbs/influences.h>
#include <sbs/mesh.h>
#include <sbs/sbs.h>
#include <sbs/twist.h>

#include "fuzz.h"

/* Errors of sbs_skin_new and sbs_skin_update. */
#define FUZZ_BIND_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(NOT_FINITE) | \
   FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(PARENT) | FUZZ_ERROR(WEIGHT) | FUZZ_ERROR(OUT_OF_MEMORY))

/* Errors of functions that pose a skin, but for defects and errors that no known input causes. */
#define FUZZ_POSE_ERRORS \
  (FUZZ_ERROR(OPTION) | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(NOT_AFFINE) | \
   FUZZ_ERROR(OUT_OF_MEMORY) | FUZZ_ERROR(SCRATCH))

/* Errors of functions of a mesh. */
#define FUZZ_MESH_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(NOT_FINITE) | \
   FUZZ_ERROR(VERTEX_INDEX) | FUZZ_ERROR(OUT_OF_MEMORY))

sbs_scalar fuzz_scalar(fuzz_input *in);

/* How many: few, rarely none, rarely more than a block of vertices holds. */
size_t fuzz_count(fuzz_input *in, size_t most);

/* 1 or 2, or any number where the bytes ask for a fault. */
int fuzz_threads(fuzz_input *in);

/* Bytes between rows. */
size_t fuzz_gap(fuzz_input *in, sbs_scalar scalar);

/* Has skins that are made from now on use any instruction set. */
void fuzz_choose_instruction_set(fuzz_input *in);

sbs_skin_desc fuzz_skin_desc(fuzz_input *in);
sbs_skin_options fuzz_skin_options(fuzz_input *in);

/* A skin of an input without faults of its own; NULL where it had one. */
sbs_skin *fuzz_skin(fuzz_input *in, sbs_skin_desc *desc);

sbs_pose fuzz_pose(fuzz_input *in, size_t joint_count, size_t frame_count);

/* Mostly 1; else so large or small that squares, products or quotients can't be represented, or just can. */
double fuzz_size(fuzz_input *in);

/* A pose of which some or all numbers are that many times as large. */
sbs_pose fuzz_extreme_pose(fuzz_input *in, size_t joint_count, size_t frame_count);

/* Has one of the next allocations fail, for half of all inputs. */
void fuzz_fail_soon(fuzz_input *in);

/* How many numbers are not finite. */
size_t fuzz_count_not_finite(const void *numbers, size_t count, sbs_scalar scalar);
sbs_deform_options fuzz_deform_options(fuzz_input *in, const sbs_skin *skin);

/* Bytes of (F, V, 3) with a stride, of the skin's scalar type, to the end of the last row. */
size_t fuzz_extent(const sbs_skin *skin, size_t stride, size_t frame_count);

sbs_mesh_desc fuzz_mesh(fuzz_input *in, size_t vertex_count);
sbs_influences_table fuzz_table(fuzz_input *in, size_t vertex_count);

/* A twist of one bone, that of joint 0, of a mesh of such a size; NULL if it cannot be made. */
sbs_twist *fuzz_twist_of_a_bone(fuzz_input *in, size_t joints, double size);

#endif
