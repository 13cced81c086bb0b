/* SPDX-License-Identifier: MIT */
#ifndef SBS_CORRECTIVES_SHAPES_H
#define SBS_CORRECTIVES_SHAPES_H

#include "sbs/shapes.h"
#include "skin/skin.h"

/*
 * Shapes by the blocks of a skin: each block that a shape changes has a row of x, y and z, and of normals if there are
 * any, of SBS_BLOCK lanes, 0 where it changes nothing. So rows are summed up in vectors, and few lanes are 0, as
 * vertices of a block are neighbors, and so are vertices that a shape changes. Blocks that any shape changes are
 * numbered; each has a sum in a frame.
 */
struct sbs_shapes {
  sbs_allocator allocator;
  const sbs_skin *skin;
  size_t shape_count;
  size_t row_count;     /* of all shapes */
  size_t changed_count; /* blocks that any of them changes */
  size_t *offsets;      /* (shape_count + 1) where the rows of each start */
  uint32_t *blocks;     /* (row_count) the numbers of their blocks; ascending in a shape */
  size_t axes;          /* 3, or with normals 6 */
  void *rows;           /* (row_count, axes, SBS_BLOCK) of the skin's type; aligned, as are sums */
  int32_t *numbers;     /* (block_count) of blocks; -1 where no shape changes them */
};

/* The sums of shapes in the blocks of a frame. */
typedef struct sbs_shape_sums {
  void *sums;            /* (changed_count, axes, SBS_BLOCK) of the skin's type; undefined where not active */
  unsigned char *active; /* (changed_count) whether a shape with a weight changes the block */
} sbs_shape_sums;

/* Bytes of a row, or of a sum. */
size_t sbs_shape_row_size(const sbs_shapes *shapes);

/* The first row of a shape whose block has that number or a larger one. */
size_t sbs_first_row(const sbs_shapes *shapes, size_t shape, size_t number);

/* Where sums lie in memory of sbs_shapes_scratch_size. */
sbs_shape_sums sbs_place_shape_sums(const sbs_shapes *shapes, void *memory);

/* The number of a block's sum in a frame, or -1. */
static inline int32_t sbs_active_sum(const sbs_shapes *shapes, const sbs_shape_sums *sums, size_t block) {
  const int32_t number = shapes->numbers[block];
  return number >= 0 && sums->active[number] ? number : -1;
}

#endif
