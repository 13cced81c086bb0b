/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "sbs/heat.h"
#include "sbs/influences.h"

sbs_heat_options sbs_default_heat_options(void) {
  return (sbs_heat_options){.strength = 4.0, .prune = 1e-3, .allocator = sbs_default_allocator()};
}

sbs_influences_diffuse_options sbs_default_influences_diffuse_options(void) {
  return (sbs_influences_diffuse_options){.threshold = 0.01, .allocator = sbs_default_allocator()};
}
