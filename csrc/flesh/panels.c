/* SPDX-License-Identifier: MIT */
#include "flesh/panels.h"

#include <string.h>

/* A column joins the panel before it as long as zeros are less than this share of the numbers there, or so few. */
#define MOST_ZEROS 0.25
#define FEW_ZEROS 24

#define WIDEST 48

static size_t count_rows(const sbs_cholesky *factors, size_t column) {
  return factors->starts[column + 1] - factors->starts[column];
}

/* Whether the column after `last` begins where `last` has its first row: then it has all of the other rows, too. */
static int is_next(const sbs_cholesky *factors, size_t last) {
  return count_rows(factors, last) > 0 && factors->rows[factors->starts[last]] == (int32_t)last + 1;
}

/* Finds where the panel that begins at a column ends, and how many numbers it has. */
static size_t find_end(const sbs_cholesky *factors, size_t first, size_t *numbers) {
  size_t end = first + 1, used = count_rows(factors, first);
  *numbers = used;
  while (end < factors->count && end - first < WIDEST && is_next(factors, end - 1)) {
    const size_t width = end + 1 - first, below = count_rows(factors, end);
    const size_t all = width * (width - 1) / 2 + width * below, more = used + below;
    if (all - more > FEW_ZEROS && (double)(all - more) > MOST_ZEROS * (double)all) break;
    *numbers = all;
    used = more;
    end++;
  }
  return end;
}

static void fill(const sbs_cholesky *factors, const sbs_panel *panel, const int32_t *rows, int32_t *places,
                 float *entries) {
  const size_t width = (size_t)panel->width, triangle = width * (width - 1) / 2;
  memset(entries, 0, (triangle + width * (size_t)panel->row_count) * sizeof *entries);
  for (int32_t i = 0; i < panel->row_count; i++) places[rows[i]] = i;
  for (size_t c = 0; c < width; c++) {
    const size_t column = (size_t)panel->first + c;
    for (size_t at = factors->starts[column]; at < factors->starts[column + 1]; at++) {
      const size_t row = (size_t)factors->rows[at], inside = row - (size_t)panel->first;
      const size_t to = inside < width ? inside * (inside - 1) / 2 + c : triangle + (size_t)places[row] * width + c;
      entries[to] = (float)factors->entries[at];
    }
  }
}

sbs_status sbs_panels_make(const sbs_cholesky *factors, sbs_arena *arena, sbs_panels *panels) {
  size_t numbers = 0, all_numbers = 0, all_rows = 0, count = 0;
  for (size_t first = 0, end; first < factors->count; first = end, count++) {
    end = find_end(factors, first, &numbers);
    all_numbers += numbers;
    all_rows += count_rows(factors, end - 1);
  }
  sbs_arena scratch = sbs_arena_from(arena->allocator);
  int32_t *places = sbs_arena_take(&scratch, factors->count, sizeof *places);
  *panels = (sbs_panels){.count = factors->count,
                         .panels = sbs_arena_take(arena, count, sizeof *panels->panels),
                         .rows = sbs_arena_take(arena, all_rows, sizeof *panels->rows),
                         .entries = sbs_arena_take(arena, all_numbers, sizeof *panels->entries),
                         .inverse = sbs_arena_take(arena, factors->count, sizeof *panels->inverse),
                         .order = factors->order};
  const sbs_status status = arena->failed || scratch.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  all_numbers = all_rows = 0;
  for (size_t first = 0, end; first < factors->count && !status; first = end) {
    end = find_end(factors, first, &numbers);
    sbs_panel *panel = panels->panels + panels->panel_count++;
    *panel = (sbs_panel){.first = (int32_t)first,
                         .width = (int32_t)(end - first),
                         .row_count = (int32_t)count_rows(factors, end - 1),
                         .rows = all_rows,
                         .entries = all_numbers};
    memcpy(panels->rows + all_rows, factors->rows + factors->starts[end - 1],
           (size_t)panel->row_count * sizeof *panels->rows);
    fill(factors, panel, panels->rows + all_rows, places, panels->entries + all_numbers);
    all_rows += (size_t)panel->row_count;
    all_numbers += numbers;
  }
  for (size_t i = 0; i < factors->count && !status; i++) panels->inverse[i] = (float)(1.0 / factors->diagonal[i]);
  sbs_arena_release(&scratch);
  return status;
}
