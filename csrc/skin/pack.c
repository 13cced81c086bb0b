/* SPDX-License-Identifier: MIT */
#include "skin/pack.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "skin/copies.h"
#include "skin/influences.h"

/*
 * The vertices of a tile sorted by group; groups by the size of their set, then in the order of their first vertex.
 * Vertices of a group are sorted by their heaviest joint, so that most blocks have only one, and ascend among those
 * that have the same.
 */
typedef struct tile_sorter {
  const int32_t *group_of_vertex, *heaviest; /* as of sbs_pack */
  int32_t *run_of_group;                     /* (group_count) only what run_groups names is meaningful */
  int32_t *run_groups;                       /* (SBS_TILE) group of each run, in the order of their first vertex */
  int32_t *run_ends;                         /* (SBS_TILE) where each run ends in order */
  int32_t *size_ends;                        /* (max_influences + 1) where each size of sets ends in order */
  int32_t *by_heaviest;                      /* (SBS_TILE) vertices sorted by their heaviest joint's index alone */
  int32_t *order;                            /* (SBS_TILE) vertices */
  size_t run_count;
} tile_sorter;

/* The first of two stable sorts. */
static void sort_by_heaviest(const tile_sorter *sorter, const sbs_skin *skin, size_t begin, size_t end) {
  int32_t *ends = sorter->size_ends, start = 0;
  memset(ends, 0, (skin->max_influences + 1) * sizeof *ends);
  for (size_t v = begin; v < end; v++) ends[sorter->heaviest[v]]++;
  for (size_t i = 0; i <= skin->max_influences; i++) {
    const int32_t count = ends[i];
    ends[i] = start;
    start += count;
  }
  for (size_t v = begin; v < end; v++) sorter->by_heaviest[ends[sorter->heaviest[v]]++] = (int32_t)v;
}

static void sort_tile(tile_sorter *sorter, const sbs_skin *skin, size_t begin, size_t end) {
  const int32_t *group_of_vertex = sorter->group_of_vertex;
  sort_by_heaviest(sorter, skin, begin, end);
  sorter->run_count = 0;
  memset(sorter->size_ends, 0, (skin->max_influences + 1) * sizeof *sorter->size_ends);
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
  for (size_t run = 0; run < sorter->run_count; run++) {
    sorter->size_ends[skin->groups[sorter->run_groups[run]].others] += sorter->run_ends[run];
  }
  for (size_t size = 0, start = 0; size <= skin->max_influences; size++) {
    const int32_t count = sorter->size_ends[size];
    sorter->size_ends[size] = (int32_t)start;
    start += (size_t)count;
  }
  for (size_t run = 0; run < sorter->run_count; run++) {
    int32_t *start = sorter->size_ends + skin->groups[sorter->run_groups[run]].others;
    const int32_t count = sorter->run_ends[run];
    sorter->run_ends[run] = *start;
    *start += count;
  }
  for (size_t i = 0; i < end - begin; i++) {
    const int32_t v = sorter->by_heaviest[i], run = sorter->run_of_group[group_of_vertex[v]];
    sorter->order[sorter->run_ends[run]++] = v;
  }
}

/* Where the numbers of a vertex stand in the previous skin. */
typedef struct place {
  size_t stream;  /* of its x */
  size_t lane;    /* of all lanes of all blocks */
  int32_t weighs; /* the joint that its weights leave out, as an index within its set */
} place;

/* Of what has three numbers for a vertex. */
static size_t x_index(size_t lane) {
  return 3 * (lane - lane % SBS_BLOCK) + lane % SBS_BLOCK;
}

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

/* The joint that the weights of a group leave out: they are what those of the others leave of 1. */
static int32_t joint_left_out(const sbs_skin *skin, int32_t group) {
  return skin->pivots[group].joint;
}

