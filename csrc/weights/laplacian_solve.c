/* SPDX-License-Identifier: MIT */
/* A sparse factorization L D L^T in the order of a nested dissection. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "weights/laplacian.h"

enum {
  LEAF = 8,      /* so few vertices are not divided further */
  ROWS_TOLD = 64 /* rows between reports of progress */
};

/* How much of the work the factorization is, with the usual few right-hand sides. */
static const double factored = 0.6;

static sbs_status tell_some(const sbs_heat_progress *progress, size_t row, double share) {
  return row % ROWS_TOLD ? SBS_OK : sbs_heat_tell(progress, share);
}

typedef struct factors {
  const sbs_laplacian *laplacian;
  size_t count;     /* n */
  int32_t *order;   /* (n) the vertices in the order of elimination */
  int32_t *place;   /* (V) where each unknown is in the order */
  int32_t *parents; /* (n) of a column of L: the first row below the diagonal that is not 0; -1: none */
  int32_t *pattern; /* (n) the columns of the current row */
  int32_t *seen;    /* (n) the last row that each column is in */
  size_t *starts;   /* (n + 1) where each column of L begins in `rows` and `entries` */
  size_t *ends;     /* (n) where its rows so far end */
  int32_t *rows;
  double *entries;
  double *diagonal; /* (n) D */
  double *row;      /* (n) the current row, before it is divided by D */
} factors;

/* -------------------------------------------------------------------------------------------- order of elimination */

static void put(const factors *in, size_t place, int32_t vertex) {
  in->order[place] = vertex;
  in->place[vertex] = (int32_t)place;
}

static void swap(const factors *in, size_t a, size_t b) {
  const int32_t vertex = in->order[a];
  put(in, a, in->order[b]);
  put(in, b, vertex);
}

/* Finds the plane that halves the box of a range across its longest side; returns 0 if all are at one point. */
static int find_plane(const factors *in, size_t begin, size_t end, size_t *axis, double *middle) {
  double longest = 0.0;
  for (size_t side = 0; side < 3; side++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = begin; i < end; i++) {
      const double at = in->laplacian->positions[3 * (size_t)in->order[i] + side];
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
static size_t halve(const factors *in, size_t begin, size_t end, size_t axis, double middle, int flipped) {
  size_t half = begin;
  for (size_t i = begin; i < end; i++) {
    const int is_below = in->laplacian->positions[3 * (size_t)in->order[i] + axis] < middle;
    if (is_below != flipped) swap(in, i, half++);
  }
  return half;
}

static int has_neighbor(const factors *in, int32_t vertex, size_t begin, size_t end) {
  const sbs_laplacian *graph = in->laplacian;
  for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) {
    const size_t place = (size_t)in->place[graph->neighbors[e]];
    if (place >= begin && place < end) return 1;
  }
  return 0;
}

/* How many vertices at [begin, end) have a neighbor at [other_begin, other_end). */
static size_t count_border(const factors *in, size_t begin, size_t end, size_t other_begin, size_t other_end) {
  size_t count = 0;
  for (size_t i = begin; i < end; i++) count += (size_t)has_neighbor(in, in->order[i], other_begin, other_end);
  return count;
}

/*
 * Orders a range: the vertices on one side of a plane, the vertices on the other side without an edge across it, and
 * last the ones with such an edge. L has no entry between the first two parts. The last comes from the side where it is
 * smaller; of a fan that may be its hub alone.
 */
static void dissect(const factors *in, size_t begin, size_t end) {
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
static sbs_status find_columns(factors *in, const sbs_heat_progress *progress) {
  const sbs_laplacian *graph = in->laplacian;
  memset(in->starts, 0, (in->count + 1) * sizeof *in->starts);
  for (size_t row = 0; row < in->count; row++) {
    const sbs_status status = tell_some(progress, row, 0.0);
    if (status) return status;
    const int32_t vertex = in->order[row];
    in->parents[row] = -1;
    in->seen[row] = (int32_t)row;
    for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) {
      int32_t column = in->place[graph->neighbors[e]];
      for (; column < (int32_t)row && in->seen[column] != (int32_t)row; column = in->parents[column]) {
        if (in->parents[column] < 0) in->parents[column] = (int32_t)row;
        in->seen[column] = (int32_t)row;
        in->starts[column + 1]++;
      }
    }
  }
  for (size_t column = 0; column < in->count; column++) in->starts[column + 1] += in->starts[column];
  return SBS_OK;
}

/*
 * Loads a row of the matrix left of the diagonal, and lists the columns in which L has entries there at the end of
 * `pattern`, each before its parent. Returns where the list begins.
 */
static size_t load_row(factors *in, size_t row) {
  const sbs_laplacian *graph = in->laplacian;
  const int32_t vertex = in->order[row];
  size_t top = in->count;
  in->seen[row] = (int32_t)row;
  for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) {
    int32_t column = in->place[graph->neighbors[e]];
    size_t length = 0;
    if (column >= (int32_t)row) continue;
    in->row[column] -= graph->weights[e];
    for (; in->seen[column] != (int32_t)row; column = in->parents[column]) {
      in->seen[column] = (int32_t)row;
      in->pattern[length++] = column;
    }
    while (length) in->pattern[--top] = in->pattern[--length];
  }
  return top;
}

