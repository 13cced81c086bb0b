/* SPDX-License-Identifier: MIT */
#include "skin/pack_centers.h"

#include "base/memory.h"
#include "base/scalar.h"

sbs_status sbs_pack_centers(sbs_skin *skin, const sbs_skin_desc *desc) {
  if (!desc->centers) return SBS_OK;
  if (!skin->centers) {
    skin->centers = sbs_skin_allocate(skin, skin->block_count, 3 * SBS_BLOCK * sbs_scalar_size(skin->scalar));
  }
  if (!skin->centers) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    const double *origin = sbs_set_origin(skin, (size_t)skin->groups[item->group].set);
    for (size_t k = 0; k < sbs_item_blocks(item) * SBS_BLOCK; k++) {
      const size_t block = item->first_block + k / SBS_BLOCK, lane = k % SBS_BLOCK;
      const double *center = desc->centers + 3 * (size_t)skin->vertices[block * SBS_BLOCK + lane];
      for (size_t axis = 0; axis < 3; axis++) {
        sbs_scalar_put(skin->centers, skin->scalar, (3 * block + axis) * SBS_BLOCK + lane, center[axis] - origin[axis]);
      }
    }
  }
  return SBS_OK;
}