static void pack_weights(block_packer *packer, int32_t group, size_t vertex, size_t at, size_t lane) {
  sbs_skin *skin = packer->skin;
  sbs_influences *influences = &packer->influences;
  const size_t left_out = (size_t)joint_left_out(skin, group);
  sbs_influences_read(packer->desc, 0.0, vertex, influences);
  for (size_t i = 0; i < influences->count; i++) {
    if (i == left_out) continue;
    put(skin, skin->stream, at, influences->weights[i]);
    at += SBS_BLOCK;
  }
  put(skin, skin->pivot_weights, lane, influences->count ? influences->weights[left_out] : 0.0);
  skin->heaviest[lane] = (int32_t)influences->heaviest;
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
static void pack_vertex(block_packer *packer, int32_t number, size_t vertex, size_t at, size_t lane) {
  sbs_skin *skin = packer->skin;
  const sbs_group *group = skin->groups + number;
  const sbs_pack_previous *previous = packer->previous;
  const place from = previous ? packer->places[vertex - packer->tile_begin] : (place){0, 0, 0};
  const int same_set = previous && !previous->changed[vertex];

  if (same_set && !previous->moved_sets[group->set]) {
    copy_lane(skin, skin->stream, at, previous->skin->stream, from.stream, 3);
  } else {
    pack_position(packer, group, vertex, at);
  }
  if (same_set && from.weighs == joint_left_out(skin, number)) {
    copy_lane(skin, skin->stream, at + 3 * SBS_BLOCK, previous->skin->stream, from.stream + 3 * SBS_BLOCK,
              (size_t)group->others);
    copy_lane(skin, skin->pivot_weights, lane, previous->skin->pivot_weights, from.lane, 1);
    skin->heaviest[lane] = previous->skin->heaviest[from.lane];
  } else {
    pack_weights(packer, number, vertex, at + 3 * SBS_BLOCK, lane);
  }
  if (!skin->normals) return;
  if (previous) {
    copy_lane(skin, skin->normals, x_index(lane), previous->skin->normals, x_index(from.lane), 3);
  } else {
    pack_normal(packer, vertex, x_index(lane));
  }
}

/* One item; lanes past its last vertex repeat that vertex. */
static void pack_item(block_packer *packer, const sbs_item *item, const int32_t *vertices) {
  sbs_skin *skin = packer->skin;
  const size_t block_size = sbs_block_size(skin->groups + item->group);
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
    pack_vertex(packer, item->group, vertex, item->stream + block * block_size + lane,
                (item->first_block + block) * SBS_BLOCK + lane);
  }
}

/* Packs the vertices of a tile, sorted; without a packer it only counts. Returns the numbers of the stream so far. */
static size_t pack_tile(sbs_skin *skin, const tile_sorter *sorter, size_t vertex_count, block_packer *packer,
                        size_t stream) {
  for (int32_t first = 0; (size_t)first < vertex_count;) {
    const int32_t *vertices = sorter->order + first, group = sorter->group_of_vertex[*vertices];
    int32_t count = sorter->run_ends[sorter->run_of_group[group]] - first;
    if (count > SBS_BLOCK * SBS_ITEM_BLOCKS) count = SBS_BLOCK * SBS_ITEM_BLOCKS;
    sbs_item item = {group, count, *vertices, skin->block_count, stream};
    for (int32_t i = 1; i < count; i++) {
      if (vertices[i] < item.lowest) item.lowest = vertices[i];
    }
    if (packer) {
      skin->items[skin->item_count] = item;
      pack_item(packer, &item, vertices);
    }
    const size_t blocks = sbs_item_blocks(&item);
    skin->item_count++;
    skin->block_count += blocks;
    stream += blocks * sbs_block_size(skin->groups + group);
    first += count;
  }
  return stream;
}

/* ------------------------------------------------------------------------------------- tiles of the previous skin */

/* The item after the last of a tile that ends at a vertex: no tile has a vertex of another. */
static size_t tile_end(const sbs_skin *skin, size_t item, size_t vertex_end) {
  while (item < skin->item_count && (size_t)skin->items[item].lowest < vertex_end) item++;
  return item;
}

/* Notes where the vertices of a tile stood. */
static void find_places(block_packer *packer, size_t item_end) {
  const sbs_skin *skin = packer->previous->skin;
  for (size_t i = packer->previous_item; i < item_end; i++) {
    const sbs_item *item = skin->items + i;
    const size_t block_size = sbs_block_size(skin->groups + item->group);
    for (size_t k = 0; k < (size_t)item->vertex_count; k++) {
      const size_t lane = item->first_block * SBS_BLOCK + k, vertex = (size_t)skin->vertices[lane];
      packer->places[vertex - packer->tile_begin] =
          (place){item->stream + k / SBS_BLOCK * block_size + k % SBS_BLOCK, lane, joint_left_out(skin, item->group)};
    }
  }
}

/*
 * Packs parts of a copied item anew: its positions if the centroid of its set has moved, its weights if its group has
 * another pivot.
 */
