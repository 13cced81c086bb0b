/* SPDX-License-Identifier: MIT */
#include "sbs/subdivision.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "mesh/edges.h"
#include "mesh/positions.h"
#include "mesh/validate.h"

/* The result, and the allocator that releases it. */
typedef struct result {
  sbs_subdivision subdivision;
  sbs_allocator allocator;
  sbs_arena arena; /* of the arrays */
} result;

/* The mesh after some levels. */
typedef struct grown {
  sbs_arena arena; /* of the arrays */
  size_t vertex_count, triangle_count;
  int32_t *parents;         /* (vertex_count - V, 3) */
  double *shares;           /* (vertex_count - V, 3) */
  int32_t *representatives; /* (vertex_count) or NULL */
  int32_t *triangles;       /* (triangle_count, 3) */
  int32_t *sources;         /* (triangle_count) */
  unsigned char *chosen;    /* (triangle_count) */
} grown;

typedef struct divider {
  const sbs_mesh_desc *mesh;
  sbs_allocator allocator;
  sbs_subdivision_scheme scheme;
  grown now;
} divider;

/* The edges that a level splits. */
typedef struct splits {
  sbs_arena arena;          /* of middles */
  sbs_edges places;         /* edges between representatives; these are split or not */
  sbs_edges edges;          /* edges between vertices; these get middles. The same if there are no representatives */
  int32_t *middle_of_place; /* NONE, or the first new vertex there, counted from 0, or PENDING */
  int32_t *middles;         /* of edges: NONE, or a new vertex, counted from 0 in the order of sides */
  size_t count;             /* new vertices */
  size_t side_count;        /* sides of triangles that are split */
} splits;

enum {
  NONE = -1,
  PENDING = -2
};

/* --------------------------------------------------------------------------------------------------------- rows -- */

/* A point of an old triangle. */
typedef struct row {
  size_t count;
  int32_t parents[3];
  double shares[3];
} row;

/*
 * Adds to the share of a parent and keeps parents ascending. The parents of a point are corners of one triangle, so
 * there are at most three.
 */
static void add_share(row *point, int32_t parent, double share) {
  size_t at = 0;
  while (at < point->count && point->parents[at] < parent) at++;
  if (at < point->count && point->parents[at] == parent) {
    point->shares[at] += share;
    return;
  }
  assert(point->count < 3);
  for (size_t i = point->count++; i > at; i--) {
    point->parents[i] = point->parents[i - 1];
    point->shares[i] = point->shares[i - 1];
  }
  point->parents[at] = parent;
  point->shares[at] = share;
}

static void add_vertex(const divider *d, row *point, int32_t vertex, double share) {
  const size_t old_count = d->mesh->vertex_count;
  if ((size_t)vertex < old_count) {
    add_share(point, vertex, share);
    return;
  }
  const size_t first = 3 * ((size_t)vertex - old_count);
  for (size_t i = first; i < first + 3; i++) {
    if (d->now.shares[i] > 0.0) add_share(point, d->now.parents[i], share * d->now.shares[i]);
  }
}

static sbs_vec3 row_position(const divider *d, const row *point) {
  sbs_vec3 sum = {0.0, 0.0, 0.0};
  for (size_t i = 0; i < point->count; i++) {
    sum = sbs_vec3_along(sum, point->shares[i], sbs_mesh_position(d->mesh, (size_t)point->parents[i]));
  }
  return sum;
}

/* The squared distance from a vertex to the middle between two others. */
static double distance_to_middle(const divider *d, int32_t vertex, int32_t a, int32_t b) {
  row point = {0}, middle = {0};
  add_vertex(d, &point, vertex, 1.0);
  add_vertex(d, &middle, a, 0.5);
  add_vertex(d, &middle, b, 0.5);
  const sbs_vec3 way = sbs_vec3_subtract(row_position(d, &middle), row_position(d, &point));
  return sbs_vec3_dot(way, way);
}

/* Writes the row of the next new vertex: the mean of some vertices. */
static void append_mean(const divider *d, grown *next, const int32_t *vertices, size_t count) {
  row point = {0};
  for (size_t i = 0; i < count; i++) add_vertex(d, &point, vertices[i], 1.0 / (double)count);
  const size_t first = 3 * (next->vertex_count - d->mesh->vertex_count);
  for (size_t i = 0; i < 3; i++) {
    next->parents[first + i] = point.parents[i < point.count ? i : 0];
    next->shares[first + i] = i < point.count ? point.shares[i] : 0.0;
  }
  next->vertex_count++;
}

/* ------------------------------------------------------------------------------------------------------- a level -- */

