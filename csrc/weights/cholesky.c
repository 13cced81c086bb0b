/* SPDX-License-Identifier: MIT */
#include "weights/cholesky.h"

#include <string.h>

#include "base/lapack.h"
#include "base/memory.h"
#include "weights/fronts.h"

/* The share of the work that is done when the matrix is factored, for the usual few right-hand sides. */
static const double factored = 0.8;

typedef struct factors {
  const sbs_sparse_matrix *matrix;
  sbs_dissection order;
  sbs_front *fronts;
  double **panels; /* of each front: see sbs_front_eliminate */
  double **rests;  /* the rest of each front, until its parent has added it */
  int32_t *local;  /* (n) the row of an unknown in the current front */
  size_t sides;
  double *x;      /* (n, sides) in the order of elimination */
  double *border; /* (the largest border, sides) */
} factors;

/* ---------------------------------------------------------------------------------------------------- assembling -- */

/* Numbers the rows of a front: its own unknowns, then those of the border. */
static void number_rows(factors *of, const sbs_front *front) {
  const size_t own = front->end - front->begin;
  for (size_t i = 0; i < own; i++) of->local[front->begin + i] = (int32_t)i;
  for (size_t i = 0; i < front->border_count; i++) of->local[front->border[i]] = (int32_t)(own + i);
}

/* Adds the entries of the matrix in a front's own columns, on and below the diagonal. */
static void add_entries(const factors *of, const sbs_front *front, double *panel) {
  const sbs_graph *graph = &of->matrix->graph;
  const size_t rows = front->end - front->begin + front->border_count;
  for (size_t i = front->begin; i < front->end; i++) {
    const int32_t unknown = of->order.order[i];
    double *column = panel + (i - front->begin) * rows;
    column[i - front->begin] += of->matrix->diagonal[unknown];
    for (size_t n = graph->offsets[unknown]; n < graph->offsets[unknown + 1]; n++) {
      const size_t place = (size_t)of->order.slots[graph->neighbors[n]];
      if (place > i) column[of->local[place]] -= of->matrix->weights[n];
    }
  }
}

/* Adds the rest of a child. Rows of both are in the same order, so lower triangles stay lower triangles. */
static void add_rest(const factors *of, const sbs_front *child, const double *added, const sbs_front *front,
                     double *panel, double *rest) {
  const size_t own = front->end - front->begin, rows = own + front->border_count;
  for (size_t j = 0; j < child->border_count; j++) {
    const size_t column = (size_t)of->local[child->border[j]];
    const double *from = added + j * child->border_count;
    double *to = column < own ? panel + column * rows : rest + (column - own) * front->border_count;
    const size_t skipped = column < own ? 0 : own;
    for (size_t i = j; i < child->border_count; i++) to[(size_t)of->local[child->border[i]] - skipped] += from[i];
  }
}

