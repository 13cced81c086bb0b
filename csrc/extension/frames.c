/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <string.h>

#include "errors.h"
#include "pose_arguments.h"

int core_check_frames(const core_array *matrices, size_t joint_count) {
  const npy_intp *shape = PyArray_DIMS(matrices->array);
  char expected[80];

  if (shape[3] == 4 && (shape[2] == 3 || shape[2] == 4) && (size_t)shape[1] == joint_count) return 1;
  PyOS_snprintf(expected, sizeof expected, "(F, %zu, 4, 4) or (F, %zu, 3, 4)", joint_count, joint_count);
  core_raise_shape(matrices, expected);
  return 0;
}

sbs_pose core_pose_of_frame(const core_array *matrices, npy_intp frame) {
  const size_t size = (size_t)(PyArray_NBYTES(matrices->array) / PyArray_DIM(matrices->array, 0));
  sbs_pose pose = core_pose_of(matrices->array);

  pose.skinning_matrices = PyArray_BYTES(matrices->array) + (size_t)frame * size;
  return pose;
}

void core_raise_in_frame(const core_state *state, const core_array *matrices, npy_intp frame, sbs_status status,
                         sbs_fault *fault) {
  const int in_matrices = fault->argument != NULL && strcmp(fault->argument, "skinning_matrices") == 0;

  if (in_matrices) fault->index[0] += (size_t)(frame * PyArray_DIM(matrices->array, 1));
  core_raise(state, status, fault, in_matrices ? PyArray_DIMS(matrices->array) : NULL);
}
