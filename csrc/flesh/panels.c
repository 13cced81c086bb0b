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

/* ------------------------------------------------------------------------------------------------------- groups -- */

/* A group has at most this share of all numbers, where the tree of panels can be divided so. */
#define GROUP_SHARE 0.1

/* A panel while groups are found. */
typedef struct tree_node {
  int32_t parent; /* -1: none */
  int32_t group;  /* the root of its group; -1: the top */
  double below;   /* how many numbers it and the panels below it have */
} tree_node;

static double count_numbers(const sbs_panel *panel) {
  return (double)panel->width * ((double)panel->width / 2.0 + (double)panel->row_count);
}

/* A panel waits for all panels that have rows in it. Those whose subtree is large enough are the top. */
static void find_groups(const sbs_panels *panels, const int32_t *panel_of, tree_node *nodes) {
  double all = 0.0;
  for (size_t p = 0; p < panels->panel_count; p++) {
    const sbs_panel *panel = panels->panels + p;
    nodes[p] = (tree_node){.parent = panel->row_count ? panel_of[panels->rows[panel->rows]] : -1};
    all += count_numbers(panel);
  }
  for (size_t p = 0; p < panels->panel_count; p++) {
    nodes[p].below += count_numbers(panels->panels + p);
    if (nodes[p].parent >= 0) nodes[nodes[p].parent].below += nodes[p].below;
  }
  for (size_t p = panels->panel_count; p-- > 0;) {
    const int32_t parent = nodes[p].parent;
    if (nodes[p].below > GROUP_SHARE * all) {
      nodes[p].group = -1;
    } else {
      nodes[p].group = parent < 0 || nodes[parent].group < 0 ? (int32_t)p : nodes[parent].group;
    }
  }
}

/* Lists the panels of each group, small groups together, and the rows of the top. */
static void list_groups(sbs_panels *panels, const tree_node *nodes, int32_t *numbers, double *sizes) {
  const size_t count = panels->panel_count;
  double all = 0.0, filled = 0.0;
  for (size_t p = 0; p < count; p++) sizes[p] = 0.0;
  for (size_t p = 0; p < count; p++) {
    const double size = count_numbers(panels->panels + p);
    all += size;
    if (nodes[p].group >= 0) sizes[nodes[p].group] += size;
  }
  size_t groups = 0;
  for (size_t p = 0; p < count; p++) {
    if (!(sizes[p] > 0.0)) continue;
    if (groups == 0 || filled + sizes[p] > GROUP_SHARE * all) groups++, filled = 0.0;
    filled += sizes[p];
    numbers[p] = (int32_t)groups - 1;
  }
  panels->group_count = groups + 1;
  size_t made = 0;
  for (size_t g = 0; g <= groups; g++) {
    panels->group_starts[g] = made;
    for (size_t p = 0; p < count; p++) {
      const size_t group = nodes[p].group < 0 ? groups : (size_t)numbers[nodes[p].group];
      if (group == g) panels->members[made++] = (int32_t)p;
    }
  }
  panels->group_starts[groups + 1] = made;
}

static sbs_status make_groups(sbs_panels *panels, sbs_arena *arena, sbs_arena *scratch) {
  const size_t count = panels->panel_count;
  int32_t *panel_of = sbs_arena_take(scratch, panels->count, sizeof *panel_of);
  int32_t *places = sbs_arena_take(scratch, panels->count, sizeof *places);
  int32_t *numbers = sbs_arena_take(scratch, count, sizeof *numbers);
  double *sizes = sbs_arena_take(scratch, count, sizeof *sizes);
  tree_node *nodes = sbs_arena_take(scratch, count, sizeof *nodes);
  panels->group_starts = sbs_arena_take(arena, count + 2, sizeof *panels->group_starts);
  panels->members = sbs_arena_take(arena, count, sizeof *panels->members);
  panels->top_rows = sbs_arena_take(arena, panels->count, sizeof *panels->top_rows);
  if (arena->failed || scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t p = 0; p < count; p++) {
    for (int32_t c = 0; c < panels->panels[p].width; c++) panel_of[panels->panels[p].first + c] = (int32_t)p;
  }
  find_groups(panels, panel_of, nodes);
  list_groups(panels, nodes, numbers, sizes);
  for (size_t row = 0; row < panels->count; row++) {
    places[row] = -1;
    if (nodes[panel_of[row]].group >= 0) continue;
    places[row] = (int32_t)panels->top_count;
    panels->top_rows[panels->top_count++] = (int32_t)row;
  }
  for (size_t p = 0; p < count; p++) {
    const sbs_panel *panel = panels->panels + p;
    for (int32_t i = 0; i < panel->row_count && nodes[p].group >= 0; i++) {
      int32_t *row = panels->rows + panel->rows + i;
      if (places[*row] >= 0) *row = -1 - places[*row];
    }
  }
  return SBS_OK;
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
                         .inverse = sbs_arena_take(arena, factors->count, sizeof *panels->inverse)};
  sbs_status status = arena->failed || scratch.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
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
  if (!status) status = make_groups(panels, arena, &scratch);
  sbs_arena_release(&scratch);
  return status;
}
