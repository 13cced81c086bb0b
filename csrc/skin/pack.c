/* SPDX-License-Identifier: MIT */
#include "skin/pack.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "skin/influences.h"

/*
 * The vertices of a tile sorted by pivot group; groups in the order of their first vertex, vertices ascending in each.
 */
typedef struct tile_sorter {
  int32_t *run_of_group; /* (group_count) only what run_groups names is meaningful */
  int32_t *run_groups;   /* (SBS_TILE) group of each run */
  int32_t *run_ends;     /* (SBS_TILE) where each run ends in order */
  int32_t *order;        /* (SBS_TILE) vertices */
  size_t run_count;
} tile_sorter;

static void sort_tile(tile_sorter *sorter, const int32_t *group_of_vertex, size_t begin, size_t end) {
  sorter->run_count = 0;
  for (size_t v = begin; v < end; v++) {
    const int32_t group = group_of_vertex[v];
    size_t run = (size_t)sorter->run_of_group[group];
    if (run >= sorter->run_count || sorter->run_groups[run] != group) {
      run = sorter->run_count++;
      sorter->run_of_group[group] = (int32_t)run;
      sorter->run_groups[run] = group;
      sorter->run_ends[run] = 0;
    }
    sorter->run_ends[run]++;
  }
  int32_t start = 0;
  for (size_t run = 0; run < sorter->run_count; run++) {
    int32_t size = sorter->run_ends[run];
    sorter->run_ends[run] = start;
    start += size;
  }
  for (size_t v = begin; v < end; v++) {
    int32_t run = sorter->run_of_group[group_of_vertex[v]];
    sorter->order[sorter->run_ends[run]++] = (int32_t)v;
  }
}

/* Where the numbers of a vertex stand in the previous skin. */
typedef struct place {
  size_t stream; /* of its x */
  size_t normal; /* the same */
} place;

typedef struct block_packer {
  sbs_skin *skin;
  const sbs_skin_desc *desc;
  sbs_influences influences;
  const sbs_pack_previous *previous; /* or NULL */
  size_t previous_item;              /* the first that belongs to the tile at hand */
  size_t tile_begin;                 /* the first vertex of the tile at hand */
  place *places;                     /* (SBS_TILE) of its vertices; NULL without a previous skin */
} block_packer;

static void put(const sbs_skin *skin, void *numbers, size_t index, double value) {
  sbs_scalar_put(numbers, skin->scalar, index, value);
}

static double get_vector(const void *vectors, size_t stride, sbs_scalar scalar, size_t row, size_t axis) {
  if (!stride) stride = 3 * sbs_scalar_size(scalar);
  return sbs_scalar_get((const char *)vectors + row * stride, scalar, axis);
}

static void pack_position(const block_packer *packer, const sbs_group *group, size_t vertex, size_t at) {
  const sbs_skin_desc *desc = packer->desc;
  const double *origin = sbs_set_origin(packer->skin, (size_t)group->set);
  for (size_t axis = 0; axis < 3; axis++) {
    double x = get_vector(desc->rest_positions, desc->rest_positions_stride, desc->scalar, vertex, axis);
    put(packer->skin, packer->skin->stream, at + axis * SBS_BLOCK, x - origin[axis]);
  }
}

static void pack_weights(block_packer *packer, size_t vertex, size_t at) {
  sbs_influences *influences = &packer->influences;
  sbs_influences_read(packer->desc, 0.0, vertex, influences);
  for (size_t i = 0; i < influences->count; i++) {
    if (i == influences->pivot) continue;
    put(packer->skin, packer->skin->stream, at, influences->weights[i]);
    at += SBS_BLOCK;
  }
}

static void pack_normal(const block_packer *packer, size_t vertex, size_t at) {
  const sbs_skin_desc *desc = packer->desc;
  double n[3], largest = 0.0;
  for (size_t axis = 0; axis < 3; axis++) {
    n[axis] = get_vector(desc->rest_normals, desc->rest_normals_stride, desc->scalar, vertex, axis);
    largest = fmax(largest, fabs(n[axis]));
  }
  if (largest > 0.0) { /* scaled first, so that no square overflows or vanishes */
    for (size_t axis = 0; axis < 3; axis++) n[axis] /= largest;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (size_t axis = 0; axis < 3; axis++) n[axis] /= length;
  }
  for (size_t axis = 0; axis < 3; axis++) put(packer->skin, packer->skin->normals, at + axis * SBS_BLOCK, n[axis]);
}

