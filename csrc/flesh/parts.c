/* SPDX-License-Identifier: MIT */
/* Parts of the surface whose volume is kept: limbs and connected pieces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/algebra.h"
#include "flesh/flesh.h"
#include "mesh/edges.h"
#include "mesh/union_find.h"
#include "sbs/mesh.h"

/* Parts with fewer triangles, or flatter ones, have no volume to keep. */
#define FEWEST_TRIANGLES 12
#define LEAST_VOLUME 0.05

/* The limb of a triangle: where its corners have most weight; -1 without weights. Sums (J) are 0 before and after. */
static int32_t find_limb(const sbs_flesh_weights *weights, const sbs_flesh_triangle *triangle, double *sums) {
  int32_t best = -1;
  for (int is_clearing = 0; is_clearing < 2; is_clearing++) {
    for (size_t c = 0; c < 3; c++) {
      const size_t w = (size_t)triangle->corners[c];
      for (size_t i = weights->starts[w]; i < weights->starts[w + 1]; i++) {
        const int32_t limb = weights->limbs[weights->joints[i]];
        sums[limb] = is_clearing ? 0.0 : sums[limb] + weights->weights[i];
        if (is_clearing) continue;
        if (best < 0 || sums[limb] > sums[best] || (sums[limb] == sums[best] && limb < best)) best = limb;
      }
    }
  }
  return best;
}

/* A part as it is found: a limb or a piece. */
typedef struct found_part {
  int32_t joint; /* of a limb; -1: of a piece */
  int is_rigid;  /* a piece of one joint alone */
  size_t triangles;
  sbs_vec3 apex;        /* the mean of the corners */
  double volume, cones; /* of cones: their sum, and that of their sizes */
} found_part;

static void add_triangle(const sbs_flesh *flesh, const sbs_flesh_triangle *triangle, int is_measuring,
                         found_part *part) {
  sbs_vec3 corners[3];
  for (size_t c = 0; c < 3; c++) corners[c] = sbs_vec3_read(flesh->rest + 3 * (size_t)triangle->corners[c]);
  if (!is_measuring) {
    part->triangles++;
    for (size_t c = 0; c < 3; c++) part->apex = sbs_vec3_along(part->apex, 1.0, corners[c]);
    return;
  }
  for (size_t c = 0; c < 3; c++) {
    corners[c] = sbs_vec3_along(corners[c], -1.0 / (3.0 * (double)part->triangles), part->apex);
  }
  const double cone = sbs_vec3_dot(corners[0], sbs_vec3_cross(corners[1], corners[2])) / 6.0;
  part->volume += cone;
  part->cones += fabs(cone);
}

static int keeps_volume(const found_part *part) {
  return !part->is_rigid && part->triangles >= FEWEST_TRIANGLES && fabs(part->volume) > LEAST_VOLUME * part->cones;
}

