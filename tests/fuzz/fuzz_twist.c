/* SPDX-License-Identifier: MIT */
/* Twists of any bones and poses: finite frames and gradients, or nothing written. */
#include <math.h>
#include <sbs/twist.h>
#include <string.h>

#include "things.h"

#define NEW_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(TOO_LARGE) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(JOINT_INDEX) | FUZZ_ERROR(PARENT) | \
   FUZZ_ERROR(OPTION) | FUZZ_ERROR(OUT_OF_MEMORY))
#define TWIST_ERRORS (FUZZ_POSE_ERRORS | FUZZ_ERROR(TOO_LARGE))
#define INFLUENCES_ERRORS \
  (FUZZ_ERROR(EMPTY) | FUZZ_ERROR(OPTION) | FUZZ_ERROR(STRIDE) | FUZZ_ERROR(NOT_FINITE) | FUZZ_ERROR(JOINT_INDEX))

static double *reals(fuzz_input *in, size_t count, double low, double high) {
  const double size = fuzz_size(in);
  return fuzz_reals(in, count, SBS_FLOAT64, low * size, high * size);
}

static sbs_twist *make(fuzz_input *in, size_t joints, size_t bones) {
  sbs_twist_desc desc = sbs_default_twist_desc();
  sbs_twist *twist = NULL;
  desc.joint_count = joints;
  desc.bone_count = bones;
  int32_t *own = fuzz_room(in, bones * sizeof *own);
  for (size_t b = 0; b < bones; b++) own[b] = fuzz_rarely(in) ? (int32_t)fuzz_below(in, 300) : (int32_t)b;
  desc.joints = own;
  desc.parents = fuzz_indices(in, bones, -1, joints);
  if (fuzz_byte(in) & 1) desc.children = fuzz_indices(in, bones, -1, joints);
  desc.heads = reals(in, 3 * bones, -2.0, 2.0);
  desc.tails = reals(in, 3 * bones, -2.0, 2.0);
  desc.frames_per_bone = fuzz_byte(in) % 6;
  desc.smooth = (int)fuzz_byte(in) & 1;
  const sbs_allocator allocator = fuzz_allocator(in);
  sbs_fault fault = {0};
  const sbs_status status = sbs_twist_new(&desc, &allocator, &twist, &fault);
  fuzz_check_status(status, NEW_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (twist != NULL));
  return twist;
}

static void check_written(sbs_status status, const double *numbers, size_t count) {
  if (status == SBS_OK) {
    FUZZ_CHECK(fuzz_count_not_finite(numbers, count, SBS_FLOAT64) == 0);
  } else {
    FUZZ_CHECK(fuzz_is_untouched(numbers, count * sizeof *numbers));
  }
}

static void pose(fuzz_input *in, const sbs_twist *twist, size_t joints, size_t bones) {
  const sbs_pose given = fuzz_extreme_pose(in, joints, 1);
  const size_t all = sbs_twist_joint_count(twist);
  double *angles = fuzz_room(in, 2 * bones * sizeof *angles), *matrices = fuzz_room(in, 12 * all * sizeof *matrices);
  const double *previous = fuzz_byte(in) & 1 ? reals(in, 2 * bones, -8.0, 8.0) : NULL;
  sbs_fault fault = {0};
  sbs_status status = sbs_twist_angles(twist, &given, previous, angles, &fault);
  fuzz_check_status(status, TWIST_ERRORS, &fault);
  check_written(status, angles, 2 * bones);
  fault = (sbs_fault){0};
  status = sbs_twist_pose(twist, &given, previous, matrices, &fault);
  fuzz_check_status(status, TWIST_ERRORS, &fault);
  check_written(status, matrices, 12 * all);
}

