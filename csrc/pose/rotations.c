/* SPDX-License-Identifier: MIT */
#include "pose/rotations.h"

#include <string.h>

#include "pose/batches.h"
#include "pose/joint.h"

void sbs_read_matrices(const sbs_pose *pose, size_t first, size_t count, double *matrices) {
  const size_t size = 4 * pose->rows;
  if (pose->scalar == SBS_FLOAT32) {
    const float *from = (const float *)pose->skinning_matrices + first * size;
    for (size_t j = 0; j < count; j++, from += size, matrices += 12) {
      for (size_t i = 0; i < 12; i++) matrices[i] = (double)from[i];
    }
  } else {
    const double *from = (const double *)pose->skinning_matrices + first * size;
    for (size_t j = 0; j < count; j++) memcpy(matrices + 12 * j, from + size * j, 12 * sizeof *matrices);
  }
}

sbs_status sbs_find_rotations(sbs_isa isa, const sbs_pose *pose, const int32_t *joints, size_t count,
                              sbs_vec4 *quaternions) {
  double matrices[12 * SBS_MOST_ROTATIONS];
  sbs_joint prepared[SBS_MOST_ROTATIONS];
  unsigned char kinds[SBS_MOST_ROTATIONS];
  for (size_t j = 0; j < count; j++) sbs_read_matrices(pose, (size_t)joints[j], 1, matrices + 12 * j);
  const sbs_joints_args args = {
      .matrices = matrices, .scalar = SBS_FLOAT64, .rows = 3, .joints = prepared, .kinds = kinds};
  sbs_choose_joints_batch(isa)(&args, 0, count);
  for (size_t j = 0; j < count; j++) {
    if (kinds[j] & SBS_JOINT_NONRIGID) {
      sbs_stretch stretch;
      const sbs_status status = sbs_decompose_joint(prepared + j, SBS_JOINT_NONRIGID, &stretch);
      if (status) return status;
    }
    quaternions[j] = prepared[j].quaternion;
  }
  return SBS_OK;
}