/* Gives parts that keep a volume their numbers, and triangles these. */
static sbs_status number_parts(sbs_flesh *flesh, const found_part *found, size_t count, int32_t *numbers) {
  sbs_arena *arena = &flesh->arena;
  for (size_t p = 0; p < count; p++) numbers[p] = keeps_volume(found + p) ? (int32_t)flesh->part_count++ : -1;
  flesh->parts = sbs_arena_take(arena, flesh->part_count, sizeof *flesh->parts);
  flesh->part_starts = sbs_arena_take(arena, flesh->part_count + 1, sizeof *flesh->part_starts);
  flesh->part_triangles = sbs_arena_take(arena, flesh->triangle_count, 2 * sizeof *flesh->part_triangles);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t p = 0; p <= flesh->part_count; p++) flesh->part_starts[p] = 0;
  for (size_t p = 0; p < count; p++) {
    if (numbers[p] < 0) continue;
    sbs_flesh_part *part = flesh->parts + numbers[p];
    const double share = 1.0 / (3.0 * (double)found[p].triangles);
    *part = (sbs_flesh_part){.joint = found[p].joint,
                             .apex = {share * found[p].apex.x, share * found[p].apex.y, share * found[p].apex.z}};
    flesh->part_starts[numbers[p] + 1] = found[p].triangles;
  }
  for (size_t p = 0; p < flesh->part_count; p++) flesh->part_starts[p + 1] += flesh->part_starts[p];
  const size_t total = flesh->part_starts[flesh->part_count];
  for (size_t t = flesh->triangle_count; t-- > 0;) {
    sbs_flesh_triangle *triangle = flesh->triangles + t;
    int32_t *parts[2] = {&triangle->limb, &triangle->piece};
    for (size_t i = 0; i < 2; i++) {
      if (*parts[i] >= 0) *parts[i] = numbers[*parts[i]];
      /* Each list is filled from its end; then its end is its begin. */
      if (*parts[i] >= 0) flesh->part_triangles[--flesh->part_starts[*parts[i] + 1]] = (int32_t)t;
    }
  }
  for (size_t p = 0; p < flesh->part_count; p++) flesh->part_starts[p] = flesh->part_starts[p + 1];
  flesh->part_starts[flesh->part_count] = total;
  return SBS_OK;
}

/* Finds pieces that are of one joint alone, which move rigidly. */
static void find_rigid(const sbs_flesh *flesh, const sbs_flesh_weights *weights, const int32_t *islands,
                       found_part *pieces, size_t count) {
  for (size_t p = 0; p < count; p++) pieces[p].joint = INT32_MAX; /* no vertex yet */
  for (size_t w = 0; w < flesh->count; w++) {
    const size_t first = weights->starts[w], influences = weights->starts[w + 1] - first;
    found_part *piece = pieces + islands[w];
    const int32_t joint = influences == 1 ? weights->joints[first] : -1;
    piece->joint = piece->joint == INT32_MAX || piece->joint == joint ? joint : -1;
  }
  for (size_t p = 0; p < count; p++) {
    pieces[p].is_rigid = pieces[p].joint >= 0;
    pieces[p].joint = -1;
  }
}

/* A side of a triangle that has no other triangle of its part beside it. */
typedef struct open_side {
  int32_t part, root, ends[2]; /* root: a vertex of the rim, the same for all of its sides */
} open_side;

static int compare_sides(const void *a, const void *b) {
  const open_side *x = a, *y = b;
  if (x->part != y->part) return x->part < y->part ? -1 : 1;
  if (x->root != y->root) return x->root < y->root ? -1 : 1;
  if (x->ends[0] != y->ends[0]) return x->ends[0] < y->ends[0] ? -1 : 1;
  return (x->ends[1] > y->ends[1]) - (x->ends[1] < y->ends[1]);
}

/* Joins sides of one part that share a vertex. Parents are those of the groups of vertices. */
static void find_roots(open_side *sides, size_t count, int32_t *parents) {
  for (size_t begin = 0, end; begin < count; begin = end) {
    for (end = begin; end < count && sides[end].part == sides[begin].part; end++) {
      for (size_t i = 0; i < 2; i++) parents[sides[end].ends[i]] = sides[end].ends[i];
    }
    for (size_t i = begin; i < end; i++) sbs_groups_unite(parents, sides[i].ends[0], sides[i].ends[1]);
    for (size_t i = begin; i < end; i++) sides[i].root = sbs_groups_find(parents, sides[i].ends[0]);
  }
}

/* Lists the open sides of all limbs and pieces; `others` (3 T) is the side at the same edge, or less than 0. */
static size_t list_open_sides(const sbs_flesh *flesh, const int32_t *others, open_side *sides) {
  size_t count = 0;
  for (size_t side = 0; side < 3 * flesh->triangle_count; side++) {
    const sbs_flesh_triangle *triangle = flesh->triangles + side / 3;
    const sbs_flesh_triangle *other = others[side] < 0 ? NULL : flesh->triangles + others[side] / 3;
    const int32_t parts[2] = {triangle->limb, triangle->piece};
    for (size_t i = 0; i < 2; i++) {
      if (parts[i] < 0 || (other && (i ? other->piece : other->limb) == parts[i])) continue;
      sides[count++] =
          (open_side){.part = parts[i], .ends = {triangle->corners[(side + 1) % 3], triangle->corners[side % 3]}};
    }
  }
  return count;
}

