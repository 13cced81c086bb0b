/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_FAULT_H
#define SBS_BASE_FAULT_H

#include "sbs/sbs.h"

/*
 * The functions below fill the optional fault and return the status, so that a check can end in
 * return sbs_fault_at(...).
 */

static inline sbs_status sbs_fault_set(sbs_fault *fault, sbs_status status, const char *argument, int index_count,
                                       size_t row, size_t column, double value, double limit) {
  if (fault) *fault = (sbs_fault){argument, {row, column}, index_count, value, limit};
  return status;
}

/* An argument as a whole. */
static inline sbs_status sbs_fault_in(sbs_fault *fault, sbs_status status, const char *argument) {
  return sbs_fault_set(fault, status, argument, 0, 0, 0, 0.0, 0.0);
}

/* One number, compared with a limit. */
static inline sbs_status sbs_fault_number(sbs_fault *fault, sbs_status status, const char *argument, double value,
                                          double limit) {
  return sbs_fault_set(fault, status, argument, 0, 0, 0, value, limit);
}

/* An element of a matrix-like argument. */
static inline sbs_status sbs_fault_at(sbs_fault *fault, sbs_status status, const char *argument, size_t row,
                                      size_t column, double value, double limit) {
  return sbs_fault_set(fault, status, argument, 2, row, column, value, limit);
}

/* An element, or a whole row, of a list-like argument. */
static inline sbs_status sbs_fault_row(sbs_fault *fault, sbs_status status, const char *argument, size_t row,
                                       double value, double limit) {
  return sbs_fault_set(fault, status, argument, 1, row, 0, value, limit);
}

#endif