/* The numbers of one lane, which stand a block apart. */
static void copy_lane(const sbs_skin *skin, void *to, size_t at, const void *from, size_t from_at, size_t count) {
  for (size_t i = 0; i < count; i++) {
    put(skin, to, at + i * SBS_BLOCK, sbs_scalar_get(from, skin->scalar, from_at + i * SBS_BLOCK));
  }
}

/* A vertex in its lane: from the previous skin, what is the same there. */
static void pack_vertex(block_packer *packer, const sbs_group *group, size_t vertex, size_t at, size_t normal_at) {
  sbs_skin *skin = packer->skin;
  const sbs_pack_previous *previous = packer->previous;
  const int same_weights = previous && !previous->changed[vertex];
  const int same_position = same_weights && !previous->moved_sets[group->set];
  const size_t others = sbs_set_others(skin, (size_t)group->set);
  const place from = previous ? packer->places[vertex - packer->tile_begin] : (place){0, 0};

  if (same_position) {
    copy_lane(skin, skin->stream, at, previous->skin->stream, from.stream, 3);
  } else {
    pack_position(packer, group, vertex, at);
  }
  if (same_weights) {
    copy_lane(skin, skin->stream, at + 3 * SBS_BLOCK, previous->skin->stream, from.stream + 3 * SBS_BLOCK, others);
  } else {
    pack_weights(packer, vertex, at + 3 * SBS_BLOCK);
  }
  if (!skin->normals) return;
  if (previous) {
    copy_lane(skin, skin->normals, normal_at, previous->skin->normals, from.normal, 3);
  } else {
    pack_normal(packer, vertex, normal_at);
  }
}

/* One item; lanes past its last vertex repeat that vertex. */
static void pack_item(block_packer *packer, const sbs_item *item, const int32_t *vertices) {
  sbs_skin *skin = packer->skin;
  const sbs_group *group = skin->groups + item->group;
  const size_t block_size = sbs_set_block_size(skin, (size_t)group->set);
  const size_t count = (size_t)item->vertex_count;
  const size_t lanes = sbs_item_blocks(item) * SBS_BLOCK;

  memset(skin->runs + item->first_block, 0, sbs_item_blocks(item) * sizeof *skin->runs);
  for (size_t i = 0; i < lanes; i++) {
    const size_t block = i / SBS_BLOCK, lane = i % SBS_BLOCK;
    const size_t vertex = (size_t)vertices[i < count ? i : count - 1];
    skin->vertices[(item->first_block + block) * SBS_BLOCK + lane] = (int32_t)vertex;
    if (i < count && (lane == 0 || vertices[i] != vertices[i - 1] + 1)) {
      skin->runs[item->first_block + block] |= (uint16_t)(1u << lane);
    }
    pack_vertex(packer, group, vertex, item->stream + block * block_size + lane,
                (item->first_block + block) * 3 * SBS_BLOCK + lane);
  }
}

/* Packs the vertices of a tile, sorted; without a packer it only counts. Returns the numbers of the stream so far. */
static size_t pack_tile(sbs_skin *skin, const tile_sorter *sorter, block_packer *packer, size_t stream) {
  int32_t first = 0;
  for (size_t run = 0; run < sorter->run_count; run++) {
    const int32_t group = sorter->run_groups[run];
    const size_t block_size = sbs_set_block_size(skin, (size_t)skin->groups[group].set);
    while (first < sorter->run_ends[run]) {
      int32_t count = sorter->run_ends[run] - first;
      if (count > SBS_BLOCK * SBS_ITEM_BLOCKS) count = SBS_BLOCK * SBS_ITEM_BLOCKS;
      const sbs_item item = {group, count, skin->block_count, stream};
      if (packer) {
        skin->items[skin->item_count] = item;
        pack_item(packer, &item, sorter->order + first);
      }
      const size_t blocks = sbs_item_blocks(&item);
      skin->item_count++;
      skin->block_count += blocks;
      stream += blocks * block_size;
      first += count;
    }
  }
  return stream;
}

