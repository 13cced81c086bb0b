/* SPDX-License-Identifier: MIT */
#include "mesh/cholesky.h"

#include <math.h>
#include <string.h>

enum {
  LEAF = 8,      /* so few vertices are not divided further */
  ROWS_TOLD = 64 /* rows between reports of progress */
};

static sbs_status tell_some(const sbs_cholesky_progress *progress, size_t row, double share) {
  return !progress || row % ROWS_TOLD ? SBS_OK : progress->tell(progress->context, share);
}

typedef struct work {
  const sbs_sparse *matrix;
  sbs_cholesky *made;
  size_t count;
  int32_t *order;   /* of `made` */
  int32_t *place;   /* (V) where each unknown is in the order; -1 of other rows */
  int32_t *parents; /* (n) of a column of L: the first row below the diagonal that is not 0; -1: none */
  int32_t *pattern; /* (n) the columns of the current row */
  int32_t *seen;    /* (n) the last row that each column is in */
  size_t *ends;     /* (n) where the rows of each column so far end */
  double *row;      /* (n) the current row, before it is divided by D */
} work;

/* -------------------------------------------------------------------------------------------- order of elimination */

static void put(const work *in, size_t place, int32_t vertex) {
  in->order[place] = vertex;
  in->place[vertex] = (int32_t)place;
}

static void swap(const work *in, size_t a, size_t b) {
  const int32_t vertex = in->order[a];
  put(in, a, in->order[b]);
  put(in, b, vertex);
}

/* Finds the plane that halves the box of a range across its longest side; returns 0 if all are at one point. */
static int find_plane(const work *in, size_t begin, size_t end, size_t *axis, double *middle) {
  double longest = 0.0;
  for (size_t side = 0; side < 3; side++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = begin; i < end; i++) {
      const double at = in->matrix->positions[3 * (size_t)in->order[i] + side];
      low = fmin(low, at);
      high = fmax(high, at);
    }
    if (high - low <= longest) continue;
    longest = high - low;
    *axis = side;
    *middle = low + longest / 2.0;
  }
  return longest > 0.0;
}

/* Moves the vertices on one side of a plane, or if `flipped` on the other, to the front; returns where they end. */
static size_t halve(const work *in, size_t begin, size_t end, size_t axis, double middle, int flipped) {
  size_t half = begin;
  for (size_t i = begin; i < end; i++) {
    const int is_below = in->matrix->positions[3 * (size_t)in->order[i] + axis] < middle;
    if (is_below != flipped) swap(in, i, half++);
  }
  return half;
}

static int has_neighbor(const work *in, int32_t vertex, size_t begin, size_t end) {
  const sbs_sparse *graph = in->matrix;
  for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) {
    const int32_t place = in->place[graph->neighbors[e]];
    if (place >= (int32_t)begin && place < (int32_t)end) return 1;
  }
  return 0;
}

/* How many vertices at [begin, end) have a neighbor at [other_begin, other_end). */
static size_t count_border(const work *in, size_t begin, size_t end, size_t other_begin, size_t other_end) {
  size_t count = 0;
  for (size_t i = begin; i < end; i++) count += (size_t)has_neighbor(in, in->order[i], other_begin, other_end);
  return count;
}

/*
 * Orders a range: the vertices on one side of a plane, the vertices on the other side without an edge across it, and
 * last the ones with such an edge. L has no entry between the first two parts. The last comes from the side where it is
 * smaller; of a fan that may be its hub alone.
 */
static void dissect(const work *in, size_t begin, size_t end) {
  size_t axis = 0;
  double middle = 0.0;
  if (end - begin <= LEAF || !find_plane(in, begin, end, &axis, &middle)) return;
  size_t half = halve(in, begin, end, axis, middle, 0), last = end;
  if (half == begin || half == end) return; /* the box is as small as rounding */
  if (count_border(in, begin, half, half, end) < count_border(in, half, end, begin, half)) {
    half = halve(in, begin, end, axis, middle, 1);
  }
  for (size_t i = end; i-- > half;) {
    if (has_neighbor(in, in->order[i], begin, half)) swap(in, i, --last);
  }
  dissect(in, begin, half);
  dissect(in, half, last);
}

/* --------------------------------------------------------------------------------------------------- factorization */

/*
 * Finds the parents of the columns of L, and where each column begins. From each entry that the matrix has in a row, L
 * has entries in that row along the path of parents.
 */
static sbs_status find_columns(work *in, const sbs_cholesky_progress *progress) {
  const sbs_sparse *graph = in->matrix;
  memset(in->made->starts, 0, (in->count + 1) * sizeof *in->made->starts);
  for (size_t row = 0; row < in->count; row++) {
    const sbs_status status = tell_some(progress, row, 0.0);
    if (status) return status;
    const int32_t vertex = in->order[row];
    in->parents[row] = -1;
    in->seen[row] = (int32_t)row;
    for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) {
      int32_t column = in->place[graph->neighbors[e]];
      for (; column >= 0 && column < (int32_t)row && in->seen[column] != (int32_t)row; column = in->parents[column]) {
        if (in->parents[column] < 0) in->parents[column] = (int32_t)row;
        in->seen[column] = (int32_t)row;
        in->made->starts[column + 1]++;
      }
    }
  }
  for (size_t column = 0; column < in->count; column++) in->made->starts[column + 1] += in->made->starts[column];
  return SBS_OK;
}