/* Whether a triangle is chosen and has its corners at three different points. */
static int is_divided(const grown *now, size_t triangle) {
  if (!now->chosen[triangle]) return 0;
  int32_t corners[3];
  for (size_t i = 0; i < 3; i++) {
    const int32_t vertex = now->triangles[3 * triangle + i];
    corners[i] = now->representatives ? now->representatives[vertex] : vertex;
  }
  return corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0];
}

static sbs_status find_splits(const divider *d, splits *found) {
  const grown *now = &d->now;
  sbs_status status =
      sbs_edges_find(now->triangles, now->triangle_count, now->representatives, &d->allocator, &found->places);
  if (status) return status;
  if (now->representatives) {
    status = sbs_edges_find(now->triangles, now->triangle_count, NULL, &d->allocator, &found->edges);
    if (status) return status;
  } else {
    found->edges = found->places;
  }
  found->middle_of_place = sbs_arena_take(&found->arena, found->places.count, sizeof *found->middle_of_place);
  found->middles = sbs_arena_take(&found->arena, found->edges.count, sizeof *found->middles);
  if (found->arena.failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < found->places.count; i++) found->middle_of_place[i] = NONE;
  for (size_t i = 0; i < found->edges.count; i++) found->middles[i] = NONE;

  for (size_t t = 0; t < now->triangle_count; t++) {
    if (!is_divided(now, t)) continue;
    for (size_t side = 3 * t; side < 3 * t + 3; side++) found->middle_of_place[found->places.of_sides[side]] = PENDING;
  }
  for (size_t side = 0; side < 3 * now->triangle_count; side++) {
    const int32_t place = found->places.of_sides[side];
    if (place < 0 || found->middle_of_place[place] == NONE) continue;
    int32_t *middle = found->middles + found->edges.of_sides[side];
    found->side_count++;
    if (*middle != NONE) continue;
    *middle = (int32_t)found->count++;
    if (found->middle_of_place[place] == PENDING) found->middle_of_place[place] = *middle;
  }
  return SBS_OK;
}

static void free_splits(const divider *d, splits *found) {
  if (found->edges.of_sides != found->places.of_sides) sbs_edges_free(&found->edges, &d->allocator);
  sbs_edges_free(&found->places, &d->allocator);
  sbs_arena_release(&found->arena);
}

static sbs_status allocate_grown(const divider *d, size_t vertex_count, size_t triangle_count, int representatives,
                                 grown *mesh) {
  const size_t rows = vertex_count - d->mesh->vertex_count;
  *mesh = (grown){.arena = sbs_arena_from(&d->allocator)};
  mesh->parents = sbs_arena_take(&mesh->arena, rows, 3 * sizeof *mesh->parents);
  mesh->shares = sbs_arena_take(&mesh->arena, rows, 3 * sizeof *mesh->shares);
  mesh->triangles = sbs_arena_take(&mesh->arena, triangle_count, 3 * sizeof *mesh->triangles);
  mesh->sources = sbs_arena_take(&mesh->arena, triangle_count, sizeof *mesh->sources);
  mesh->chosen = sbs_arena_take(&mesh->arena, triangle_count, sizeof *mesh->chosen);
  if (representatives) {
    mesh->representatives = sbs_arena_take(&mesh->arena, vertex_count, sizeof *mesh->representatives);
  }
  if (!mesh->arena.failed) return SBS_OK;
  sbs_arena_release(&mesh->arena);
  return SBS_ERROR_OUT_OF_MEMORY;
}

static void append_triangle(grown *next, int32_t a, int32_t b, int32_t c, int32_t source, unsigned char chosen) {
  int32_t *corners = next->triangles + 3 * next->triangle_count;
  corners[0] = a;
  corners[1] = b;
  corners[2] = c;
  next->sources[next->triangle_count] = source;
  next->chosen[next->triangle_count] = chosen;
  next->triangle_count++;
}