static void find_influences(fuzz_input *in, const sbs_twist *twist, size_t joints) {
  const size_t vertices = fuzz_count(in, 24), width = fuzz_count(in, 4), count = vertices * width;
  const sbs_scalar scalar = fuzz_scalar(in), weight_scalar = fuzz_scalar(in);
  const double size = scalar == SBS_FLOAT64 ? fuzz_size(in) : 1.0;
  const void *rest = fuzz_reals(in, 3 * vertices, scalar, -2.0 * size, 2.0 * size);
  const int32_t *indices = fuzz_indices(in, count, 0, joints);
  const void *weights = fuzz_reals(in, count, weight_scalar, 0.0, 1.0);
  const double *shares = fuzz_byte(in) & 1 ? fuzz_reals(in, count, SBS_FLOAT64, 0.0, 1.0) : NULL;
  int32_t *new_indices = fuzz_room(in, 2 * count * sizeof *new_indices);
  double *new_weights = fuzz_room(in, 2 * count * sizeof *new_weights);
  sbs_fault fault = {0};
  sbs_status status = sbs_twist_influences(twist, vertices, scalar, rest, 0, width, indices, weight_scalar, weights,
                                           shares, new_indices, new_weights, &fault);
  fuzz_check_status(status, INFLUENCES_ERRORS, &fault);
  if (status != SBS_OK) {
    FUZZ_CHECK(fuzz_is_untouched(new_indices, 2 * count * sizeof *new_indices));
    FUZZ_CHECK(fuzz_is_untouched(new_weights, 2 * count * sizeof *new_weights));
    return;
  }
  const size_t all = sbs_twist_joint_count(twist);
  for (size_t i = 0; i < 2 * count; i++) FUZZ_CHECK(new_indices[i] >= 0 && (size_t)new_indices[i] < all);
}

static void bind_and_deform(fuzz_input *in, const sbs_twist *twist, size_t joints, size_t bones) {
  sbs_skin_desc desc = fuzz_skin_desc(in);
  sbs_skin_options options = fuzz_skin_options(in);
  sbs_skin *skin = NULL;
  sbs_fault fault = {0};
  if (desc.joint_count >= joints && !fuzz_rarely(in)) {
    desc.joint_count = joints; /* whose arrays are long enough */
    for (size_t i = 0; i < desc.vertex_count * desc.influences_per_vertex; i++) {
      int32_t *index = (int32_t *)(uintptr_t)desc.joint_indices + i;
      if (*index >= (int32_t)joints) *index %= (int32_t)joints;
    }
  }
  desc.twist = twist;
  fuzz_fail_soon(in);
  sbs_status status = sbs_skin_new(&desc, &options, &skin, NULL, &fault);
  fuzz_check_status(status, FUZZ_BIND_ERRORS, &fault);
  FUZZ_CHECK((status == SBS_OK) == (skin != NULL));
  if (!skin) return;
  in->fail_at = SIZE_MAX;
  const size_t frames = fuzz_byte(in) % 3;
  sbs_pose poses = fuzz_extreme_pose(in, joints, frames);
  poses.twist_angles = fuzz_byte(in) & 1 ? reals(in, 2 * bones * frames, -8.0, 8.0) : NULL;
  sbs_deform_options by = sbs_default_deform_options();
  by.method = (sbs_method)(fuzz_byte(in) & 3);
  const size_t size = frames * desc.vertex_count * 3 * (desc.scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double));
  void *positions = fuzz_room(in, size);
  fault = (sbs_fault){0};
  fuzz_fail_soon(in);
  status = sbs_skin_deform_many(skin, frames, &poses, &by, positions, NULL, NULL, &fault);
  fuzz_check_status(status, TWIST_ERRORS, &fault);
  if (status != SBS_OK) FUZZ_CHECK(fuzz_is_untouched(positions, size));
  sbs_skin_free(skin);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz_input in = fuzz_open(bytes, size);
  const unsigned what = fuzz_byte(&in) % 5;
  const size_t joints = 1 + fuzz_byte(&in) % 8, bones = 1 + fuzz_byte(&in) % 4;
  sbs_twist *twist = make(&in, joints, bones);
  if (twist) {
    switch (what) {
      case 0:
      case 2: bind_and_deform(&in, twist, joints, bones); break;
      case 1: find_influences(&in, twist, joints); break;
      default: pose(&in, twist, joints, bones);
    }
  }
  sbs_twist_free(twist);
  fuzz_close(&in);
  return 0;
}