/* Factors the matrix with these holds, row by row. */
static sbs_status factor(factors *in, const double *holds, const sbs_heat_progress *progress) {
  const sbs_laplacian *graph = in->laplacian;
  memset(in->row, 0, in->count * sizeof *in->row);
  memset(in->seen, -1, in->count * sizeof *in->seen);
  memcpy(in->ends, in->starts, in->count * sizeof *in->ends);
  for (size_t row = 0; row < in->count; row++) {
    const sbs_status status = tell_some(progress, row, factored * (double)row / (double)in->count);
    if (status) return status;
    const int32_t vertex = in->order[row];
    double diagonal = holds[vertex];
    for (size_t e = graph->offsets[vertex]; e < graph->offsets[vertex + 1]; e++) diagonal += graph->weights[e];
    for (size_t i = load_row(in, row); i < in->count; i++) {
      const size_t column = (size_t)in->pattern[i], end = in->ends[column]++;
      const double value = in->row[column], entry = value / in->diagonal[column];
      in->row[column] = 0.0;
      for (size_t at = in->starts[column]; at < end; at++) in->row[in->rows[at]] -= in->entries[at] * value;
      in->rows[end] = (int32_t)row;
      in->entries[end] = entry;
      diagonal -= entry * value;
    }
    if (!(diagonal > 0.0 && isfinite(diagonal))) return SBS_ERROR_NO_CONVERGENCE;
    in->diagonal[row] = diagonal;
  }
  return SBS_OK;
}

/* --------------------------------------------------------------------------------------------------------- solution */

static void subtract(double entry, const double *restrict from, double *restrict to, size_t sides) {
  for (size_t side = 0; side < sides; side++) to[side] -= entry * from[side];
}

static sbs_status solve(const factors *in, size_t sides, double *values, const sbs_heat_progress *progress) {
  for (size_t column = 0; column < in->count; column++) {
    const sbs_status status = tell_some(progress, column, factored);
    if (status) return status;
    const double *from = values + (size_t)in->order[column] * sides;
    for (size_t at = in->starts[column]; at < in->starts[column + 1]; at++) {
      subtract(in->entries[at], from, values + (size_t)in->order[in->rows[at]] * sides, sides);
    }
  }
  for (size_t column = in->count; column-- > 0;) {
    const double done = 1.0 - (double)column / (double)in->count;
    const sbs_status status = tell_some(progress, column, factored + (1.0 - factored) * done);
    if (status) return status;
    double *to = values + (size_t)in->order[column] * sides;
    for (size_t side = 0; side < sides; side++) to[side] /= in->diagonal[column];
    for (size_t at = in->starts[column]; at < in->starts[column + 1]; at++) {
      subtract(in->entries[at], values + (size_t)in->order[in->rows[at]] * sides, to, sides);
    }
  }
  return SBS_OK;
}

sbs_status sbs_laplacian_solve(const sbs_laplacian *laplacian, const double *holds, const int32_t *unknowns,
                               size_t count, size_t sides, double *values, const sbs_heat_progress *progress,
                               const sbs_allocator *allocator) {
  factors in = {.laplacian = laplacian, .count = count};
  sbs_arena arena = sbs_arena_from(allocator);
  in.order = sbs_arena_take(&arena, count, sizeof *in.order);
  in.place = sbs_arena_take(&arena, laplacian->vertex_count, sizeof *in.place);
  in.parents = sbs_arena_take(&arena, count, sizeof *in.parents);
  in.pattern = sbs_arena_take(&arena, count, sizeof *in.pattern);
  in.seen = sbs_arena_take(&arena, count, sizeof *in.seen);
  in.starts = sbs_arena_take(&arena, count + 1, sizeof *in.starts);
  in.ends = sbs_arena_take(&arena, count, sizeof *in.ends);
  in.diagonal = sbs_arena_take(&arena, count, sizeof *in.diagonal);
  in.row = sbs_arena_take(&arena, count, sizeof *in.row);
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  if (!status) {
    for (size_t i = 0; i < count; i++) put(&in, i, unknowns[i]);
    dissect(&in, 0, count);
    status = find_columns(&in, progress);
  }
  if (!status) {
    in.rows = sbs_arena_take(&arena, in.starts[count], sizeof *in.rows);
    in.entries = sbs_arena_take(&arena, in.starts[count], sizeof *in.entries);
    status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : factor(&in, holds, progress);
  }
  if (!status) status = solve(&in, sides, values, progress);
  sbs_arena_release(&arena);
  return status;
}
