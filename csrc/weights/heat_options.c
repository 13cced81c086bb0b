/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "sbs/heat.h"

sbs_heat_options sbs_default_heat_options(void) {
  return (sbs_heat_options){.strength = 4.0, .prune = 1e-3, .allocator = sbs_default_allocator()};
}
