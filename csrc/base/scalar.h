/* SPDX-License-Identifier: MIT */
#ifndef SBS_BASE_SCALAR_H
#define SBS_BASE_SCALAR_H

#include <float.h>

#include "sbs/sbs.h"

/* Numbers behind a `void *` whose type is known only at run time. */

static inline int sbs_scalar_is_valid(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 || scalar == SBS_FLOAT64;
}

/* Whether skins of the type can be deformed by this build. */
static inline int sbs_scalar_has_kernels(sbs_scalar scalar) {
#ifdef SBS_FLOAT32_ONLY
  return scalar == SBS_FLOAT32;
#else
  return sbs_scalar_is_valid(scalar);
#endif
}

static inline size_t sbs_scalar_size(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? sizeof(float) : sizeof(double);
}

static inline double sbs_scalar_epsilon(sbs_scalar scalar) {
  return scalar == SBS_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

static inline double sbs_scalar_get(const void *numbers, sbs_scalar scalar, size_t index) {
  return scalar == SBS_FLOAT32 ? (double)((const float *)numbers)[index] : ((const double *)numbers)[index];
}

static inline void sbs_scalar_put(void *numbers, sbs_scalar scalar, size_t index, double value) {
  if (scalar == SBS_FLOAT32) {
    ((float *)numbers)[index] = (float)value;
  } else {
    ((double *)numbers)[index] = value;
  }
}

#endif
