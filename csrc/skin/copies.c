/* SPDX-License-Identifier: MIT */
#include "skin/copies.h"

/* Appends what copies a run of vertices from a lane on; without arrays it only counts. */
static void add_run(sbs_copies *copies, size_t counts[SBS_COPY_SIZES], size_t lane, size_t length) {
  for (size_t k = 0; k < SBS_COPY_SIZES; k++) {
    const size_t size = sbs_copy_size(k);
    for (; length >= size; length -= size, lane += size) {
      if (copies->lanes[k]) copies->lanes[k][counts[k]] = (uint32_t)lane;
      counts[k]++;
    }
  }
}

static void add_block(const sbs_skin *skin, sbs_copies *copies, size_t counts[SBS_COPY_SIZES], size_t block,
                      size_t vertex_count) {
  const unsigned runs = skin->runs[block];
  for (size_t begin = 0, end; begin < vertex_count && runs; begin = end) {
    for (end = begin + 1; end < vertex_count && !(runs >> end & 1);) end++;
    add_run(copies, counts, block * SBS_BLOCK + begin, end - begin);
  }
}

/* Goes over all blocks, which are those of the items one after the other. */
static void add_blocks(const sbs_skin *skin, sbs_copies *copies, size_t counts[SBS_COPY_SIZES]) {
  for (const sbs_item *item = skin->items; item < skin->items + skin->item_count; item++) {
    for (size_t i = 0; i < sbs_item_blocks(item); i++) {
      const size_t rest = (size_t)item->vertex_count - i * SBS_BLOCK, block = item->first_block + i;
      for (size_t k = 0; k < SBS_COPY_SIZES && copies->starts[k]; k++) copies->starts[k][block] = (uint32_t)counts[k];
      add_block(skin, copies, counts, block, rest < SBS_BLOCK ? rest : SBS_BLOCK);
    }
  }
}

sbs_status sbs_list_copies(sbs_skin *skin) {
  size_t counts[SBS_COPY_SIZES] = {0}, ends[SBS_COPY_SIZES] = {0};
  add_blocks(skin, &skin->copies, counts);
  for (size_t k = 0; k < SBS_COPY_SIZES; k++) {
    skin->copies.lanes[k] = sbs_skin_allocate(skin, counts[k], sizeof *skin->copies.lanes[k]);
    skin->copies.starts[k] = sbs_skin_allocate(skin, skin->block_count + 1, sizeof *skin->copies.starts[k]);
    if (!skin->copies.lanes[k] || !skin->copies.starts[k]) return SBS_ERROR_OUT_OF_MEMORY;
    skin->copies.starts[k][skin->block_count] = (uint32_t)counts[k];
  }
  add_blocks(skin, &skin->copies, ends);
  return SBS_OK;
}
