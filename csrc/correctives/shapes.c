/* SPDX-License-Identifier: MIT */
#include "correctives/shapes.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"

sbs_shapes_desc sbs_default_shapes_desc(void) {
  return (sbs_shapes_desc){0};
}

size_t sbs_shapes_count(const sbs_shapes *shapes) {
  return shapes ? shapes->shape_count : 0;
}

size_t sbs_shapes_scratch_size(const sbs_shapes *shapes) {
  return shapes ? sbs_aligned(sbs_shape_sums(shapes) * sbs_scalar_size(shapes->skin->scalar)) : 0;
}

void sbs_shapes_free(sbs_shapes *shapes) {
  if (!shapes) return;
  const sbs_allocator allocator = shapes->allocator;
  sbs_release(&allocator, shapes->offsets);
  sbs_release(&allocator, shapes->changed);
  sbs_release(&allocator, shapes->deltas);
  sbs_release(&allocator, shapes->normal_deltas);
  sbs_release(&allocator, shapes->lanes);
  sbs_release(&allocator, shapes->starts);
  sbs_release(&allocator, shapes);
}

/* --------------------------------------------------------------------------------------------------- new shapes -- */

static sbs_status check(const sbs_skin *skin, const sbs_shapes_desc *desc, sbs_fault *fault) {
  const size_t *offsets = desc->shape_offsets;
  if (!desc->shape_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "shape_count");
  if (!offsets) return sbs_fault_in(fault, SBS_ERROR_NULL, "shape_offsets");
  if (!sbs_scalar_is_valid(desc->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)desc->scalar, 0.0);
  }
  if (offsets[0]) return sbs_fault_row(fault, SBS_ERROR_OPTION, "shape_offsets", 0, (double)offsets[0], 0.0);
  for (size_t s = 0; s < desc->shape_count; s++) {
    if (offsets[s + 1] < offsets[s]) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "shape_offsets", s + 1, (double)offsets[s + 1], (double)offsets[s]);
    }
  }
  const size_t count = offsets[desc->shape_count];
  if (count > UINT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "shape_offsets", (double)count, UINT32_MAX);
  }
  if (count && !desc->vertices) return sbs_fault_in(fault, SBS_ERROR_NULL, "vertices");
  if (count && !desc->deltas) return sbs_fault_in(fault, SBS_ERROR_NULL, "deltas");
  if (desc->normal_deltas && !skin->normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normal_deltas");
  for (size_t i = 0; i < count; i++) {
    if (desc->vertices[i] < 0 || (size_t)desc->vertices[i] >= skin->vertex_count) {
      return sbs_fault_row(fault, SBS_ERROR_VERTEX_INDEX, "vertices", i, desc->vertices[i], (double)skin->vertex_count);
    }
  }
  sbs_status status = sbs_validate_vectors(desc->deltas, 0, desc->scalar, count, "deltas", "", fault);
  if (!status && desc->normal_deltas) {
    status = sbs_validate_vectors(desc->normal_deltas, 0, desc->scalar, count, "normal_deltas", "", fault);
  }
  return status;
}

/* Numbers the vertices that a shape changes, in the order of their lanes: `numbers` of the mesh, -1 for all others. */
static sbs_status number_changed(sbs_shapes *shapes, const sbs_shapes_desc *desc, int32_t *numbers, sbs_fault *fault) {
  const sbs_skin *skin = shapes->skin;
  for (size_t v = 0; v < skin->vertex_count; v++) numbers[v] = -1;
  for (size_t i = 0; i < shapes->entry_count; i++) numbers[desc->vertices[i]] = 0;
  for (size_t v = 0; v < skin->vertex_count; v++) shapes->changed_count += numbers[v] == 0;
  shapes->lanes = sbs_allocate(&shapes->allocator, shapes->changed_count, sizeof *shapes->lanes);
  if (!shapes->lanes) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  uint32_t count = 0;
  for (const sbs_item *item = skin->items; item < skin->items + skin->item_count; item++) {
    for (size_t i = 0; i < sbs_item_blocks(item) * SBS_BLOCK; i++) {
      const size_t lane = item->first_block * SBS_BLOCK + i;
      if (lane % SBS_BLOCK == 0) shapes->starts[lane / SBS_BLOCK] = count;
      if (i >= (size_t)item->vertex_count || numbers[skin->vertices[lane]] < 0) continue;
      numbers[skin->vertices[lane]] = (int32_t)count;
      shapes->lanes[count++] = (uint32_t)lane;
    }
  }
  shapes->starts[skin->block_count] = count;
  return SBS_OK;
}

static void convert3(const void *from, sbs_scalar scalar, size_t row, void *to, sbs_scalar to_scalar, size_t to_row) {
  for (size_t k = 0; k < 3; k++) {
    const double value = sbs_scalar_get(from, scalar, 3 * row + k);
    if (to_scalar == SBS_FLOAT32) {
      ((float *)to)[3 * to_row + k] = (float)value;
    } else {
      ((double *)to)[3 * to_row + k] = value;
    }
  }
}

/* Entries in the order of their shapes. */
static void read_entries(sbs_shapes *shapes, const sbs_shapes_desc *desc, const int32_t *numbers) {
  const sbs_scalar scalar = shapes->skin->scalar;
  memcpy(shapes->offsets, desc->shape_offsets, (desc->shape_count + 1) * sizeof *shapes->offsets);
  for (size_t i = 0; i < shapes->entry_count; i++) {
    shapes->changed[i] = (uint32_t)numbers[desc->vertices[i]];
    convert3(desc->deltas, desc->scalar, i, shapes->deltas, scalar, i);
    if (desc->normal_deltas) convert3(desc->normal_deltas, desc->scalar, i, shapes->normal_deltas, scalar, i);
  }
}