/*
 * Loads a row of the matrix left of the diagonal, and lists the columns in which L has entries there at the end of
 * `pattern`, each before its parent. Returns where the list begins.
 */
static size_t load_row(work *in, size_t row) {
  const sbs_sparse *graph = in->matrix;
  const int32_t vertex = in->order[row];
  size_t top = in->count;
  in->seen[row] = (int32_t)row;
  for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) {
    int32_t column = in->place[graph->neighbors[e]];
    size_t length = 0;
    if (column < 0 || column >= (int32_t)row) continue;
    in->row[column] += graph->entries[e];
    for (; in->seen[column] != (int32_t)row; column = in->parents[column]) {
      in->seen[column] = (int32_t)row;
      in->pattern[length++] = column;
    }
    while (length) in->pattern[--top] = in->pattern[--length];
  }
  return top;
}

/* Factors the matrix row by row. */
static sbs_status factor(work *in, const sbs_cholesky_progress *progress) {
  const sbs_sparse *graph = in->matrix;
  memset(in->row, 0, in->count * sizeof *in->row);
  memset(in->seen, -1, in->count * sizeof *in->seen);
  memcpy(in->ends, in->made->starts, in->count * sizeof *in->ends);
  for (size_t row = 0; row < in->count; row++) {
    const sbs_status status = tell_some(progress, row, (double)row / (double)in->count);
    if (status) return status;
    double diagonal = graph->diagonal[in->order[row]];
    for (size_t i = load_row(in, row); i < in->count; i++) {
      const size_t column = (size_t)in->pattern[i], end = in->ends[column]++;
      const double value = in->row[column], entry = value / in->made->diagonal[column];
      in->row[column] = 0.0;
      for (size_t at = in->made->starts[column]; at < end; at++)
        in->row[in->made->rows[at]] -= in->made->entries[at] * value;
      in->made->rows[end] = (int32_t)row;
      in->made->entries[end] = entry;
      diagonal -= entry * value;
    }
    if (!(diagonal > 0.0 && isfinite(diagonal))) return SBS_ERROR_NO_CONVERGENCE;
    in->made->diagonal[row] = diagonal;
  }
  return SBS_OK;
}

sbs_status sbs_cholesky_factor(const sbs_sparse *matrix, const int32_t *unknowns, size_t count, sbs_arena *arena,
                               sbs_cholesky *made, const sbs_cholesky_progress *progress) {
  sbs_arena scratch = sbs_arena_from(arena->allocator);
  *made = (sbs_cholesky){.count = count,
                         .order = sbs_arena_take(arena, count, sizeof *made->order),
                         .starts = sbs_arena_take(arena, count + 1, sizeof *made->starts),
                         .diagonal = sbs_arena_take(arena, count, sizeof *made->diagonal)};
  work in = {.matrix = matrix,
             .made = made,
             .count = count,
             .order = made->order,
             .place = sbs_arena_take(&scratch, matrix->count, sizeof *in.place),
             .parents = sbs_arena_take(&scratch, count, sizeof *in.parents),
             .pattern = sbs_arena_take(&scratch, count, sizeof *in.pattern),
             .seen = sbs_arena_take(&scratch, count, sizeof *in.seen),
             .ends = sbs_arena_take(&scratch, count, sizeof *in.ends),
             .row = sbs_arena_take(&scratch, count, sizeof *in.row)};
  sbs_status status = arena->failed || scratch.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  if (!status) {
    for (size_t v = 0; v < matrix->count; v++) in.place[v] = -1;
    for (size_t i = 0; i < count; i++) put(&in, i, unknowns[i]);
    dissect(&in, 0, count);
    status = find_columns(&in, progress);
  }
  if (!status) {
    made->rows = sbs_arena_take(arena, made->starts[count], sizeof *made->rows);
    made->entries = sbs_arena_take(arena, made->starts[count], sizeof *made->entries);
    status = arena->failed ? SBS_ERROR_OUT_OF_MEMORY : factor(&in, progress);
  }
  sbs_arena_release(&scratch);
  return status;
}

/* --------------------------------------------------------------------------------------------------------- solution */

static void subtract(double entry, const double *restrict from, double *restrict to, size_t sides) {
  for (size_t side = 0; side < sides; side++) to[side] -= entry * from[side];
}

sbs_status sbs_cholesky_solve(const sbs_cholesky *factors, size_t sides, double *values,
                              const sbs_cholesky_progress *progress) {
  const int32_t *order = factors->order;
  for (size_t column = 0; column < factors->count; column++) {
    const sbs_status status = tell_some(progress, column, 0.0);
    if (status) return status;
    const double *from = values + (size_t)order[column] * sides;
    for (size_t at = factors->starts[column]; at < factors->starts[column + 1]; at++) {
      subtract(factors->entries[at], from, values + (size_t)order[factors->rows[at]] * sides, sides);
    }
  }
  for (size_t column = factors->count; column-- > 0;) {
    const sbs_status status = tell_some(progress, column, 1.0 - (double)column / (double)factors->count);
    if (status) return status;
    double *to = values + (size_t)order[column] * sides;
    for (size_t side = 0; side < sides; side++) to[side] /= factors->diagonal[column];
    for (size_t at = factors->starts[column]; at < factors->starts[column + 1]; at++) {
      subtract(factors->entries[at], values + (size_t)order[factors->rows[at]] * sides, to, sides);
    }
  }
  return SBS_OK;
}
