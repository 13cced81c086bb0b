/* SPDX-License-Identifier: MIT */
#include "mesh/cholesky.h"
#include "weights/laplacian.h"

/* How much of the work the factorization is, with the usual few right-hand sides. */
static const double factored = 0.6;

/* A part of the work: progress from `begin` to `end` of the whole. */
typedef struct part {
  const sbs_heat_progress *progress;
  double begin, end;
} part;

static sbs_status tell(void *context, double share) {
  const part *in = context;
  return sbs_heat_tell(in->progress, in->begin + (in->end - in->begin) * share);
}

sbs_status sbs_laplacian_solve(const sbs_laplacian *laplacian, const double *holds, const int32_t *unknowns,
                               size_t count, size_t sides, double *values, const sbs_heat_progress *progress,
                               const sbs_allocator *allocator) {
  const size_t *offsets = laplacian->offsets, vertices = laplacian->vertex_count;
  sbs_arena arena = sbs_arena_from(allocator);
  double *entries = sbs_arena_take(&arena, offsets[vertices], sizeof *entries);
  double *diagonal = sbs_arena_take(&arena, vertices, sizeof *diagonal);
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  for (size_t v = 0; v < vertices && !status; v++) {
    diagonal[v] = holds[v];
    for (size_t e = offsets[v]; e < offsets[v + 1]; e++) {
      entries[e] = -laplacian->weights[e];
      diagonal[v] += laplacian->weights[e];
    }
  }
  if (!status) {
    const sbs_sparse matrix = {vertices, offsets, laplacian->neighbors, entries, diagonal, laplacian->positions};
    part first = {progress, 0.0, factored}, second = {progress, factored, 1.0};
    sbs_cholesky factors;
    status = sbs_cholesky_factor(&matrix, unknowns, count, &arena, &factors, &(sbs_cholesky_progress){tell, &first});
    if (!status) status = sbs_cholesky_solve(&factors, sides, values, &(sbs_cholesky_progress){tell, &second});
  }
  sbs_arena_release(&arena);
  return status;
}
