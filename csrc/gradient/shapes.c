/* SPDX-License-Identifier: MIT */
#include "gradient/shapes.h"

#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/scalar.h"

sbs_status sbs_gradient_begin_shapes(const sbs_rest *rest, const sbs_gradient_result *result, sbs_arena *arena,
                                     sbs_gradient_shapes *shaped) {
  const sbs_shapes *shapes = rest->shapes;
  const size_t count = rest->skin->vertex_count, size = 3 * sbs_scalar_size(rest->skin->scalar);
  const int turns = shapes && shapes->axes == 6 && rest->skin->normals;
  const int by_positions = result->shape_weights || result->shaped_positions;
  const int by_normals = turns && (result->shape_weights || result->shaped_normals);
  *shaped = (sbs_gradient_shapes){.by_positions = result->rest_positions, .by_normals = result->rest_normals};
  if (by_positions) shaped->by_positions = sbs_arena_take(arena, count, size);
  if (by_normals) shaped->by_normals = sbs_arena_take(arena, count, size);
  return arena->failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
}

/* The product of a shape's rows, from one on, and the gradient by them. */
static double shape_product(const sbs_shapes *shapes, size_t shape, size_t first, const void *by) {
  const sbs_scalar scalar = shapes->skin->scalar;
  double sum = 0.0;
  size_t block = 0;
  for (size_t row = shapes->offsets[shape]; row < shapes->offsets[shape + 1]; row++) {
    while (shapes->numbers[block] != (int32_t)shapes->blocks[row]) block++; /* both ascend */
    for (size_t i = 0; i < 3 * SBS_BLOCK; i++) {
      const double delta = sbs_scalar_get(shapes->rows, scalar, row * shapes->axes * SBS_BLOCK + first + i);
      const size_t vertex = block * SBS_BLOCK + i % SBS_BLOCK;
      if (delta != 0.0) sum += delta * sbs_scalar_get(by, scalar, 3 * vertex + i / SBS_BLOCK);
    }
  }
  return sum;
}

/* By rest positions: of the vertex itself, and as it moves the centroid of its joint set. */
static void finish_positions(const sbs_gradient_run *run, const void *by_positions, void *result) {
  const sbs_skin *skin = run->skin;
  for (size_t i = 0; i < 3 * skin->vertex_count; i++) {
    double by = sbs_scalar_get(by_positions, skin->scalar, i);
    if (run->by_centroids && !run->options->rest_positions) by += run->by_centroids[skin->set_of_vertex[i / 3]][i % 3];
    sbs_scalar_put(result, skin->scalar, i, by);
  }
}

/* By rest normals of any length, from that by unit vectors. */
static void finish_normals(const sbs_gradient_run *run, const void *by_normals, void *result) {
  const sbs_skin *skin = run->skin;
  const sbs_skin_desc *desc = run->desc;
  const size_t stride = desc->rest_normals_stride ? desc->rest_normals_stride : 3 * sbs_scalar_size(skin->scalar);
  for (size_t v = 0; v < skin->vertex_count; v++) {
    double n[3], by[3];
    for (size_t i = 0; i < 3; i++) {
      n[i] = sbs_scalar_get((const char *)desc->rest_normals + v * stride, skin->scalar, i);
      by[i] = sbs_scalar_get(by_normals, skin->scalar, 3 * v + i);
    }
    const double length = sqrt(sbs_dot(n, n)), over = length > 0.0 ? 1.0 / length : 0.0;
    const double along = sbs_dot(n, by) * over * over;
    for (size_t i = 0; i < 3; i++) sbs_scalar_put(result, skin->scalar, 3 * v + i, over * (by[i] - along * n[i]));
  }
}

void sbs_gradient_finish_rest(const sbs_gradient_run *run, const sbs_gradient_result *result,
                              const sbs_gradient_shapes *shaped) {
  const sbs_shapes *shapes = run->options->shapes;
  const size_t size = 3 * run->skin->vertex_count * sbs_scalar_size(run->skin->scalar);
  const int turns = shapes && shapes->axes == 6 && run->skin->normals;
  for (size_t s = 0; shapes && s < shapes->shape_count && result->shape_weights; s++) {
    result->shape_weights[s] = shape_product(shapes, s, 0, shaped->by_positions);
    if (turns) result->shape_weights[s] += shape_product(shapes, s, 3 * SBS_BLOCK, shaped->by_normals);
  }
  if (result->shaped_positions) memcpy(result->shaped_positions, shaped->by_positions, size);
  if (result->shaped_normals && turns) {
    memcpy(result->shaped_normals, shaped->by_normals, size);
  } else if (result->shaped_normals) {
    memset(result->shaped_normals, 0, size);
  }
  if (result->rest_positions) finish_positions(run, shaped->by_positions, result->rest_positions);
  if (result->rest_normals) finish_normals(run, shaped->by_normals, result->rest_normals);
}