static void repack_item(block_packer *packer, const sbs_item *item, int is_moved, int is_weighed_anew) {
  const sbs_skin *skin = packer->skin;
  const sbs_group *group = skin->groups + item->group;
  for (size_t i = 0; i < sbs_item_blocks(item) * SBS_BLOCK && (is_moved || is_weighed_anew); i++) {
    const size_t lane = item->first_block * SBS_BLOCK + i, vertex = (size_t)skin->vertices[lane];
    const size_t at = item->stream + i / SBS_BLOCK * sbs_block_size(group) + i % SBS_BLOCK;
    if (is_moved) pack_position(packer, group, vertex, at);
    if (is_weighed_anew) pack_weights(packer, item->group, vertex, at + 3 * SBS_BLOCK, lane);
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
  const size_t numbers =
      last->stream - first_stream + sbs_item_blocks(last) * sbs_block_size(from->groups + last->group);
  if (packer) {
    memcpy((char *)skin->stream + stream * size, (const char *)from->stream + first_stream * size, numbers * size);
    memcpy(skin->vertices + skin->block_count * SBS_BLOCK, from->vertices + first_block * SBS_BLOCK,
           blocks * SBS_BLOCK * sizeof *skin->vertices);
    memcpy(skin->runs + skin->block_count, from->runs + first_block, blocks * sizeof *skin->runs);
    memcpy(skin->heaviest + skin->block_count * SBS_BLOCK, from->heaviest + first_block * SBS_BLOCK,
           blocks * SBS_BLOCK * sizeof *skin->heaviest);
    memcpy((char *)skin->pivot_weights + skin->block_count * SBS_BLOCK * size,
           (const char *)from->pivot_weights + first_block * SBS_BLOCK * size, blocks * SBS_BLOCK * size);
    if (skin->normals) {
      memcpy((char *)skin->normals + skin->block_count * 3 * SBS_BLOCK * size,
             (const char *)from->normals + first_block * 3 * SBS_BLOCK * size, blocks * 3 * SBS_BLOCK * size);
    }
    for (size_t i = item; i < item_end; i++) {
      const sbs_item *old = from->items + i;
      sbs_item *made = skin->items + skin->item_count + (i - item);
      *made = (sbs_item){.group = group_of_vertex[old->lowest],
                         .vertex_count = old->vertex_count,
                         .lowest = old->lowest,
                         .first_block = skin->block_count + (old->first_block - first_block),
                         .stream = stream + (old->stream - first_stream)};
      repack_item(packer, made, packer->previous->moved_sets[skin->groups[made->group].set],
                  joint_left_out(skin, made->group) != joint_left_out(from, old->group));
    }
  }
  skin->item_count += item_end - item;
  skin->block_count += blocks;
  return stream + numbers;
}

/* ------------------------------------------------------------------------------------------------- straight blocks */

/* Whether the vertices that follow those of an item are written after these by the same thread, so many at least. */
static int are_written_after(const sbs_skin *skin, size_t number, int32_t vertex, int32_t count) {
  const size_t chunk = skin->items[number].first_block / sbs_chunk_blocks(skin);
  while (count > 0) {
    const sbs_item *item = ++number < skin->item_count ? skin->items + number : NULL;
    if (!item || item->first_block / sbs_chunk_blocks(skin) != chunk) return 0;
    if (skin->runs[item->first_block] > 1 || skin->vertices[item->first_block * SBS_BLOCK] != vertex) return 0;
    const int32_t more = item->vertex_count < SBS_BLOCK ? item->vertex_count : SBS_BLOCK;
    vertex += more;
    count -= more;
  }
  return 1;
}

/* Marks the blocks whose lanes may all be stored one after the other; where they were copied, marks may be old. */
static void mark_straight_blocks(sbs_skin *skin) {
  for (size_t i = 0; i < skin->item_count; i++) {
    const sbs_item *item = skin->items + i;
    const size_t blocks = sbs_item_blocks(item);
    for (size_t block = 0; block < blocks; block++) {
      uint16_t *runs = skin->runs + item->first_block + block;
      if (*runs > 1) continue;
      const int32_t spare = (int32_t)((block + 1) * SBS_BLOCK) - item->vertex_count;
      const int32_t last = skin->vertices[(item->first_block + block + 1) * SBS_BLOCK - 1];
      *runs = !are_written_after(skin, i, last + 1, spare);
    }
  }
}

/* -------------------------------------------------------------------------------------------------------- all tiles */

/* Goes over all tiles; where it shall only count items, blocks and the numbers of the stream, the packer is told so. */
static sbs_status walk_tiles(block_packer *packer, tile_sorter *sorter, int only_count, size_t *numbers) {
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
    const size_t item_end = previous ? tile_end(previous->skin, packer->previous_item, end) : 0;
    if (previous && !memchr(previous->changed + begin, 1, end - begin)) {
      stream = copy_tile(skin, previous->skin, packer->previous_item, item_end, sorter->group_of_vertex,
                         only_count ? NULL : packer, stream);
    } else {
      packer->tile_begin = begin;
      if (previous && !only_count) find_places(packer, item_end);
      sort_tile(sorter, skin, begin, end);
      stream = pack_tile(skin, sorter, end - begin, only_count ? NULL : packer, stream);
    }
    packer->previous_item = item_end;
  }
  *numbers = stream;
  return SBS_OK;
}

