/* SPDX-License-Identifier: MIT */
#include "correctives/shapes.h"

#include <stdlib.h>
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

size_t sbs_shape_row_size(const sbs_shapes *shapes) {
  return shapes->axes * SBS_BLOCK * sbs_scalar_size(shapes->skin->scalar); /* a multiple of an alignment */
}

size_t sbs_shapes_scratch_size(const sbs_shapes *shapes) {
  return shapes ? shapes->changed_count * sbs_shape_row_size(shapes) + sbs_aligned(shapes->changed_count) : 0;
}

sbs_shape_sums sbs_place_shape_sums(const sbs_shapes *shapes, void *memory) {
  unsigned char *active = (unsigned char *)memory + shapes->changed_count * sbs_shape_row_size(shapes);
  return (sbs_shape_sums){.sums = memory, .active = active};
}

size_t sbs_first_row(const sbs_shapes *shapes, size_t shape, size_t number) {
  size_t low = shapes->offsets[shape], high = shapes->offsets[shape + 1];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (shapes->blocks[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void sbs_shapes_free(sbs_shapes *shapes) {
  if (!shapes) return;
  const sbs_allocator allocator = shapes->allocator;
  sbs_release(&allocator, shapes->offsets);
  sbs_release(&allocator, shapes->blocks);
  sbs_release(&allocator, shapes->rows);
  sbs_release(&allocator, shapes->numbers);
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

/* Memory for binding. */
typedef struct sorting {
  size_t *shapes; /* (block_count) by numbers of changed blocks: the last shape that was seen there, from 1 on */
  size_t *rows;   /* (block_count) the same: its row */
} sorting;

/* Numbers the blocks that shapes change. */
static void number_blocks(sbs_shapes *shapes, const sbs_shapes_desc *desc) {
  const size_t block_count = shapes->skin->block_count, entry_count = desc->shape_offsets[desc->shape_count];
  for (size_t b = 0; b < block_count; b++) shapes->numbers[b] = -1;
  for (size_t i = 0; i < entry_count; i++) shapes->numbers[desc->vertices[i] / SBS_BLOCK] = 0;
  for (size_t b = 0; b < block_count; b++) {
    if (!shapes->numbers[b]) shapes->numbers[b] = (int32_t)shapes->changed_count++;
  }
}

static int compare(const void *a, const void *b) {
  const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  return (first > second) - (first < second);
}

/* Lists the blocks of each shape, ascending; counts them alone if `blocks` is NULL. */
static void list_blocks(sbs_shapes *shapes, const sbs_shapes_desc *desc, const sorting *work, uint32_t *blocks) {
  memset(work->shapes, 0, shapes->changed_count * sizeof *work->shapes);
  shapes->row_count = 0;
  for (size_t s = 0; s < desc->shape_count; s++) {
    const size_t first = shapes->offsets[s] = shapes->row_count;
    for (size_t i = desc->shape_offsets[s]; i < desc->shape_offsets[s + 1]; i++) {
      const size_t number = (size_t)shapes->numbers[desc->vertices[i] / SBS_BLOCK];
      if (work->shapes[number] == s + 1) continue;
      work->shapes[number] = s + 1;
      if (blocks) blocks[shapes->row_count] = (uint32_t)number;
      shapes->row_count++;
    }
    if (blocks) qsort(blocks + first, shapes->row_count - first, sizeof *blocks, compare);
  }
  shapes->offsets[desc->shape_count] = shapes->row_count;
}

/* Adds three numbers to a lane of a row, `first` numbers behind where rows start. */
static void add_entry(sbs_shapes *shapes, size_t first, const void *deltas, sbs_scalar scalar, size_t entry) {
  for (size_t k = 0; k < 3; k++) {
    const size_t at = first + k * SBS_BLOCK;
    const double before = sbs_scalar_get(shapes->rows, shapes->skin->scalar, at);
    sbs_scalar_put(shapes->rows, shapes->skin->scalar, at, before + sbs_scalar_get(deltas, scalar, 3 * entry + k));
  }
}

static void fill_rows(sbs_shapes *shapes, const sbs_shapes_desc *desc, const sorting *work) {
  memset(shapes->rows, 0, shapes->row_count * sbs_shape_row_size(shapes));
  for (size_t s = 0; s < desc->shape_count; s++) {
    for (size_t row = shapes->offsets[s]; row < shapes->offsets[s + 1]; row++) work->rows[shapes->blocks[row]] = row;
    for (size_t i = desc->shape_offsets[s]; i < desc->shape_offsets[s + 1]; i++) {
      const size_t vertex = (size_t)desc->vertices[i];
      const size_t row = work->rows[shapes->numbers[vertex / SBS_BLOCK]];
      const size_t first = row * shapes->axes * SBS_BLOCK + vertex % SBS_BLOCK;
      add_entry(shapes, first, desc->deltas, desc->scalar, i);
      if (desc->normal_deltas) add_entry(shapes, first + 3 * SBS_BLOCK, desc->normal_deltas, desc->scalar, i);
    }
  }
}

static sbs_status sort(sbs_shapes *shapes, const sbs_shapes_desc *desc, const sorting *work, sbs_fault *fault) {
  number_blocks(shapes, desc);
  list_blocks(shapes, desc, work, NULL);
  shapes->blocks = sbs_allocate(&shapes->allocator, shapes->row_count, sizeof *shapes->blocks);
  shapes->rows = sbs_allocate(&shapes->allocator, shapes->row_count, sbs_shape_row_size(shapes));
  if (!shapes->blocks || !shapes->rows) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  list_blocks(shapes, desc, work, shapes->blocks);
  fill_rows(shapes, desc, work);
  return SBS_OK;
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
  sbs_shapes *made = sbs_allocate(&chosen, 1, sizeof *made);
  const sorting work = {.shapes = sbs_allocate(&chosen, skin->block_count, sizeof *work.shapes),
                        .rows = sbs_allocate(&chosen, skin->block_count, sizeof *work.rows)};
  if (made) {
    *made = (sbs_shapes){.allocator = chosen,
                         .skin = skin,
                         .shape_count = desc->shape_count,
                         .axes = desc->normal_deltas ? 6 : 3,
                         .offsets = sbs_allocate(&chosen, desc->shape_count + 1, sizeof *made->offsets),
                         .numbers = sbs_allocate(&chosen, skin->block_count, sizeof *made->numbers)};
  }
  const int is_room = work.shapes && work.rows && made && made->offsets && made->numbers;
  status = is_room ? sort(made, desc, &work, fault) : sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_release(&chosen, work.shapes);
  sbs_release(&chosen, work.rows);
  if (status) {
    sbs_shapes_free(made);
    return status;
  }
  *shapes = made;
  return SBS_OK;
}
