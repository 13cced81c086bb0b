/* SPDX-License-Identifier: MIT */
#include "base/arguments.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"

sbs_status sbs_validate_vectors(const void *vectors, size_t stride, sbs_scalar scalar, size_t count, const char *name,
                                const char *stride_name, sbs_fault *fault) {
  const size_t row = 3 * sbs_scalar_size(scalar);
  if (!stride) stride = row;
  if (stride < row || stride % sbs_scalar_size(scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_STRIDE, stride_name, (double)stride, (double)row);
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t axis = 0; axis < 3; axis++) {
      double value = sbs_scalar_get((const char *)vectors + i * stride, scalar, axis);
      if (!isfinite(value)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, name, i, axis, value, 0.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_validate_number(double number, double largest, const char *name, size_t row, size_t column,
                               sbs_fault *fault) {
  if (fabs(number) <= largest) return SBS_OK;
  return isfinite(number) ? sbs_fault_at(fault, SBS_ERROR_TOO_LARGE, name, row, column, number, largest)
                          : sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, name, row, column, number, 0.0);
}

sbs_status sbs_validate_numbers(const double *numbers, size_t rows, size_t columns, const char *name,
                                sbs_fault *fault) {
  for (size_t i = 0; i < rows * columns; i++) {
    if (fabs(numbers[i]) <= SBS_LARGEST) continue;
    return sbs_validate_number(numbers[i], SBS_LARGEST, name, i / columns, i % columns, fault);
  }
  return SBS_OK;
}

sbs_status sbs_validate_parents(const int32_t *parents, size_t joint_count, const sbs_allocator *allocator,
                                sbs_fault *fault) {
  for (size_t j = 0; j < joint_count; j++) {
    if (parents[j] < -1 || parents[j] >= (int32_t)joint_count) {
      return sbs_fault_row(fault, SBS_ERROR_PARENT, "parents", j, parents[j], (double)joint_count);
    }
  }

  /* Walk up from each joint and stamp the joints on the path with its number. Meeting that number again is a cycle. */
  int32_t *stamps = sbs_allocate(allocator, joint_count, sizeof *stamps);
  if (!stamps) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memset(stamps, -1, joint_count * sizeof *stamps);
  sbs_status status = SBS_OK;
  for (size_t j = 0; j < joint_count && !status; j++) {
    int32_t joint = (int32_t)j;
    while (joint >= 0 && stamps[joint] < 0) {
      stamps[joint] = (int32_t)j;
      joint = parents[joint];
    }
    if (joint >= 0 && stamps[joint] == (int32_t)j) {
      status = sbs_fault_row(fault, SBS_ERROR_PARENT, "parents", (size_t)joint, parents[joint], (double)joint_count);
    }
  }
  sbs_release(allocator, stamps);
  return status;
}

sbs_status sbs_choose_allocator(const sbs_allocator *given, sbs_allocator *chosen, sbs_fault *fault) {
  *chosen = given ? *given : sbs_default_allocator();
  if (!chosen->allocate) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.allocate");
  if (!chosen->release) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.release");
  return SBS_OK;
}
