/* SPDX-License-Identifier: MIT */
#include "weights/heat_joins.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "mesh/union_find.h"

enum {
  SLICE = 4096 /* points that are looked up between reports of progress */
};

/* Scratch for joining islands. */
typedef struct joiner {
  const sbs_heat_surface *surface;
  const sbs_surface *tree;
  int threads;
  const sbs_heat_progress *progress;

  int32_t *groups;     /* (I) of islands that are joined: a tree to its lowest member */
  int32_t (*links)[2]; /* (2 I) pairs of islands */
  size_t link_count;   /* below 2 I: a round adds one for each group, and at least halves the number of groups */
  size_t group_count;
  int32_t *best;   /* (I) of each group: the place in `points` of the vertex that is nearest to another group */
  int32_t *depths; /* (I) */
  int32_t *triangle_labels; /* (T) */
  int32_t *point_labels;    /* (W) this and the rest: arguments and results of sbs_surface_nearest */
  int32_t *points;
  double (*positions)[3];
  int32_t *nearest;
  double (*shares)[3];
  double *distances;
} joiner;

static sbs_status joiner_init(joiner *in, sbs_arena *arena) {
  const size_t count = in->surface->vertex_count, islands = in->surface->island_count;
  in->groups = sbs_arena_take(arena, islands, sizeof *in->groups);
  in->links = sbs_arena_take(arena, islands, 2 * sizeof *in->links);
  in->best = sbs_arena_take(arena, islands, sizeof *in->best);
  in->depths = sbs_arena_take(arena, islands, sizeof *in->depths);
  in->triangle_labels = sbs_arena_take(arena, in->surface->triangle_count, sizeof *in->triangle_labels);
  in->point_labels = sbs_arena_take(arena, count, sizeof *in->point_labels);
  in->points = sbs_arena_take(arena, count, sizeof *in->points);
  in->positions = sbs_arena_take(arena, count, sizeof *in->positions);
  in->nearest = sbs_arena_take(arena, count, sizeof *in->nearest);
  in->shares = sbs_arena_take(arena, count, sizeof *in->shares);
  in->distances = sbs_arena_take(arena, count, sizeof *in->distances);
  return arena->failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
}