/* For each side the one at the same edge that runs the other way, if there is just one. */
static sbs_status pair_sides(const sbs_flesh *flesh, const int32_t *triangles, int32_t *others, sbs_arena *scratch) {
  const size_t sides = 3 * flesh->triangle_count;
  int32_t *firsts = sbs_arena_take(scratch, sides, sizeof *firsts);
  int32_t *seconds = sbs_arena_take(scratch, sides, sizeof *seconds);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_edges edges;
  const sbs_status status = sbs_edges_find(triangles, flesh->triangle_count, NULL, &flesh->allocator, &edges);
  if (status) return status;
  sbs_edges_pair_sides(&edges, sides, firsts, seconds);
  for (size_t side = 0; side < sides; side++) others[side] = -1;
  for (size_t e = 0; e < edges.count; e++) {
    if (seconds[e] < 0) continue;
    const int32_t one = firsts[e], two = seconds[e];
    if (triangles[one] == triangles[two]) continue; /* they turn against each other */
    others[one] = two;
    others[two] = one;
  }
  sbs_edges_free(&edges, &flesh->allocator);
  return SBS_OK;
}

static sbs_status find_rims(sbs_flesh *flesh, const int32_t *triangles, sbs_arena *scratch) {
  sbs_arena *arena = &flesh->arena;
  int32_t *others = sbs_arena_take(scratch, flesh->triangle_count, 3 * sizeof *others);
  int32_t *parents = sbs_arena_take(scratch, flesh->count, sizeof *parents);
  open_side *sides = sbs_arena_take(scratch, flesh->triangle_count, 6 * sizeof *sides);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  const sbs_status status = pair_sides(flesh, triangles, others, scratch);
  if (status) return status;
  flesh->cap_count = list_open_sides(flesh, others, sides);
  qsort(sides, flesh->cap_count, sizeof *sides, compare_sides); /* by parts */
  find_roots(sides, flesh->cap_count, parents);
  qsort(sides, flesh->cap_count, sizeof *sides, compare_sides);
  flesh->rims = sbs_arena_take(arena, flesh->cap_count, sizeof *flesh->rims);
  flesh->caps = sbs_arena_take(arena, flesh->cap_count, sizeof *flesh->caps);
  flesh->rim_starts = sbs_arena_take(arena, flesh->part_count + 1, sizeof *flesh->rim_starts);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < flesh->cap_count; i++) {
    const int is_new = !i || sides[i].part != sides[i - 1].part || sides[i].root != sides[i - 1].root;
    if (is_new) flesh->rims[flesh->rim_count++] = (sbs_flesh_rim){.part = sides[i].part, .begin = i};
    flesh->rims[flesh->rim_count - 1].end = i + 1;
    memcpy(flesh->caps[i], sides[i].ends, sizeof flesh->caps[i]);
  }
  for (size_t p = 0, rim = 0; p <= flesh->part_count; p++) {
    while (rim < flesh->rim_count && (size_t)flesh->rims[rim].part < p) rim++;
    flesh->rim_starts[p] = rim;
  }
  return SBS_OK;
}