/* Kavan & Zara 2003, section 3, 1:4: divides a triangle at the middles of its sides, -1 where one is not split. */
static void append_parts(const divider *d, grown *next, size_t triangle, const int32_t middles[3]) {
  /* By corners and middles a, ab, b, bc, c, ca; of two split sides the quadrangle beside b by either diagonal. */
  enum {
    A,
    AB,
    B,
    BC,
    C,
    CA
  };
  static const struct {
    size_t count;
    unsigned char parts[4][3];
  } divisions[] = {{1, {{A, B, C}}},
                   {2, {{A, AB, C}, {AB, B, C}}},
                   {3, {{AB, B, BC}, {A, AB, BC}, {A, BC, C}}},
                   {4, {{A, AB, CA}, {AB, B, BC}, {CA, BC, C}, {AB, BC, CA}}},
                   {3, {{AB, B, BC}, {A, AB, C}, {AB, BC, C}}}};
  const int32_t *corners = d->now.triangles + 3 * triangle, source = d->now.sources[triangle];
  const unsigned char chosen = (unsigned char)is_divided(&d->now, triangle);
  int division = (middles[0] >= 0) + (middles[1] >= 0) + (middles[2] >= 0);
  size_t first = 0; /* the corner a, where a split side follows one that is not split */
  if (division == 1 || division == 2) {
    while (middles[first] < 0 || middles[(first + 2) % 3] >= 0) first++;
  }
  int32_t points[6];
  for (size_t i = 0; i < 3; i++) {
    points[2 * i] = corners[(first + i) % 3];
    points[2 * i + 1] = middles[(first + i) % 3];
  }
  const int32_t a = points[A], b = points[B], c = points[C];
  if (division == 2 && distance_to_middle(d, a, b, c) > distance_to_middle(d, c, a, b)) division = 4;
  for (size_t i = 0; i < divisions[division].count; i++) {
    const unsigned char *part = divisions[division].parts[i];
    append_triangle(next, points[part[0]], points[part[1]], points[part[2]], source, chosen);
  }
}

static sbs_status split_edges(const divider *d, const splits *found, grown *next) {
  const int32_t before = (int32_t)d->now.vertex_count;
  for (size_t t = 0; t < d->now.triangle_count; t++) {
    const sbs_status status = sbs_tell_some(t, d->now.triangle_count);
    if (status) return status;
    int32_t middles[3] = {NONE, NONE, NONE};
    for (size_t i = 0; i < 3; i++) {
      const size_t side = 3 * t + i;
      const int32_t place = found->places.of_sides[side];
      if (place < 0 || found->middle_of_place[place] == NONE) continue;
      middles[i] = before + found->middles[found->edges.of_sides[side]];
      if (middles[i] != (int32_t)next->vertex_count) continue; /* there already */
      if (next->representatives) next->representatives[middles[i]] = before + found->middle_of_place[place];
      append_mean(d, next, (int32_t[]){d->now.triangles[side], d->now.triangles[3 * t + (i + 1) % 3]}, 2);
    }
    append_parts(d, next, t, middles);
  }
  return SBS_OK;
}

static sbs_status insert_centroids(const divider *d, grown *next) {
  for (size_t t = 0; t < d->now.triangle_count; t++) {
    const sbs_status status = sbs_tell_some(t, d->now.triangle_count);
    if (status) return status;
    const int32_t *corners = d->now.triangles + 3 * t, source = d->now.sources[t];
    if (!is_divided(&d->now, t)) {
      append_triangle(next, corners[0], corners[1], corners[2], source, 0);
      continue;
    }
    const int32_t centroid = (int32_t)next->vertex_count;
    if (next->representatives) next->representatives[centroid] = centroid;
    append_mean(d, next, corners, 3);
    for (size_t i = 0; i < 3; i++) append_triangle(next, corners[i], corners[(i + 1) % 3], centroid, source, 1);
  }
  return SBS_OK;
}

/* Copies the rows and representatives of the vertices that exist already. */
static void copy_vertices(const divider *d, grown *next) {
  const grown *now = &d->now;
  const size_t numbers = 3 * (now->vertex_count - d->mesh->vertex_count);
  next->vertex_count = now->vertex_count;
  memcpy(next->parents, now->parents, numbers * sizeof *now->parents);
  memcpy(next->shares, now->shares, numbers * sizeof *now->shares);
  if (now->representatives) {
    memcpy(next->representatives, now->representatives, now->vertex_count * sizeof *now->representatives);
  }
}

/* Divides once. Sets *ended if nothing is left to divide; the mesh is then unchanged. */
static sbs_status divide(divider *d, int *ended) {
  splits found = {.arena = sbs_arena_from(&d->allocator)};
  grown next = {0};
  size_t new_vertices = 0, new_triangles = 0;
  sbs_status status = SBS_OK;
  if (d->scheme == SBS_SUBDIVISION_1_TO_4) {
    status = find_splits(d, &found);
    new_vertices = found.count;
    new_triangles = found.side_count;
  } else {
    for (size_t t = 0; t < d->now.triangle_count; t++) new_vertices += (size_t)is_divided(&d->now, t);
    new_triangles = 2 * new_vertices;
  }
  const size_t vertex_count = d->now.vertex_count + new_vertices;
  const size_t triangle_count = d->now.triangle_count + new_triangles;
  if (!status && (vertex_count > INT32_MAX || triangle_count > SBS_MOST_TRIANGLES)) status = SBS_ERROR_TOO_LARGE;
  *ended = !status && !new_vertices;
  if (!status && !*ended) {
    status = allocate_grown(d, vertex_count, triangle_count, d->now.representatives != NULL, &next);
    if (!status) {
      copy_vertices(d, &next);
      status = d->scheme == SBS_SUBDIVISION_1_TO_4 ? split_edges(d, &found, &next) : insert_centroids(d, &next);
      sbs_arena_release(status ? &next.arena : &d->now.arena);
    }
    if (!status) d->now = next;
  }
  free_splits(d, &found);
  return status;
}

