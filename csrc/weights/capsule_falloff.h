/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_CAPSULE_FALLOFF_H
#define SBS_WEIGHTS_CAPSULE_FALLOFF_H

#include "sbs/capsules.h"

static inline int sbs_falloff_is_valid(sbs_capsules_falloff falloff) {
  return (int)falloff >= SBS_CAPSULES_FALLOFF_LINEAR && falloff <= SBS_CAPSULES_FALLOFF_QUADRATIC;
}

/*
 * The fall-off f of a capsule at x = (d - r_1) / (r_2 - r_1) in [0, 1]: the lecture's f(x) = 1 - x, or one of the
 * others in sbs/capsules.h.
 */
static inline double sbs_falloff_at(sbs_capsules_falloff falloff, double x) {
  switch (falloff) {
    case SBS_CAPSULES_FALLOFF_SMOOTH: return (1.0 - x) * (1.0 - x) * (1.0 + 2.0 * x);
    case SBS_CAPSULES_FALLOFF_QUADRATIC: return (1.0 - x) * (1.0 - x);
    default: return 1.0 - x;
  }
}

#endif