sbs_status sbs_shapes_new(const sbs_skin *skin, const sbs_shapes_desc *desc, const sbs_allocator *allocator,
                          sbs_shapes **shapes, sbs_fault *fault) {
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!shapes) return sbs_fault_in(fault, SBS_ERROR_NULL, "shapes");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = check(skin, desc, fault);
  if (status) return status;
  const size_t count = desc->shape_offsets[desc->shape_count], row = 3 * sbs_scalar_size(skin->scalar);
  sbs_shapes *made = sbs_allocate(&chosen, 1, sizeof *made);
  int32_t *numbers = sbs_allocate(&chosen, skin->vertex_count, sizeof *numbers);
  if (made) {
    *made = (sbs_shapes){.allocator = chosen,
                         .skin = skin,
                         .shape_count = desc->shape_count,
                         .entry_count = count,
                         .offsets = sbs_allocate(&chosen, desc->shape_count + 1, sizeof *made->offsets),
                         .changed = sbs_allocate(&chosen, count, sizeof *made->changed),
                         .deltas = sbs_allocate(&chosen, count, row),
                         .normal_deltas = desc->normal_deltas ? sbs_allocate(&chosen, count, row) : NULL,
                         .starts = sbs_allocate(&chosen, skin->block_count + 1, sizeof *made->starts)};
  }
  const int is_room = numbers && made && made->offsets && made->changed && made->deltas && made->starts &&
                      (made->normal_deltas || !desc->normal_deltas);
  status = is_room ? number_changed(made, desc, numbers, fault) : sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  if (!status) read_entries(made, desc, numbers);
  sbs_release(&chosen, numbers);
  if (status) {
    sbs_shapes_free(made);
    return status;
  }
  *shapes = made;
  return SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- frames -- */

#define DEFINE_SUM(type) \
  static void sum_##type##s(const sbs_shapes *shapes, const double *weights, const type *deltas, type *sums) { \
    memset(sums, 0, 3 * shapes->changed_count * sizeof *sums); \
    for (size_t s = 0; s < shapes->shape_count; s++) { \
      const type weight = (type)weights[s]; \
      for (size_t i = shapes->offsets[s]; weight != 0 && i < shapes->offsets[s + 1]; i++) { \
        type *sum = sums + 3 * (size_t)shapes->changed[i]; \
        for (int k = 0; k < 3; k++) sum[k] += weight * deltas[3 * i + (size_t)k]; \
      } \
    } \
  }
DEFINE_SUM(float)
DEFINE_SUM(double)

void sbs_sum_shapes(const sbs_shapes *shapes, const double *weights, void *sums) {
  const size_t size = 3 * shapes->changed_count;
  if (shapes->skin->scalar == SBS_FLOAT32) {
    sum_floats(shapes, weights, shapes->deltas, sums);
    if (shapes->normal_deltas) sum_floats(shapes, weights, shapes->normal_deltas, (float *)sums + size);
  } else {
    sum_doubles(shapes, weights, shapes->deltas, sums);
    if (shapes->normal_deltas) sum_doubles(shapes, weights, shapes->normal_deltas, (double *)sums + size);
  }
}

/* Adds sums to x, y, z of the lanes of a block; and makes unit vectors of them if these are normals. */
#define DEFINE_ADD(type) \
  static void add_##type##s(const sbs_shapes *shapes, const type *sums, size_t block, int are_normals, type *to) { \
    for (uint32_t i = shapes->starts[block]; i < shapes->starts[block + 1]; i++) { \
      const size_t lane = shapes->lanes[i] % SBS_BLOCK; \
      double v[3], square = 0.0; \
      for (size_t k = 0; k < 3; k++) { \
        v[k] = (double)to[k * SBS_BLOCK + lane] + (double)sums[3 * (size_t)i + k]; \
        square += v[k] * v[k]; \
      } \
      const double scale = are_normals && square > 0.0 ? 1.0 / sqrt(square) : 1.0; \
      for (size_t k = 0; k < 3; k++) to[k * SBS_BLOCK + lane] = (type)(scale * v[k]); \
    } \
  }
DEFINE_ADD(float)
DEFINE_ADD(double)

void sbs_shape_block(const sbs_shapes *shapes, const void *sums, size_t block, size_t stream, void *positions,
                     void *normals) {
  const sbs_skin *skin = shapes->skin;
  const size_t size = sbs_scalar_size(skin->scalar), numbers = 3 * SBS_BLOCK;
  const void *normal_sums = (const char *)sums + 3 * shapes->changed_count * size;
  memcpy(positions, (const char *)skin->stream + stream * size, numbers * size);
  if (normals) memcpy(normals, (const char *)skin->normals + block * numbers * size, numbers * size);
  const int turns = normals && shapes->normal_deltas;
  if (skin->scalar == SBS_FLOAT32) {
    add_floats(shapes, sums, block, 0, positions);
    if (turns) add_floats(shapes, normal_sums, block, 1, normals);
  } else {
    add_doubles(shapes, sums, block, 0, positions);
    if (turns) add_doubles(shapes, normal_sums, block, 1, normals);
  }
}
