/* SPDX-License-Identifier: MIT */
#include "kernels/rest.h"

#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/scalar.h"
#include "kernels/kernels.h"

/* The sum of a block's rows, of positions or of normals; NULL if no shape changes them. */
static const char *block_sum(const sbs_rest *rest, size_t block, int of_normals) {
  const sbs_shapes *shapes = rest->shapes;
  if (!shapes || (of_normals && shapes->axes < 6)) return NULL;
  const int32_t number = sbs_active_sum(shapes, &rest->sums, block);
  if (number < 0) return NULL;
  const size_t size = sbs_shape_row_size(shapes), vectors = 3 * SBS_BLOCK * sbs_scalar_size(rest->skin->scalar);
  return (const char *)rest->sums.sums + (size_t)number * size + (of_normals ? vectors : 0);
}

void sbs_pack_rest(const sbs_rest *rest, size_t begin, size_t end, void *positions, void *normals) {
  const sbs_skin *skin = rest->skin;
  const sbs_kernels *kernels = sbs_choose_kernels(skin->isa, skin->scalar);
  const size_t vectors = 3 * SBS_BLOCK * sbs_scalar_size(skin->scalar), first = begin * SBS_BLOCK;
  if (rest->positions) {
    const size_t after = end * SBS_BLOCK < skin->vertex_count ? end * SBS_BLOCK : skin->vertex_count;
    kernels->pack_positions((const char *)rest->positions + first * rest->stride, rest->stride, after - first,
                            skin->origin, positions);
  } else {
    memcpy(positions, (const char *)skin->positions + begin * vectors, (end - begin) * vectors);
  }
  if (normals) memcpy(normals, (const char *)skin->normals + begin * vectors, (end - begin) * vectors);
  for (size_t b = begin; b < end; b++) {
    char *block = (char *)positions + (b - begin) * vectors;
    const void *sum = block_sum(rest, b, 0);
    if (sum) kernels->shape_block(block, sum, 0, block);
    sum = normals ? block_sum(rest, b, 1) : NULL;
    block = (char *)normals + (b - begin) * vectors;
    if (sum) kernels->shape_block(block, sum, 1, block);
  }
}

void sbs_get_shape_sum(const sbs_rest *rest, size_t vertex, double sum[3]) {
  const char *sums = block_sum(rest, vertex / SBS_BLOCK, 0);
  for (size_t i = 0; i < 3; i++) {
    sum[i] = sums ? sbs_scalar_get(sums, rest->skin->scalar, i * SBS_BLOCK + vertex % SBS_BLOCK) : 0.0;
  }
}

void sbs_get_rest_position(const sbs_rest *rest, size_t vertex, double x[3]) {
  const sbs_skin *skin = rest->skin;
  const int is_weighted = sbs_set_size(skin, (size_t)skin->set_of_vertex[vertex]) > 0;
  sbs_get_shape_sum(rest, vertex, x);
  for (size_t i = 0; i < 3; i++) {
    if (rest->positions) {
      x[i] += sbs_scalar_get((const char *)rest->positions + vertex * rest->stride, skin->scalar, i);
      if (is_weighted) x[i] -= skin->origin[i];
    } else {
      x[i] += sbs_scalar_get(skin->positions, skin->scalar, sbs_vector_index(vertex, i));
    }
  }
}

void sbs_get_raw_normal(const sbs_rest *rest, size_t vertex, double n[3]) {
  const sbs_skin *skin = rest->skin;
  const char *sums = block_sum(rest, vertex / SBS_BLOCK, 1);
  for (size_t i = 0; i < 3; i++) {
    n[i] = sbs_scalar_get(skin->normals, skin->scalar, sbs_vector_index(vertex, i));
    if (sums) n[i] += sbs_scalar_get(sums, skin->scalar, i * SBS_BLOCK + vertex % SBS_BLOCK);
  }
}

void sbs_get_rest_normal(const sbs_rest *rest, size_t vertex, double n[3]) {
  sbs_get_raw_normal(rest, vertex, n);
  const double square = sbs_dot(n, n);
  for (int i = 0; i < 3 && square > 0.0 && rest->shapes; i++) n[i] /= sqrt(square);
}

void sbs_sum_shapes(const sbs_rest *rest, const double *weights, size_t begin, size_t end) {
  const sbs_shapes *shapes = rest->shapes;
  sbs_add_rows_kernel *add = sbs_choose_kernels(rest->skin->isa, rest->skin->scalar)->add_rows;
  memset(rest->sums.active + begin, 0, end - begin);
  for (size_t s = 0; s < shapes->shape_count; s++) {
    if (weights[s] == 0.0) continue;
    add(shapes, sbs_first_row(shapes, s, begin), sbs_first_row(shapes, s, end), weights[s], &rest->sums);
  }
}
