/* SPDX-License-Identifier: MIT */
#include "solve/center_samples.h"

#include <math.h>
#include <string.h>

#include "base/isa.h"
#include "base/progress.h"

/* Saturates; no allocator has that much memory. */
static size_t add(size_t a, size_t b) {
  return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* -------------------------------------------------------------------------------------------------- the surface -- */

/* A part of a triangle, with the weights of a pair of joints. */
typedef struct part {
  double x, y, mass, place[3];
} part;

/* A triangle, with the weights of a pair of joints. */
typedef struct patch {
  size_t split;
  double area; /* of a part */
  double x[3], y[3];
  const double *corners[3];
} patch;

static patch see_patch(const sbs_patches *patches, const sbs_rows *rows, const int32_t joints[2], size_t triangle) {
  const int32_t *corners = patches->triangles + 3 * triangle;
  patch seen = {.split = patches->splits[triangle]};
  seen.area = sbs_patch_area(patches, triangle) / (double)(seen.split * seen.split);
  for (size_t i = 0; i < 3; i++) {
    const size_t vertex = (size_t)corners[i];
    seen.x[i] = sbs_rows_weight(rows, vertex, joints[0]);
    seen.y[i] = sbs_rows_weight(rows, vertex, joints[1]);
    seen.corners[i] = patches->points[vertex];
  }
  return seen;
}

/*
 * Part `column` of a row of parts. Rows have 1, 3, 5, ... parts, and odd parts are upside down. Coordinates of the
 * centroid are in thirds of a part, so a side of the triangle is 3 split long.
 */
static part see_part(const patch *seen, size_t row, size_t column) {
  const size_t across = column / 2, down = column % 2, thirds = 3 * seen->split;
  const size_t second = 3 * (row - across - down) + 1 + down, third = 3 * across + 1 + down;
  const double of_all = 1.0 / (double)thirds;
  const double shares[3] = {of_all * (double)(thirds - second - third), of_all * (double)second,
                            of_all * (double)third};
  part made = {0};
  for (size_t i = 0; i < 3; i++) {
    made.x += shares[i] * seen->x[i];
    made.y += shares[i] * seen->y[i];
    for (size_t axis = 0; axis < 3; axis++) made.place[axis] += shares[i] * seen->corners[i][axis];
  }
  made.mass = seen->area * made.x * made.y;
  return made;
}

/* -------------------------------------------------------------------------------------------------------- cells -- */

/* The cells of a pair that have a part in them. */
typedef struct cell_table {
  double side; /* 0: each part is alone */
  sbs_key_table cells;
} cell_table;

static uint64_t cell_at(double side, double x, double y) {
  return (uint64_t)(x / side) << 32 | (uint64_t)(y / side);
}

/* One coordinate of the corner of a cell; 0 where nothing is merged. */
static double cell_corner(const cell_table *table, size_t number, unsigned shift) {
  if (!(table->side > 0.0)) return 0.0;
  return table->side * (double)(table->cells.keys[number] >> shift & UINT32_MAX);
}

/* ------------------------------------------------------------------------------------------------------ samples -- */

static void add_part(sbs_samples *blocks, const cell_table *table, size_t number, const part *added) {
  sbs_samples *block = blocks + number / SBS_SAMPLE_LANES;
  const size_t lane = number % SBS_SAMPLE_LANES;
  /* relative to the cell, so that no digits are lost when the mean is subtracted */
  const double x = added->mass * (added->x - cell_corner(table, number, 32));
  const double y = added->mass * (added->y - cell_corner(table, number, 0));
  block->x[lane] += x;
  block->y[lane] += y;
  block->mass[lane] += added->mass;
  for (size_t axis = 0; axis < 3; axis++) {
    block->moments[axis][lane] += added->mass * added->place[axis];
    block->moments_x[axis][lane] += x * added->place[axis];
    block->moments_y[axis][lane] += y * added->place[axis];
  }
}

/* Divides sums to get means, and subtracts these from the moments. */
static void finish_sample(sbs_samples *blocks, const cell_table *table, size_t number) {
  sbs_samples *block = blocks + number / SBS_SAMPLE_LANES;
  const size_t lane = number % SBS_SAMPLE_LANES;
  const double mass = block->mass[lane], inverse = mass > 0.0 ? 1.0 / mass : 0.0;
  const double x = inverse * block->x[lane], y = inverse * block->y[lane];
  block->x[lane] = cell_corner(table, number, 32) + x;
  block->y[lane] = cell_corner(table, number, 0) + y;
  for (size_t axis = 0; axis < 3; axis++) {
    block->moments_x[axis][lane] -= x * block->moments[axis][lane];
    block->moments_y[axis][lane] -= y * block->moments[axis][lane];
  }
}

/* Whether to cancel. Asked within a pair, which may take long: the calling thread asks the caller, for all threads. */
static int gives_up(sbs_sampling *sampling) {
  if (!atomic_load_explicit(&sampling->given_up, memory_order_relaxed) && sbs_tell(0.0)) {
    atomic_store(&sampling->given_up, 1);
  }
  return atomic_load_explicit(&sampling->given_up, memory_order_relaxed);
}

/* Samples the triangles of a pair, in order; if `blocks` is NULL, samples are only counted. */
static size_t sample(sbs_sampling *sampling, size_t pair, int thread, sbs_samples *blocks) {
  const sbs_patches *patches = sampling->patches;
  cell_table table = {.side = sampling->cell};
  size_t count = 0;
  if (table.side > 0.0) {
    table.cells = (sbs_key_table){.keys = sampling->cells + (size_t)thread * sampling->cell_limit,
                                  .slots = sampling->slots + (size_t)thread * sampling->slot_limit,
                                  .slot_count = sbs_key_slots(sampling->counts[pair])};
    sbs_key_clear(&table.cells);
  }
  for (size_t i = patches->offsets[pair]; i < patches->offsets[pair + 1]; i++) {
    if (i % 64 == 0 && gives_up(sampling)) return 0;
    const patch seen = see_patch(patches, sampling->rows, sampling->pairs->joints[pair], (size_t)patches->owners[i]);
    for (size_t row = 0; row < seen.split; row++) {
      for (size_t column = 0; column < 2 * row + 1; column++) {
        const part next = see_part(&seen, row, column);
        const size_t number =
            table.side > 0.0 ? (size_t)sbs_key_enter(&table.cells, cell_at(table.side, next.x, next.y)) : count;
        if (number == count) count++;
        if (blocks) add_part(blocks, &table, number, &next);
      }
    }
  }
  for (size_t i = 0; blocks && i < count; i++) finish_sample(blocks, &table, i);
  return count;
}

/* Fills the other lanes of the last block, with the weights of the first sample so that they are never the nearest. */
static void fill_up(sbs_samples *blocks, size_t count) {
  for (size_t i = count; i % SBS_SAMPLE_LANES; i++) {
    sbs_samples *block = blocks + i / SBS_SAMPLE_LANES;
    block->x[i % SBS_SAMPLE_LANES] = blocks->x[0];
    block->y[i % SBS_SAMPLE_LANES] = blocks->y[0];
  }
}

void sbs_sampling_count(sbs_sampling *sampling, size_t pair, int thread) {
  sampling->counts[pair] = sample(sampling, pair, thread, NULL);
}

void sbs_sampling_fill(sbs_sampling *sampling, size_t pair, int thread) {
  sbs_samples *blocks = sampling->blocks + sampling->offsets[pair];
  const size_t block_count = sampling->offsets[pair + 1] - sampling->offsets[pair];
  memset(blocks, 0, block_count * sizeof *blocks);
  fill_up(blocks, sample(sampling, pair, thread, blocks));
}

/* --------------------------------------------------------------------------------------------------------- room -- */

static size_t count_parts(const sbs_patches *patches, size_t pair) {
  size_t count = 0;
  for (size_t i = patches->offsets[pair]; i < patches->offsets[pair + 1]; i++) {
    const size_t split = patches->splits[patches->owners[i]];
    count = add(count, split * split);
  }
  return count;
}

/* The most cells there can be: x and y are positive, and their sum is at most 1 apart from rounding. */
static double most_grid_cells(double side) {
  const double along = floor(1.0 / side) + 2.0;
  return 0.5 * along * (along + 1.0);
}

#define BATCH_OF(constant, name) sbs_add_similarities_##name,

sbs_status sbs_sampling_new(sbs_sampling *sampling, const sbs_patches *patches, const sbs_pairs *pairs,
                            const sbs_rows *rows, double cell, int threads, sbs_arena *arena) {
  const size_t pair_count = pairs->table.count;
  static sbs_similarity_batch *const batches[] = {SBS_EACH_ISA(BATCH_OF)};
  *sampling = (sbs_sampling){.patches = patches,
                             .pairs = pairs,
                             .rows = rows,
                             .add_similarities = batches[sbs_choose_isa()],
                             .cell = cell > 1e-9 ? cell : 0.0, /* coordinates must fit into 32 bits */
                             .counts = sbs_arena_take(arena, pair_count, sizeof *sampling->counts),
                             .offsets = sbs_arena_take(arena, pair_count + 1, sizeof *sampling->offsets)};
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  if (!(sampling->cell > 0.0)) return SBS_OK;
  const double grid = most_grid_cells(sampling->cell);
  for (size_t pair = 0; pair < pair_count; pair++) {
    const size_t parts = count_parts(patches, pair), most = grid < (double)parts ? (size_t)grid : parts;
    sampling->counts[pair] = most;
    if (most > sampling->cell_limit) sampling->cell_limit = most;
  }
  if (sampling->cell_limit > INT32_MAX / 4) return SBS_ERROR_OUT_OF_MEMORY;
  sampling->slot_limit = sbs_key_slots(sampling->cell_limit);
  sampling->cells = sbs_arena_take(arena, (size_t)threads * sampling->cell_limit, sizeof *sampling->cells);
  sampling->slots = sbs_arena_take(arena, (size_t)threads * sampling->slot_limit, sizeof *sampling->slots);
  return arena->failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
}

sbs_status sbs_sampling_make_room(sbs_sampling *sampling, sbs_arena *arena) {
  sampling->offsets[0] = 0;
  for (size_t pair = 0; pair < sampling->pairs->table.count; pair++) {
    const size_t count = sampling->counts[pair];
    const size_t blocks = count / SBS_SAMPLE_LANES + (count % SBS_SAMPLE_LANES > 0);
    sampling->offsets[pair + 1] = add(sampling->offsets[pair], blocks);
  }
  sampling->blocks = sbs_arena_take(arena, sampling->offsets[sampling->pairs->table.count], sizeof *sampling->blocks);
  return sampling->blocks ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}
