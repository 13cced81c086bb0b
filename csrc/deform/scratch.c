/* SPDX-License-Identifier: MIT */
#include "deform/scratch.h"

#include "base/memory.h"
#include "base/scalar.h"
#include "kernels/constants.h"
#include "pose/center.h"

static void *carve(char *memory, size_t *used, size_t count, size_t size) {
  char *part = memory ? memory + *used : NULL;
  *used += sbs_aligned(count * size);
  return part;
}

size_t sbs_lay_out_scratch(const sbs_skin *skin, void *memory, sbs_scratch *scratch) {
  size_t used = 0;
  scratch->joints = carve(memory, &used, skin->joint_count, sizeof *scratch->joints);
  scratch->kinds = carve(memory, &used, skin->joint_count, sizeof *scratch->kinds);
  scratch->stretches = carve(memory, &used, skin->joint_count, sizeof *scratch->stretches);
  scratch->centers = carve(memory, &used, skin->set_count, sizeof *scratch->centers);
  scratch->by_svd = carve(memory, &used, skin->set_count, sizeof *scratch->by_svd);
  scratch->center_work = carve(memory, &used, sbs_center_work_size(skin->max_influences), sizeof(double));
  scratch->slots = carve(memory, &used, sbs_slots_count(skin), sizeof *scratch->slots);
  scratch->constants = carve(memory, &used, sbs_constants_capacity(skin), sbs_scalar_size(skin->scalar));
  scratch->anchors = carve(memory, &used, skin->group_count, 4 * sbs_scalar_size(skin->scalar));
  scratch->ways = carve(memory, &used, skin->group_count, sizeof *scratch->ways);
  sbs_amounts_use *use = &scratch->use;
  *use = (sbs_amounts_use){0};
  use->groups = carve(memory, &used, skin->group_count, sizeof *use->groups);
  for (int i = 0; i < 2; i++) {
    use->solve_orders[i] = carve(memory, &used, skin->solve_count, sizeof *use->solve_orders[i]);
  }
  return used;
}

size_t sbs_skin_scratch_size(const sbs_skin *skin) {
  sbs_scratch unused;
  return skin ? sbs_lay_out_scratch(skin, NULL, &unused) : 0;
}
