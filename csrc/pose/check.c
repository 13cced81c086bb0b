/* SPDX-License-Identifier: MIT */
#include "pose/check.h"

#include <float.h>
#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"

/* How far the last row of a 4x4 matrix may be from (0, 0, 0, 1): products of float32 matrices leave rounding there. */
#define LAST_ROW_TOLERANCE 1e-5

/*
 * Whether all is well, without a branch, as it is done for every matrix of every frame. 0 x is 0 for every number but
 * NaN and infinity, which no sum loses again. Those beyond `largest` are made infinite first; one next to it may be,
 * too, which find_fault decides. Inlined, for a product with a constant 1 costs nothing. Vectors are of 16
 * bytes, half a row of doubles: longer ones, which SSE2 compares number by number, take three
 * times as long.
 */
#define DEFINE_ALL_ARE_FINE(type, maximum) \
  enum { \
    type##s_of_part = 16 / sizeof(type), \
    parts_of_##type##s = 4 / type##s_of_part \
  }; \
  typedef type part_of_##type##s __attribute__((vector_size(16), aligned(sizeof(type)), may_alias)); \
  static inline __attribute__((always_inline)) int all_##type##s_are_fine(const void *matrices, size_t matrix_count, \
                                                                          size_t rows, type largest) { \
    enum { \
      parts = parts_of_##type##s \
    }; \
    const type last[4] = {0, 0, 0, 1}, scale = maximum / largest; \
    const part_of_##type##s *part = matrices, *of_last = (const part_of_##type##s *)last; \
    part_of_##type##s sums[3 * parts] = {{0}}; \
    __typeof__(sums[0] < sums[0]) off = sums[0] < sums[0]; \
    for (size_t i = 0; i < matrix_count; i++, part += rows * parts) { \
      for (int k = 0; k < 3 * parts; k++) sums[k] += part[k] * scale * (type)0; \
      if (rows == 3) continue; \
      for (int k = 0; k < parts; k++) { \
        const part_of_##type##s apart = part[3 * parts + k] - of_last[k]; \
        off |= ~((apart >= -(type)LAST_ROW_TOLERANCE) & (apart <= (type)LAST_ROW_TOLERANCE)); \
      } \
    } \
    for (int k = 1; k < 3 * parts; k++) sums[0] += sums[k]; \
    int bad = 0; \
    for (int i = 0; i < type##s_of_part; i++) bad |= !(sums[0][i] == 0) | (off[i] != 0); \
    return !bad; \
  }
DEFINE_ALL_ARE_FINE(float, FLT_MAX)
DEFINE_ALL_ARE_FINE(double, DBL_MAX)

static sbs_status find_fault(const sbs_pose *poses, size_t matrix_count, double largest, sbs_fault *fault) {
  const size_t size = 4 * poses->rows;
  for (size_t matrix = 0; matrix < matrix_count; matrix++) {
    for (size_t i = 0; i < size; i++) {
      const double value = sbs_scalar_get(poses->skinning_matrices, poses->scalar, matrix * size + i);
      const sbs_status status = sbs_validate_number(value, largest, "skinning_matrices", matrix, i, fault);
      if (status) return status;
    }
  }
  for (size_t matrix = 0; matrix < matrix_count; matrix++) {
    for (size_t i = 12; i < size; i++) {
      const double value = sbs_scalar_get(poses->skinning_matrices, poses->scalar, matrix * size + i);
      if (!(fabs(value - (i == 15)) <= LAST_ROW_TOLERANCE)) {
        return sbs_fault_at(fault, SBS_ERROR_NOT_AFFINE, "skinning_matrices", matrix, i, value, i == 15);
      }
    }
  }
  return SBS_OK;
}

static inline __attribute__((always_inline)) sbs_status check(const sbs_pose *poses, size_t frame_count,
                                                              size_t joint_count, double largest, sbs_fault *fault) {
  if (!sbs_scalar_is_valid(poses->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)poses->scalar, 0.0);
  }
  if (poses->rows != 3 && poses->rows != 4) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "rows", (double)poses->rows, 4.0);
  }
  if (frame_count && !poses->skinning_matrices) return sbs_fault_in(fault, SBS_ERROR_NULL, "skinning_matrices");

  const size_t size = 4 * poses->rows;
  if (frame_count > SIZE_MAX / sizeof(double) / size / joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "frame_count", (double)frame_count, 0.0);
  }
  const size_t matrix_count = frame_count * joint_count;
  const int fine =
      poses->scalar == SBS_FLOAT32
          ? all_floats_are_fine(poses->skinning_matrices, matrix_count, poses->rows, (float)fmin(largest, FLT_MAX))
          : all_doubles_are_fine(poses->skinning_matrices, matrix_count, poses->rows, largest);
  return fine ? SBS_OK : find_fault(poses, matrix_count, largest, fault);
}

sbs_status sbs_check_poses(const sbs_pose *poses, size_t frame_count, size_t joint_count, sbs_fault *fault) {
  return check(poses, frame_count, joint_count, DBL_MAX, fault);
}

sbs_status sbs_check_bounded_poses(const sbs_pose *poses, size_t frame_count, size_t joint_count, sbs_fault *fault) {
  return check(poses, frame_count, joint_count, SBS_LARGEST, fault);
}
