/* SPDX-License-Identifier: MIT */
#include "pose/batches.h"

#define JOINTS_BATCH(constant, name) sbs_prepare_joints_##name,
#define CENTERS_BATCH(constant, name) sbs_find_centers_##name,

sbs_joints_batch *sbs_choose_joints_batch(sbs_isa isa) {
  static sbs_joints_batch *const batches[] = {SBS_EACH_ISA(JOINTS_BATCH)};
  return batches[isa];
}

sbs_centers_batch *sbs_choose_centers_batch(sbs_isa isa) {
  static sbs_centers_batch *const batches[] = {SBS_EACH_ISA(CENTERS_BATCH)};
  return batches[isa];
}