static sbs_status assemble(factors *of, size_t number, const sbs_allocator *allocator) {
  const sbs_front *front = of->fronts + number;
  const size_t own = front->end - front->begin, border = front->border_count, rows = own + border;
  double *panel = of->panels[number] = sbs_allocate(allocator, rows, own * sizeof *panel);
  double *rest = of->rests[number] = sbs_allocate(allocator, border, border * sizeof *rest);
  if (!panel || !rest) return SBS_ERROR_OUT_OF_MEMORY;
  memset(panel, 0, rows * own * sizeof *panel);
  memset(rest, 0, border * border * sizeof *rest);
  number_rows(of, front);
  add_entries(of, front, panel);
  for (int32_t child = front->first_child; child >= 0; child = of->fronts[child].next_sibling) {
    add_rest(of, of->fronts + child, of->rests[child], front, panel, rest);
    sbs_release(allocator, of->rests[child]);
    of->rests[child] = NULL;
  }
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------- solving -- */

/* Eliminates a front, in the matrix and in the right-hand sides. */
static sbs_status eliminate(factors *of, size_t number) {
  const sbs_front *front = of->fronts + number;
  const size_t own = front->end - front->begin, sides = of->sides;
  const sbs_status status = sbs_front_eliminate(own, front->border_count, of->panels[number], of->rests[number]);
  if (status) return status;
  sbs_front_forward(own, front->border_count, sides, of->panels[number], of->x + front->begin * sides, of->border);
  for (size_t i = 0; i < front->border_count; i++) {
    double *row = of->x + (size_t)front->border[i] * sides;
    for (size_t side = 0; side < sides; side++) row[side] -= of->border[i * sides + side];
  }
  return SBS_OK;
}

static void solve_back(factors *of, size_t number) {
  const sbs_front *front = of->fronts + number;
  const size_t sides = of->sides;
  for (size_t i = 0; i < front->border_count; i++) {
    memcpy(of->border + i * sides, of->x + (size_t)front->border[i] * sides, sides * sizeof *of->border);
  }
  sbs_front_backward(front->end - front->begin, front->border_count, sides, of->panels[number],
                     of->x + front->begin * sides, of->border);
}

static sbs_status solve_all(factors *of, const sbs_heat_progress *progress, const sbs_allocator *allocator) {
  const size_t parts = of->order.part_count;
  const double count = (double)of->order.count;
  sbs_status status = SBS_OK;
  for (size_t p = 0; !status && p < parts; p++) {
    status = sbs_heat_tell(progress, factored * (double)of->fronts[p].begin / count);
    if (!status) status = assemble(of, p, allocator);
    if (!status) status = eliminate(of, p);
  }
  for (size_t p = parts; !status && p-- > 0;) {
    status = sbs_heat_tell(progress, 1.0 - (1.0 - factored) * (double)of->fronts[p].end / count);
    if (!status) solve_back(of, p);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------- the equations -- */

static sbs_status factors_init(factors *of, const int32_t *unknowns, size_t count, const sbs_allocator *allocator) {
  const sbs_sparse_matrix *matrix = of->matrix;
  size_t widest = 0;
  sbs_status status = sbs_dissection_init(&of->order, &matrix->graph, matrix->size, unknowns, count, allocator);
  if (!status) status = sbs_fronts_new(&matrix->graph, &of->order, allocator, &of->fronts);
  if (status) return status;
  const size_t parts = of->order.part_count;
  for (size_t p = 0; p < parts; p++) widest = of->fronts[p].border_count > widest ? of->fronts[p].border_count : widest;
  of->local = sbs_allocate(allocator, count, sizeof *of->local);
  of->x = sbs_allocate(allocator, count, of->sides * sizeof *of->x);
  of->border = sbs_allocate(allocator, widest, of->sides * sizeof *of->border);
  of->panels = sbs_allocate(allocator, parts, sizeof *of->panels);
  of->rests = sbs_allocate(allocator, parts, sizeof *of->rests);
  for (size_t p = 0; of->panels && p < parts; p++) of->panels[p] = NULL;
  for (size_t p = 0; of->rests && p < parts; p++) of->rests[p] = NULL;
  return of->local && of->x && of->border && of->panels && of->rests ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

static void factors_free(factors *of, const sbs_allocator *allocator) {
  for (size_t p = 0; of->panels && p < of->order.part_count; p++) sbs_release(allocator, of->panels[p]);
  for (size_t p = 0; of->rests && p < of->order.part_count; p++) sbs_release(allocator, of->rests[p]);
  sbs_release(allocator, of->panels);
  sbs_release(allocator, of->rests);
  sbs_release(allocator, of->local);
  sbs_release(allocator, of->x);
  sbs_release(allocator, of->border);
  sbs_fronts_free(of->fronts, of->order.part_count, allocator);
  sbs_dissection_free(&of->order, allocator);
}

sbs_status sbs_cholesky_solve(const sbs_sparse_matrix *matrix, const int32_t *unknowns, size_t count, size_t sides,
                              double *values, const sbs_heat_progress *progress, const sbs_allocator *allocator) {
  factors of = {.matrix = matrix, .sides = sides};
  const size_t row = sides * sizeof *values;
  sbs_status status = factors_init(&of, unknowns, count, allocator);
  if (!status) {
    sbs_lapack_use_one_thread();
    for (size_t i = 0; i < count; i++) memcpy(of.x + i * sides, values + (size_t)of.order.order[i] * sides, row);
    status = solve_all(&of, progress, allocator);
  }
  for (size_t i = 0; !status && i < count; i++) {
    memcpy(values + (size_t)of.order.order[i] * sides, of.x + i * sides, row);
  }
  factors_free(&of, allocator);
  return status;
}
