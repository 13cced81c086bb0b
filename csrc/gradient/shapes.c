/* SPDX-License-Identifier: MIT */
#include "gradient/shapes.h"

#include <math.h>
#include <string.h>

#include "base/scalar.h"
#include "correctives/shapes.h"

/* The numbers (3) of a vertex in a packed or strided array. */
static void read_vector(const void *from, size_t stride, sbs_scalar scalar, size_t vertex, double v[3]) {
  const char *at = (const char *)from + vertex * (stride ? stride : 3 * sbs_scalar_size(scalar));
  for (size_t k = 0; k < 3; k++) v[k] = sbs_scalar_get(at, scalar, k);
}

static void write_vector(void *to, sbs_scalar scalar, size_t vertex, const double v[3]) {
  for (size_t k = 0; k < 3; k++) sbs_scalar_put(to, scalar, 3 * vertex + k, v[k]);
}

static double length(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Adds what shapes add, from a number of their rows on: 0 for positions, 3 * SBS_BLOCK for normals. */
static void add_shapes(const sbs_shapes *shapes, const double *weights, size_t first, const int32_t *blocks, void *to) {
  const sbs_scalar scalar = shapes->skin->scalar;
  for (size_t s = 0; s < shapes->shape_count; s++) {
    for (size_t row = shapes->offsets[s]; weights[s] != 0.0 && row < shapes->offsets[s + 1]; row++) {
      const int32_t *vertices = shapes->skin->vertices + (size_t)blocks[shapes->blocks[row]] * SBS_BLOCK;
      for (size_t i = 0; i < 3 * SBS_BLOCK; i++) {
        const double delta = sbs_scalar_get(shapes->rows, scalar, row * shapes->axes * SBS_BLOCK + first + i);
        const size_t at = 3 * (size_t)vertices[i % SBS_BLOCK] + i / SBS_BLOCK;
        if (delta != 0.0) sbs_scalar_put(to, scalar, at, sbs_scalar_get(to, scalar, at) + weights[s] * delta);
      }
    }
  }
}

/* The product of what a shape adds and the gradient by that. */
static double shape_product(const sbs_shapes *shapes, size_t shape, size_t first, const int32_t *blocks,
                            const void *by) {
  const sbs_scalar scalar = shapes->skin->scalar;
  double sum = 0.0;
  for (size_t row = shapes->offsets[shape]; row < shapes->offsets[shape + 1]; row++) {
    const int32_t *vertices = shapes->skin->vertices + (size_t)blocks[shapes->blocks[row]] * SBS_BLOCK;
    for (size_t i = 0; i < 3 * SBS_BLOCK; i++) {
      const double delta = sbs_scalar_get(shapes->rows, scalar, row * shapes->axes * SBS_BLOCK + first + i);
      const size_t at = 3 * (size_t)vertices[i % SBS_BLOCK] + i / SBS_BLOCK;
      if (delta != 0.0) sum += delta * sbs_scalar_get(by, scalar, at);
    }
  }
  return sum;
}

/* The blocks that shapes change, by their numbers. */
static void list_blocks(const sbs_shapes *shapes, int32_t *blocks) {
  for (size_t block = 0; block < shapes->skin->block_count; block++) {
    if (shapes->numbers[block] >= 0) blocks[shapes->numbers[block]] = (int32_t)block;
  }
}

sbs_status sbs_gradient_begin_shapes(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_deform_options *options,
                                     const sbs_gradient_result *result, sbs_arena *arena, sbs_gradient_shapes *shaped) {
  const sbs_shapes *shapes = options->shapes;
  *shaped = (sbs_gradient_shapes){.desc = *desc,
                                  .by_positions = result->rest_positions,
                                  .by_normals = result->rest_normals,
                                  .by_centroids = result->rest_positions};
  if (!shapes) return SBS_OK;
  const size_t count = skin->vertex_count, size = 3 * sbs_scalar_size(skin->scalar);
  const int by_shapes = result->shape_weights || result->shaped_positions;
  const int turns = shapes->axes == 6 && desc->rest_normals;
  const int by_turning = turns && (result->shape_weights || result->shaped_normals || result->rest_normals);
  int32_t *blocks = sbs_arena_take(arena, shapes->changed_count, sizeof *blocks);
  void *positions = sbs_arena_take(arena, count, size), *normals = turns ? sbs_arena_take(arena, count, size) : NULL;
  if (by_shapes || result->rest_positions) shaped->by_positions = sbs_arena_take(arena, count, size);
  if (by_turning) shaped->by_normals = sbs_arena_take(arena, count, size);
  if (result->rest_positions) shaped->by_centroids = sbs_arena_take(arena, count, size);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  if (shaped->by_centroids) memset(shaped->by_centroids, 0, count * size);
  list_blocks(shapes, blocks);
  shaped->blocks = blocks;
  for (size_t v = 0; v < count; v++) {
    double p[3];
    read_vector(desc->rest_positions, desc->rest_positions_stride, skin->scalar, v, p);
    write_vector(positions, skin->scalar, v, p);
    if (!turns) continue;
    read_vector(desc->rest_normals, desc->rest_normals_stride, skin->scalar, v, p);
    const double n = length(p);
    for (size_t k = 0; k < 3; k++) p[k] /= n > 0.0 ? n : 1.0;
    write_vector(normals, skin->scalar, v, p);
  }
  add_shapes(shapes, options->shape_weights, 0, blocks, positions);
  shaped->desc.rest_positions = positions;
  shaped->desc.rest_positions_stride = 0;
  if (turns) {
    add_shapes(shapes, options->shape_weights, 3 * SBS_BLOCK, blocks, normals);
    shaped->desc.rest_normals = normals;
    shaped->desc.rest_normals_stride = 0;
  }
  return SBS_OK;
}

/* By rest normals of any length, from that by unit vectors with what shapes add. */
static void finish_normals(const sbs_skin *skin, const sbs_skin_desc *desc, const void *by_normals, void *result) {
  for (size_t v = 0; v < skin->vertex_count; v++) {
    double n[3], by[3], along = 0.0;
    read_vector(desc->rest_normals, desc->rest_normals_stride, skin->scalar, v, n);
    read_vector(by_normals, 0, skin->scalar, v, by);
    const double over = length(n) > 0.0 ? 1.0 / length(n) : 0.0;
    for (size_t k = 0; k < 3; k++) along += n[k] * over * by[k];
    for (size_t k = 0; k < 3; k++) by[k] = over * (by[k] - along * n[k] * over);
    write_vector(result, skin->scalar, v, by);
  }
}

void sbs_gradient_finish_shapes(const sbs_skin *skin, const sbs_skin_desc *desc, const sbs_deform_options *options,
                                const sbs_gradient_result *result, const sbs_gradient_shapes *shaped) {
  const sbs_shapes *shapes = options->shapes;
  if (!shapes) return;
  const size_t count = 3 * skin->vertex_count, size = count * sbs_scalar_size(skin->scalar);
  const int turns = shaped->desc.rest_normals != desc->rest_normals;
  for (size_t s = 0; s < shapes->shape_count && result->shape_weights; s++) {
    result->shape_weights[s] = shape_product(shapes, s, 0, shaped->blocks, shaped->by_positions);
    if (!turns) continue;
    result->shape_weights[s] += shape_product(shapes, s, 3 * SBS_BLOCK, shaped->blocks, shaped->by_normals);
  }
  if (result->shaped_positions) memcpy(result->shaped_positions, shaped->by_positions, size);
  if (result->shaped_normals && turns) {
    memcpy(result->shaped_normals, shaped->by_normals, size);
  } else if (result->shaped_normals) {
    memset(result->shaped_normals, 0, size);
  }
  for (size_t i = 0; i < count && result->rest_positions; i++) {
    const double by = sbs_scalar_get(shaped->by_positions, skin->scalar, i);
    sbs_scalar_put(result->rest_positions, skin->scalar, i, by + sbs_scalar_get(shaped->by_centroids, skin->scalar, i));
  }
  if (turns && result->rest_normals) finish_normals(skin, desc, shaped->by_normals, result->rest_normals);
}
