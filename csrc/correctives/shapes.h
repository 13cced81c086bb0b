/* SPDX-License-Identifier: MIT */
#ifndef SBS_CORRECTIVES_SHAPES_H
#define SBS_CORRECTIVES_SHAPES_H

#include "sbs/shapes.h"
#include "skin/skin.h"

/*
 * Shapes in the order of a skin. Vertices that a shape changes are numbered in the order of their lanes. What shapes
 * add to them in a frame is summed up first, x y z of each, and blocks with such a vertex get positions of their own.
 */
struct sbs_shapes {
  sbs_allocator allocator;
  const sbs_skin *skin;
  size_t shape_count;
  size_t entry_count;   /* of all shapes */
  size_t changed_count; /* vertices that any of them changes */
  size_t *offsets;      /* (shape_count + 1) where the entries of each start */
  uint32_t *changed;    /* (entry_count) the number of the vertex among those that are changed; ascending in a shape */
  void *deltas;         /* (entry_count, 3) of the skin's type */
  void *normal_deltas;  /* the same, or NULL */
  uint32_t *lanes;      /* (changed_count) lanes of changed vertices, counted over all blocks; ascending */
  uint32_t *starts;     /* (block_count + 1) where the changed vertices of each block start */
};

/* Numbers that the sums of a frame take, of the skin's type. */
static inline size_t sbs_shape_sums(const sbs_shapes *shapes) {
  return shapes->changed_count * (shapes->normal_deltas ? 6 : 3);
}

/* Sums up what shapes add: positions of all changed vertices, and normals behind them. */
void sbs_sum_shapes(const sbs_shapes *shapes, const double *weights, void *sums);

/*
 * Writes the positions of a block in the layout of the skin's stream, with what shapes add; and normals unless
 * `normals` is NULL, of unit length, or zero where there is nothing.
 */
void sbs_shape_block(const sbs_shapes *shapes, const void *sums, size_t block, size_t stream, void *positions,
                     void *normals);

#endif
