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

/*
 * Panels are in groups. Those of the last, the top, come after all others; groups before it share no entry, so that
 * threads can solve them at once. In a group before the top a row of the top is -1 less its place in the top.
 */
typedef struct sbs_panels {
  size_t count; /* n */
  size_t panel_count;
  size_t group_count;   /* with the top */
  size_t *group_starts; /* (group_count + 1) in `members` */
  int32_t *members;     /* (panel_count) panels by groups, ascending in each */
  size_t top_count;
  int32_t *top_rows; /* (top_count) ascending */
  sbs_panel *panels;
  int32_t *rows;
  float *entries; /* of a panel: its triangle row by row, without the diagonal, then its rows */
  float *inverse; /* (n) 1 / D */
} sbs_panels;

/* Makes panels; the order stays that of the factors. Errors: OUT_OF_MEMORY. */
sbs_status sbs_panels_make(const sbs_cholesky *factors, sbs_arena *arena, sbs_panels *panels);

#endif
