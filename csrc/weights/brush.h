/* SPDX-License-Identifier: MIT */
#ifndef SBS_WEIGHTS_BRUSH_H
#define SBS_WEIGHTS_BRUSH_H

#include "mesh/point_index.h"
#include "sbs/brush.h"
#include "weights/average.h"

/* Rows of `limit` influences for some vertices. */
typedef struct sbs_brush_rows {
  size_t count, capacity;
  int32_t *vertices;
  int32_t *joints;
  double *weights;
} sbs_brush_rows;

struct sbs_brush {
  sbs_allocator allocator;
  sbs_arena arena; /* of all arrays but the rows that grow */
  size_t vertex_count;
  size_t joint_count;
  size_t limit;
  int32_t *joints; /* (V, limit) rows in order, padded */
  double *weights; /* (V, limit) */

  /*
   * The surface. Vertices at one point are linked in a list; everything else refers to the lowest, the representative.
   */
  int32_t *next;             /* (V) the next vertex at the same point, -1 after the last */
  int32_t *places;           /* (V) of representatives in the index */
  size_t *offsets;           /* (V + 1) into neighbors */
  int32_t *neighbors;        /* representatives */
  sbs_indexed_point *points; /* of the index */
  sbs_point_index index;

  /* The vertices that a dab reaches. */
  size_t reached_count;
  int32_t *reached;   /* (V) representatives */
  double *distances;  /* (V) how far away they are */
  int32_t *heap;      /* (V) vertices that wait, a binary heap by the lengths of their paths */
  int32_t *heap_at;   /* (V) where each is in the heap; -1: not met yet */
  double *ways;       /* (V) the length of the shortest path to each found so far */
  double *amounts[2]; /* (V) of the painted joint and its mirror image; zero but at those touched */
  size_t touched_count;
  int32_t *touched; /* (V) representatives with an amount */

  /* Scratch rows. */
  sbs_average average;
  sbs_row row;          /* room for all joints, or for limit + 2 */
  unsigned char *kinds; /* of the influences of the row, as edit.c has them */
  sbs_brush_rows dab;   /* new rows of a dab, before any is written */

  /* The rows that the stroke changed. */
  uint32_t stroke;
  uint32_t *stamps; /* (V) the last stroke that wrote to the vertex */
  sbs_brush_rows before, after;
};

/*
 * A stroke is made of the following steps, by dabs and by whatever else changes weights: it begins; each dab begins, is
 * measured, makes rows in `dab`, and writes them; the stroke ends.
 */

/* Checks the options of a stroke. */
sbs_status sbs_brush_check(const sbs_brush *brush, const sbs_brush_options *options, sbs_fault *fault);

void sbs_brush_begin_stroke(sbs_brush *brush);

/* Forgets the dab before. */
void sbs_brush_begin_dab(sbs_brush *brush);

/* Stores how much of a dab each vertex gets, in amounts and touched; side 1 is for the mirrored joint. */
void sbs_brush_measure(sbs_brush *brush, const sbs_brush_options *options, const double center[3], int side);

/* Writes the rows of `dab` to all vertices at their points, and keeps the rows from before the stroke. */
sbs_status sbs_brush_write(sbs_brush *brush);

/* Ends a stroke, also after an error, which takes everything back. `change` and `fault` may be NULL. */
sbs_status sbs_brush_end_stroke(sbs_brush *brush, sbs_status status, sbs_brush_change *change, sbs_fault *fault);

/* Finds the representatives within the radius of a dab, by either distance. */
void sbs_brush_reach(sbs_brush *brush, const sbs_brush_options *options, const double center[3]);

/* A joint that a dab paints at a vertex. */
typedef struct sbs_brush_target {
  int32_t joint;
  double before, after; /* its weight */
} sbs_brush_target;

/*
 * Makes the new row of a vertex, with the weights of one or two distinct joints set, and normalized if the options say
 * so. Returns whether the weights change; if not, no row is made.
 */
int sbs_brush_edit(sbs_brush *brush, const sbs_brush_options *options, size_t vertex, const sbs_brush_target *targets,
                   size_t target_count);

/* Ends smoothing of all joints: drops unlocked influences beyond the limit, and normalizes if the options say so. */
void sbs_brush_settle(sbs_brush *brush, const sbs_brush_options *options);

/* Makes room for `more` more rows. */
sbs_status sbs_brush_reserve(const sbs_brush *brush, sbs_brush_rows *rows, size_t more);

void sbs_brush_append(const sbs_brush *brush, sbs_brush_rows *rows, int32_t vertex, const int32_t *joints,
                      const double *weights);

/* The influences of a vertex, where the brush has them. */
static inline sbs_row sbs_brush_row(const sbs_brush *brush, size_t vertex) {
  sbs_row row = {.joints = brush->joints + vertex * brush->limit, .weights = brush->weights + vertex * brush->limit};
  while (row.count < brush->limit && row.weights[row.count] > 0.0) row.count++;
  return row;
}

#endif