/* --------------------------------------------------------------------------------------------------------- whole -- */

static sbs_status validate(const sbs_mesh_desc *mesh, const int32_t *representatives, sbs_subdivision_scheme scheme,
                           int levels, sbs_fault *fault) {
  if (scheme != SBS_SUBDIVISION_1_TO_3 && scheme != SBS_SUBDIVISION_1_TO_4) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scheme", (double)scheme, 0.0);
  }
  if (levels < 1) return sbs_fault_number(fault, SBS_ERROR_OPTION, "levels", levels, 1.0);
  const sbs_status status = sbs_mesh_validate_positions(mesh, fault);
  return status ? status : sbs_edges_validate(mesh, representatives, fault);
}

/* Whether the parts of the chosen triangles alone would be too many. Known before any is made. */
static int grows_too_large(const divider *d, int levels) {
  const size_t parts = d->scheme == SBS_SUBDIVISION_1_TO_4 ? 4 : 3;
  size_t count = 0;
  for (size_t t = 0; t < d->now.triangle_count; t++) count += (size_t)is_divided(&d->now, t);
  for (int level = 0; level < levels && count && count <= SBS_MOST_TRIANGLES; level++) count *= parts;
  return count > SBS_MOST_TRIANGLES;
}

/* The mesh before the first level. */
static sbs_status begin(divider *d, const int32_t *representatives, const unsigned char *chosen) {
  const sbs_mesh_desc *mesh = d->mesh;
  grown *now = &d->now;
  const sbs_status status = allocate_grown(d, mesh->vertex_count, mesh->triangle_count, representatives != NULL, now);
  if (status) return status;
  now->vertex_count = mesh->vertex_count;
  if (representatives) {
    memcpy(now->representatives, representatives, mesh->vertex_count * sizeof *representatives);
  }
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *corners = mesh->triangles + 3 * t;
    append_triangle(now, corners[0], corners[1], corners[2], (int32_t)t, chosen[t]);
  }
  return SBS_OK;
}

sbs_status sbs_subdivision_new(const sbs_mesh_desc *mesh, const int32_t *representatives, const unsigned char *chosen,
                               sbs_subdivision_scheme scheme, int levels, const sbs_allocator *allocator,
                               const sbs_subdivision **subdivision, sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!chosen && mesh->triangle_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "chosen");
  if (!subdivision) return sbs_fault_in(fault, SBS_ERROR_NULL, "subdivision");
  divider d = {.mesh = mesh, .scheme = scheme};
  sbs_status status = sbs_choose_allocator(allocator, &d.allocator, fault);
  if (!status) status = validate(mesh, representatives, scheme, levels, fault);
  if (status) return status;

  result *made = sbs_allocate(&d.allocator, 1, sizeof *made);
  status = made ? begin(&d, representatives, chosen) : SBS_ERROR_OUT_OF_MEMORY;
  if (!status && grows_too_large(&d, levels)) status = SBS_ERROR_TOO_LARGE;
  int ended = 0;
  for (int level = 0; level < levels && !status && !ended; level++) status = divide(&d, &ended);
  if (status) {
    sbs_arena_release(&d.now.arena);
    sbs_release(&d.allocator, made);
    if (status == SBS_ERROR_TOO_LARGE) return sbs_fault_number(fault, status, "levels", levels, INT32_MAX);
    return sbs_fault_in(fault, status, NULL);
  }
  *made = (result){.allocator = d.allocator,
                   .arena = d.now.arena,
                   .subdivision = {.vertex_count = d.now.vertex_count,
                                   .new_vertex_count = d.now.vertex_count - mesh->vertex_count,
                                   .triangle_count = d.now.triangle_count,
                                   .parents = d.now.parents,
                                   .shares = d.now.shares,
                                   .triangles = d.now.triangles,
                                   .sources = d.now.sources}};
  made->arena.allocator = &made->allocator;
  *subdivision = &made->subdivision;
  return SBS_OK;
}

void sbs_subdivision_free(const sbs_subdivision *subdivision) {
  if (!subdivision) return;
  result *made = (result *)subdivision; /* its first member */
  const sbs_allocator allocator = made->allocator;
  sbs_arena_release(&made->arena);
  sbs_release(&allocator, made);
}