/* ------------------------------------------------------------------------------------- tiles of the previous skin */

static size_t first_vertex(const sbs_skin *skin, const sbs_item *item) {
  return (size_t)skin->vertices[item->first_block * SBS_BLOCK];
}

/* The item after the last of a tile that ends at a vertex. */
static size_t end_of_tile(const sbs_skin *skin, size_t item, size_t vertex_end) {
  while (item < skin->item_count && first_vertex(skin, skin->items + item) < vertex_end) item++;
  return item;
}

/* Notes where the vertices of a tile stood. */
static void find_places(block_packer *packer, size_t item_end) {
  const sbs_skin *skin = packer->previous->skin;
  for (size_t i = packer->previous_item; i < item_end; i++) {
    const sbs_item *item = skin->items + i;
    const size_t block_size = sbs_set_block_size(skin, (size_t)skin->groups[item->group].set);
    for (size_t k = 0; k < (size_t)item->vertex_count; k++) {
      const size_t block = k / SBS_BLOCK, lane = k % SBS_BLOCK;
      const size_t vertex = (size_t)skin->vertices[(item->first_block + block) * SBS_BLOCK + lane];
      packer->places[vertex - packer->tile_begin] =
          (place){item->stream + block * block_size + lane, (item->first_block + block) * 3 * SBS_BLOCK + lane};
    }
  }
}

/* Packs the positions of an item anew that was copied: its set has another centroid. */
static void move_item(const block_packer *packer, const sbs_item *item) {
  const sbs_skin *skin = packer->skin;
  const sbs_group *group = skin->groups + item->group;
  const size_t block_size = sbs_set_block_size(skin, (size_t)group->set);
  for (size_t i = 0; i < sbs_item_blocks(item) * SBS_BLOCK; i++) {
    const size_t vertex = (size_t)skin->vertices[item->first_block * SBS_BLOCK + i];
    pack_position(packer, group, vertex, item->stream + i / SBS_BLOCK * block_size + i % SBS_BLOCK);
  }
}

/*
 * Takes over the items of a tile in which no vertex has changed; without a packer it only counts. Returns as pack_tile.
 */
static size_t copy_tile(sbs_skin *skin, const sbs_skin *from, size_t item, size_t item_end,
                        const int32_t *group_of_vertex, block_packer *packer, size_t stream) {
  const size_t size = sbs_scalar_size(skin->scalar);
  const sbs_item *last = from->items + item_end - 1;
  const size_t first_block = from->items[item].first_block, first_stream = from->items[item].stream;
  const size_t blocks = last->first_block + sbs_item_blocks(last) - first_block;
  const size_t numbers = last->stream - first_stream +
                         sbs_item_blocks(last) * sbs_set_block_size(from, (size_t)from->groups[last->group].set);
  if (packer) {
    memcpy((char *)skin->stream + stream * size, (const char *)from->stream + first_stream * size, numbers * size);
    memcpy(skin->vertices + skin->block_count * SBS_BLOCK, from->vertices + first_block * SBS_BLOCK,
           blocks * SBS_BLOCK * sizeof *skin->vertices);
    memcpy(skin->runs + skin->block_count, from->runs + first_block, blocks * sizeof *skin->runs);
    if (skin->normals) {
      memcpy((char *)skin->normals + skin->block_count * 3 * SBS_BLOCK * size,
             (const char *)from->normals + first_block * 3 * SBS_BLOCK * size, blocks * 3 * SBS_BLOCK * size);
    }
    for (size_t i = item; i < item_end; i++) {
      const sbs_item *old = from->items + i;
      sbs_item *made = skin->items + skin->item_count + (i - item);
      *made = (sbs_item){group_of_vertex[first_vertex(from, old)], old->vertex_count,
                         skin->block_count + (old->first_block - first_block), stream + (old->stream - first_stream)};
      if (packer->previous->moved_sets[skin->groups[made->group].set]) move_item(packer, made);
    }
  }
  skin->item_count += item_end - item;
  skin->block_count += blocks;
  return stream + numbers;
}

/* -------------------------------------------------------------------------------------------------------- all tiles */