sbs_status sbs_pack(sbs_skin *skin, const sbs_skin_desc *desc, const int32_t *group_of_vertex, const int32_t *heaviest,
                    const sbs_pack_previous *previous) {
  const sbs_allocator *allocator = &skin->allocator;
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  tile_sorter sorter = {
      .group_of_vertex = group_of_vertex,
      .heaviest = heaviest,
      .run_of_group = sbs_allocate(allocator, skin->group_count, sizeof *sorter.run_of_group),
      .run_groups = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.run_groups),
      .run_ends = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.run_ends),
      .size_ends = sbs_allocate(allocator, skin->max_influences + 1, sizeof *sorter.size_ends),
      .by_heaviest = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.by_heaviest),
      .order = sbs_allocate(allocator, SBS_TILE, sizeof *sorter.order),
  };
  block_packer packer = {
      .skin = skin,
      .desc = desc,
      .influences = sbs_influences_new(allocator, desc),
      .previous = previous,
      .places = previous ? sbs_allocate(allocator, SBS_TILE, sizeof *packer.places) : NULL,
  };
  if (!sorter.run_of_group || !sorter.run_groups || !sorter.run_ends || !sorter.size_ends || !sorter.by_heaviest ||
      !sorter.order) {
    goto cleanup;
  }
  if (!packer.influences.joints || !packer.influences.weights || (previous && !packer.places)) goto cleanup;
  memset(sorter.run_of_group, 0, skin->group_count * sizeof *sorter.run_of_group);

  size_t stream;
  status = walk_tiles(&packer, &sorter, 1, &stream);
  if (status) goto cleanup;
  const size_t size = sbs_scalar_size(skin->scalar);
  skin->items = sbs_skin_allocate(skin, skin->item_count, sizeof *skin->items);
  skin->vertices = sbs_skin_allocate(skin, skin->block_count, SBS_BLOCK * sizeof *skin->vertices);
  skin->runs = sbs_skin_allocate(skin, skin->block_count, sizeof *skin->runs);
  skin->stream = sbs_skin_allocate(skin, stream, size);
  skin->pivot_weights = sbs_skin_allocate(skin, skin->block_count, SBS_BLOCK * size);
  skin->heaviest = sbs_skin_allocate(skin, skin->block_count, SBS_BLOCK * sizeof *skin->heaviest);
  if (desc->rest_normals) skin->normals = sbs_skin_allocate(skin, skin->block_count, 3 * SBS_BLOCK * size);
  if (!skin->items || !skin->vertices || !skin->runs || !skin->stream || !skin->pivot_weights || !skin->heaviest ||
      (desc->rest_normals && !skin->normals)) {
    status = SBS_ERROR_OUT_OF_MEMORY;
    goto cleanup;
  }

  status = walk_tiles(&packer, &sorter, 0, &stream);
  if (!status) {
    mark_straight_blocks(skin);
    status = sbs_list_copies(skin);
  }

cleanup:
  sbs_release(allocator, sorter.run_of_group);
  sbs_release(allocator, sorter.run_groups);
  sbs_release(allocator, sorter.run_ends);
  sbs_release(allocator, sorter.size_ends);
  sbs_release(allocator, sorter.by_heaviest);
  sbs_release(allocator, sorter.order);
  sbs_influences_free(allocator, &packer.influences);
  sbs_release(allocator, packer.places);
  return status;
}

void sbs_pack_positions(sbs_skin *skin, const sbs_skin_desc *desc) {
  block_packer packer = {.skin = skin, .desc = desc};
  for (size_t i = 0; i < skin->item_count; i++) repack_item(&packer, skin->items + i, 1, 0);
}