/* Lists for each vertex the corners of triangles and the ends of rims' sides there. */
static sbs_status list_corners(sbs_flesh *flesh) {
  const size_t corners = 3 * flesh->triangle_count, all = corners + 2 * flesh->cap_count;
  flesh->corner_starts = sbs_arena_take(&flesh->arena, flesh->count + 1, sizeof *flesh->corner_starts);
  flesh->corners = sbs_arena_take(&flesh->arena, all, sizeof *flesh->corners);
  if (flesh->arena.failed) return SBS_ERROR_OUT_OF_MEMORY;
  size_t *starts = flesh->corner_starts;
  for (size_t w = 0; w <= flesh->count; w++) starts[w] = 0;
  for (int is_filling = 0; is_filling < 2; is_filling++) {
    for (size_t i = all; i-- > 0;) {
      const int32_t *of_rims = flesh->cap_count ? flesh->caps[0] : NULL;
      const int32_t w = i < corners ? flesh->triangles[i / 3].corners[i % 3] : of_rims[i - corners];
      if (is_filling) {
        flesh->corners[--starts[w + 1]] = (int32_t)i; /* each list from its end */
      } else {
        starts[w + 1]++;
      }
    }
    for (size_t w = 0; w < flesh->count && !is_filling; w++) starts[w + 1] += starts[w];
  }
  memmove(starts, starts + 1, flesh->count * sizeof *starts); /* ends, which are begins now */
  starts[flesh->count] = all;
  return SBS_OK;
}

/* Vertices are free that are in no rigid piece, and have triangles and weights. */
static void choose_free(sbs_flesh *flesh, const sbs_flesh_desc *desc, const sbs_flesh_weights *weights,
                        const int32_t *islands, const found_part *pieces) {
  for (size_t w = 0; w < flesh->count; w++) {
    const int has_weights = weights->starts[w + 1] > weights->starts[w];
    const int has_triangles = flesh->corner_starts[w + 1] > flesh->corner_starts[w];
    const int is_held = desc->amounts && !(desc->amounts[flesh->kept[w]] > 0.0);
    if (has_weights && has_triangles && !pieces[islands[w]].is_rigid && !is_held)
      flesh->free_vertices[flesh->free_count++] = (int32_t)w;
  }
}

/* Finds limbs and pieces, their rims, and which vertices are free. */
sbs_status sbs_flesh_find_parts(sbs_flesh *flesh, const sbs_flesh_desc *desc, const sbs_flesh_weights *weights,
                                sbs_arena *scratch) {
  const size_t joints = flesh->joint_count, count = flesh->count;
  double *sums = sbs_arena_take(scratch, joints, sizeof *sums);
  int32_t *islands = sbs_arena_take(scratch, count, sizeof *islands);
  const int32_t *triangles = sbs_flesh_pack(flesh, scratch);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  size_t pieces = 0;
  const sbs_mesh_desc mesh = {.vertex_count = count, .triangle_count = flesh->triangle_count, .triangles = triangles};
  sbs_status status = sbs_mesh_islands(&mesh, islands, &pieces, NULL);
  if (status) return status;
  found_part *found = sbs_arena_take(scratch, joints + pieces, sizeof *found);
  int32_t *numbers = sbs_arena_take(scratch, joints + pieces, sizeof *numbers);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t p = 0; p < joints + pieces; p++) found[p] = (found_part){.joint = (int32_t)p};
  find_rigid(flesh, weights, islands, found + joints, pieces);
  memset(sums, 0, joints * sizeof *sums);
  for (int is_measuring = 0; is_measuring < 2; is_measuring++) {
    for (size_t t = 0; t < flesh->triangle_count; t++) {
      sbs_flesh_triangle *triangle = flesh->triangles + t;
      if (!is_measuring) {
        triangle->limb = find_limb(weights, triangle, sums);
        triangle->piece = (int32_t)joints + islands[triangle->corners[0]];
      }
      if (triangle->limb >= 0) add_triangle(flesh, triangle, is_measuring, found + triangle->limb);
      add_triangle(flesh, triangle, is_measuring, found + triangle->piece);
    }
  }
  status = number_parts(flesh, found, joints + pieces, numbers);
  if (!status) status = find_rims(flesh, triangles, scratch);
  if (!status) status = list_corners(flesh);
  if (!status) choose_free(flesh, desc, weights, islands, found + joints);
  return status;
}
