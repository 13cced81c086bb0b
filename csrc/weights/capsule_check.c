/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "weights/capsule_falloff.h"
#include "weights/capsules.h"

static sbs_status check_radii(const double *inner, const double *outer, size_t count, sbs_fault *fault) {
  for (size_t j = 0; j < count; j++) {
    for (size_t end = 0; end < 2; end++) {
      const double r_inner = inner[2 * j + end], r_outer = outer[2 * j + end];
      if (!isfinite(r_inner)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "inner_radii", j, end, r_inner, 0.0);
      if (!isfinite(r_outer)) return sbs_fault_at(fault, SBS_ERROR_NOT_FINITE, "outer_radii", j, end, r_outer, 0.0);
      if (r_inner < 0.0) return sbs_fault_at(fault, SBS_ERROR_NEGATIVE, "inner_radii", j, end, r_inner, 0.0);
      if (r_outer < 0.0) return sbs_fault_at(fault, SBS_ERROR_NEGATIVE, "outer_radii", j, end, r_outer, 0.0);
      if (r_inner > r_outer) return sbs_fault_at(fault, SBS_ERROR_RADIUS, "inner_radii", j, end, r_inner, r_outer);
    }
  }
  return SBS_OK;
}

static sbs_status check_multipliers(const double *multipliers, size_t count, sbs_fault *fault) {
  for (size_t j = 0; j < count; j++) {
    if (!isfinite(multipliers[j])) {
      return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "multipliers", j, multipliers[j], 0.0);
    }
    if (multipliers[j] < 0.0) return sbs_fault_row(fault, SBS_ERROR_NEGATIVE, "multipliers", j, multipliers[j], 0.0);
  }
  return SBS_OK;
}

static sbs_status check_falloffs(const int32_t *falloffs, size_t count, sbs_fault *fault) {
  for (size_t j = 0; j < count; j++) {
    if (falloffs[j] != -1 && !sbs_falloff_is_valid((sbs_capsules_falloff)falloffs[j])) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "falloffs", j, (double)falloffs[j], 0.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_capsules_check(const sbs_capsules *capsules, sbs_fault *fault) {
  if (!capsules) return sbs_fault_in(fault, SBS_ERROR_NULL, "capsules");
  if (!capsules->heads) return sbs_fault_in(fault, SBS_ERROR_NULL, "heads");
  if (!capsules->tails) return sbs_fault_in(fault, SBS_ERROR_NULL, "tails");
  if (!capsules->inner_radii) return sbs_fault_in(fault, SBS_ERROR_NULL, "inner_radii");
  if (!capsules->outer_radii) return sbs_fault_in(fault, SBS_ERROR_NULL, "outer_radii");
  const size_t count = capsules->capsule_count;
  if (!count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "capsule_count");
  if (count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "capsule_count", (double)count, (double)INT32_MAX);
  }
  sbs_status status = sbs_validate_vectors(capsules->heads, 0, SBS_FLOAT64, count, "heads", "heads", fault);
  if (status) return status;
  status = sbs_validate_vectors(capsules->tails, 0, SBS_FLOAT64, count, "tails", "tails", fault);
  if (status) return status;
  status = check_radii(capsules->inner_radii, capsules->outer_radii, count, fault);
  if (status) return status;
  if (capsules->multipliers) status = check_multipliers(capsules->multipliers, count, fault);
  if (!status && capsules->falloffs) status = check_falloffs(capsules->falloffs, count, fault);
  return status;
}