/* Looks up the first `count` points. Triangles with the label of the point are skipped. */
static sbs_status ask(joiner *in, size_t count) {
  for (size_t i = 0; i < count; i++) {
    memcpy(in->positions[i], in->surface->positions + 3 * (size_t)in->points[i], sizeof in->positions[i]);
  }
  for (size_t first = 0; first < count; first += SLICE) {
    const size_t size = count - first < SLICE ? count - first : SLICE;
    sbs_status status = sbs_heat_tell(in->progress, 0.0); /* the number of rounds is not known */
    if (!status) {
      status = sbs_surface_nearest(in->tree, in->positions[first], size, in->point_labels + first, in->triangle_labels,
                                   in->threads, in->nearest + first, in->shares[first], in->distances + first, NULL);
    }
    if (status) return status;
  }
  for (size_t i = 0; i < count; i++) {
    if (in->nearest[i] < 0) return SBS_ERROR_INTERNAL; /* there is always an island with heat, and triangles */
  }
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------- spanning tree -- */

static void link_islands(joiner *in, int32_t a, int32_t b) {
  in->links[in->link_count][0] = a;
  in->links[in->link_count++][1] = b;
  in->group_count -= sbs_groups_find(in->groups, a) != sbs_groups_find(in->groups, b);
  sbs_groups_unite(in->groups, a, b);
}

/* Links every group but the hub's to its nearest one; of equal distances, the lowest vertex decides. */
static sbs_status link_nearest(joiner *in, int32_t hub) {
  const sbs_heat_surface *surface = in->surface;
  const int32_t fed = sbs_groups_find(in->groups, hub);
  size_t count = 0;
  for (size_t v = 0; v < surface->vertex_count; v++) {
    const int32_t group = sbs_groups_find(in->groups, surface->island_of[v]);
    if (group == fed) continue;
    in->points[count] = (int32_t)v;
    in->point_labels[count++] = group;
  }
  for (size_t t = 0; t < surface->triangle_count; t++) {
    in->triangle_labels[t] = sbs_groups_find(in->groups, sbs_heat_island_of_triangle(surface, t));
  }
  const sbs_status status = ask(in, count);
  if (status) return status;

  for (size_t i = 0; i < surface->island_count; i++) in->best[i] = -1;
  for (size_t i = 0; i < count; i++) {
    int32_t *best = in->best + in->point_labels[i];
    if (*best < 0 || in->distances[i] < in->distances[*best]) *best = (int32_t)i;
  }
  for (size_t i = 0; i < surface->island_count; i++) {
    if (in->best[i] < 0) continue;
    const size_t place = (size_t)in->best[i];
    link_islands(in, surface->island_of[in->points[place]],
                 sbs_heat_island_of_triangle(surface, (size_t)in->nearest[place]));
  }
  return SBS_OK;
}

/* Finds depths along the links, beginning at the islands of depth 0. */
static sbs_status measure_depths(joiner *in) {
  int found = 1;
  for (int32_t depth = 0; found; depth++) {
    found = 0;
    for (size_t i = 0; i < 2 * in->link_count; i++) {
      const int32_t from = in->links[i / 2][i % 2], to = in->links[i / 2][1 - i % 2];
      if (in->depths[from] != depth || in->depths[to] >= 0) continue;
      in->depths[to] = depth + 1;
      found = 1;
    }
  }
  for (size_t i = 0; i < in->surface->island_count; i++) {
    if (in->depths[i] < 0) return SBS_ERROR_INTERNAL;
  }
  return SBS_OK;
}

/* Joins all islands to the ones with heat, and finds how many links each is away from one of them. */
static sbs_status join_islands(joiner *in, const signed char *reasons) {
  int32_t hub = 0;
  sbs_status status = SBS_OK;
  while (reasons[hub] >= 0) hub++;
  sbs_groups_init(in->groups, in->surface->island_count);
  in->group_count = 1;
  for (size_t i = 0; i < in->surface->island_count; i++) {
    const int has_heat = reasons[i] < 0;
    in->depths[i] = has_heat ? 0 : -1;
    in->group_count += !has_heat;
    if (has_heat) sbs_groups_unite(in->groups, hub, (int32_t)i); /* all islands with heat are one group */
  }
  while (!status && in->group_count > 1) status = link_nearest(in, hub);
  return status ? status : measure_depths(in);
}

/* ------------------------------------------------------------------------------------------------ nearest points -- */

/* Sorts the vertices by depth. */
static sbs_status sort_vertices(sbs_heat_joins *joins, const joiner *in, const sbs_allocator *allocator) {
  const sbs_heat_surface *surface = in->surface;
  int32_t deepest = 0;
  for (size_t i = 0; i < surface->island_count; i++) deepest = in->depths[i] > deepest ? in->depths[i] : deepest;
  joins->depth_count = (size_t)deepest + 1;
  joins->depth_starts = sbs_arena_take(&joins->arena, joins->depth_count + 1, sizeof *joins->depth_starts);
  size_t *next = sbs_allocate(allocator, joins->depth_count, sizeof *next);
  if (joins->depth_starts && next) {
    memset(joins->depth_starts, 0, (joins->depth_count + 1) * sizeof *joins->depth_starts);
    for (size_t v = 0; v < surface->vertex_count; v++) joins->depth_starts[in->depths[surface->island_of[v]] + 1]++;
    for (size_t d = 0; d < joins->depth_count; d++) {
      joins->depth_starts[d + 1] += joins->depth_starts[d];
      next[d] = joins->depth_starts[d];
    }
    for (size_t v = 0; v < surface->vertex_count; v++) {
      joins->vertices[next[in->depths[surface->island_of[v]]]++] = (int32_t)v;
    }
  }
  const sbs_status status = joins->depth_starts && next ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  sbs_release(allocator, next);
  return status;
}

/* Joins the vertices of a depth to the islands of less depth. */
static sbs_status hang(sbs_heat_joins *joins, joiner *in, size_t depth) {
  const size_t first = joins->depth_starts[depth], count = joins->depth_starts[depth + 1] - first;
  memcpy(in->points, joins->vertices + first, count * sizeof *in->points);
  for (size_t i = 0; i < count; i++) in->point_labels[i] = 1;
  for (size_t t = 0; t < in->surface->triangle_count; t++) {
    in->triangle_labels[t] = in->depths[sbs_heat_island_of_triangle(in->surface, t)] >= (int32_t)depth;
  }
  const sbs_status status = ask(in, count);
  if (status) return status;
  memcpy(joins->triangles + first, in->nearest, count * sizeof *in->nearest);
  memcpy(joins->shares + first, in->shares, count * sizeof *in->shares);
  memcpy(joins->distances + first, in->distances, count * sizeof *in->distances);
  return SBS_OK;
}

sbs_status sbs_heat_joins_init(sbs_heat_joins *joins, const sbs_heat_surface *surface, const sbs_surface *tree,
                               const signed char *reasons, int threads, const sbs_heat_progress *progress,
                               const sbs_allocator *allocator) {
  const size_t count = surface->vertex_count;
  joiner in = {.surface = surface, .tree = tree, .threads = threads, .progress = progress};
  sbs_arena arena = sbs_arena_from(allocator);
  *joins = (sbs_heat_joins){.arena = sbs_arena_from(allocator)};
  joins->vertices = sbs_arena_take(&joins->arena, count, sizeof *joins->vertices);
  joins->triangles = sbs_arena_take(&joins->arena, count, sizeof *joins->triangles);
  joins->shares = sbs_arena_take(&joins->arena, count, sizeof *joins->shares);
  joins->distances = sbs_arena_take(&joins->arena, count, sizeof *joins->distances);
  if (joins->arena.failed) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_status status = joiner_init(&in, &arena);
  if (!status) status = join_islands(&in, reasons);
  if (!status) status = sort_vertices(joins, &in, allocator);
  if (!status) memset(joins->triangles, -1, count * sizeof *joins->triangles);
  for (size_t depth = 1; !status && depth < joins->depth_count; depth++) status = hang(joins, &in, depth);
  sbs_arena_release(&arena);
  return status;
}

void sbs_heat_joins_free(sbs_heat_joins *joins) {
  sbs_arena_release(&joins->arena);
}