/* Goes over all tiles; where it shall only count items, blocks and the numbers of the stream, the packer is told so. */
static sbs_status walk_tiles(block_packer *packer, const int32_t *group_of_vertex, tile_sorter *sorter, int only_count,
                             size_t *numbers) {
  sbs_skin *skin = packer->skin;
  const sbs_pack_previous *previous = packer->previous;
  size_t stream = 0;
  skin->item_count = 0;
  skin->block_count = 0;
  packer->previous_item = 0;
  for (size_t begin = 0; begin < skin->vertex_count; begin += SBS_TILE) {
    const sbs_status status = sbs_tell((double)begin / (double)skin->vertex_count);
    if (status) return status;
    const size_t end = begin + SBS_TILE < skin->vertex_count ? begin + SBS_TILE : skin->vertex_count;
    const size_t item_end = previous ? end_of_tile(previous->skin, packer->previous_item, end) : 0;
    if (previous && !memchr(previous->changed + begin, 1, end - begin)) {
      stream = copy_tile(skin, previous->skin, packer->previous_item, item_end, group_of_vertex,
                         only_count ? NULL : packer, stream);
    } else {
      packer->tile_begin = begin;
      if (previous && !only_count) find_places(packer, item_end);
      sort_tile(sorter, group_of_vertex, begin, end);
      stream = pack_tile(skin, sorter, only_count ? NULL : packer, stream);
    }
    packer->previous_item = item_end;
  }
  *numbers = stream;
  return SBS_OK;
}

sbs_status sbs_pack(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *group_of_vertex,
                    const sbs_pack_previous *previous) {
  const sbs_allocator *allocator = &skin->allocator;
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  tile_sorter sorter = {
      .run_of_group = sbs_allocate(allocator, skin->group_count, sizeof *sorter.run_of_group),
      .run_groups = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.run_groups),
      .run_ends = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.run_ends),
      .order = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.order),
  };
  block_packer packer = {
      .skin = skin,
      .desc = desc,
      .influences.joints = sbs_allocate(allocator, desc->influences_per_vertex, sizeof *packer.influences.joints),
      .influences.weights = sbs_allocate(allocator, desc->influences_per_vertex, sizeof *packer.influences.weights),
      .previous = previous,
      .places = previous ? sbs_allocate(allocator, SBS_TILE, sizeof *packer.places) : NULL,
  };
  if (!sorter.run_of_group || !sorter.run_groups || !sorter.run_ends || !sorter.order) goto cleanup;
  if (!packer.influences.joints || !packer.influences.weights || (previous && !packer.places)) goto cleanup;
  memset(sorter.run_of_group, 0, skin->group_count * sizeof *sorter.run_of_group);

  size_t stream;
  status = walk_tiles(&packer, group_of_vertex, &sorter, 1, &stream);
  if (status) goto cleanup;
  const size_t size = sbs_scalar_size(skin->scalar);
  skin->items = sbs_skin_allocate(skin, skin->item_count, sizeof *skin->items);
  skin->vertices = sbs_skin_allocate(skin, skin->block_count, SBS_BLOCK * sizeof *skin->vertices);
  skin->runs = sbs_skin_allocate(skin, skin->block_count, sizeof *skin->runs);
  skin->stream = sbs_skin_allocate(skin, stream, size);
  if (desc->rest_normals) skin->normals = sbs_skin_allocate(skin, skin->block_count, 3 * SBS_BLOCK * size);
  if (!skin->items || !skin->vertices || !skin->runs || !skin->stream || (desc->rest_normals && !skin->normals)) {
    status = SBS_ERROR_OUT_OF_MEMORY;
    goto cleanup;
  }

  status = walk_tiles(&packer, group_of_vertex, &sorter, 0, &stream);

cleanup:
  sbs_release(allocator, sorter.run_of_group);
  sbs_release(allocator, sorter.run_groups);
  sbs_release(allocator, sorter.run_ends);
  sbs_release(allocator, sorter.order);
  sbs_release(allocator, packer.influences.joints);
  sbs_release(allocator, packer.influences.weights);
  sbs_release(allocator, packer.places);
  return status;
}

void sbs_pack_positions(sbs_skin *skin, const sbs_skin_desc *desc) {
  const block_packer packer = {.skin = skin, .desc = desc};
  for (size_t i = 0; i < skin->item_count; i++) move_item(&packer, skin->items + i);
}
