/* SPDX-License-Identifier: MIT */
/* A factorization L D L^T in single precision, as dense panels: columns of L that have nearly the same rows. */
#ifndef SBS_FLESH_PANELS_H
#define SBS_FLESH_PANELS_H

#include "mesh/cholesky.h"

typedef struct sbs_panel {
  int32_t first, width; /* its columns */
  int32_t row_count;    /* rows below them */
  size_t rows, entries; /* where these begin */
} sbs_panel;

typedef struct sbs_panels {
  size_t count;       /* n */
  size_t panel_count;
  sbs_panel *panels;
  int32_t *rows;
  float *entries;     /* of a panel: its triangle row by row, without the diagonal, then its rows */
  float *inverse;     /* (n) 1 / D */
  const int32_t *order; /* (n) the row of the matrix that each row of L is */
} sbs_panels;

/* Makes panels; the order stays that of the factors. Errors: OUT_OF_MEMORY. */
sbs_status sbs_panels_make(const sbs_cholesky *factors, sbs_arena *arena, sbs_panels *panels);

#endif
