/* SPDX-License-Identifier: MIT */
/* Finds which skin covers which muscle: the foot of each vertex on the path, its distance, and its share. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "muscles/cover.h"
#include "muscles/path.h"
#include "muscles/profile.h"
#include "sbs/mesh.h"

/* Where along the path the search for a foot begins. */
#define SEARCH_STEPS 16

/* The share falls over this part of the belly at each of its ends, */
#define END_PART 0.15
/* from skin that faces the muscle's surface by this cosine to skin at right angles, */
#define FACING 0.5
/* and from this weight of the covered joints to none. */
#define FOLLOWING 0.5

/* Less is none. */
#define LEAST_SHARE 1e-3

/* One muscle is bound at a time. */
typedef struct muscle_binding {
  const sbs_muscles *muscles;
  const sbs_muscles_desc *desc;
  const sbs_muscle *muscle;
  sbs_posed_muscle posed;      /* in the bind pose */
  const unsigned char *covers; /* (joint_count) whether it moves a joint's skin; NULL: of all */
  double center[3], bound;     /* no skin is near that is farther from the center */
} muscle_binding;

/* A vertex and its share. */
typedef struct cover_pair {
  int32_t vertex;
  float foot, share, distance;
  sbs_cover_slopes slopes;
  float frame[2][3]; /* directions on the skin that slopes are along */
} cover_pair;

typedef struct pair_list {
  size_t count, room;
  cover_pair *pairs;
} pair_list;

static double smooth_step(double x) {
  const double t = fmin(fmax(x, 0.0), 1.0);
  return t * t * (3.0 - 2.0 * t);
}

static double squared_distance(const double a[3], const double b[3]) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/* ------------------------------------------------------------------------------------------------- one vertex -- */

/* x of the nearest point of the path. */
static double find_foot(const sbs_path *path, const double point[3]) {
  double foot = 0.0, least = INFINITY;
  for (int i = 0; i <= SEARCH_STEPS; i++) {
    double there[3];
    sbs_path_at(path, (double)i / SEARCH_STEPS, there);
    const double squared = squared_distance(there, point);
    if (squared < least) least = squared, foot = (double)i / SEARCH_STEPS;
  }
  /* By halves of steps: it needs no derivative, and stays where it began. */
  for (double step = 0.5 / SEARCH_STEPS; step > 1e-9; step *= 0.5) {
    for (int side = -1; side <= 1; side += 2) {
      const double x = foot + side * step;
      if (x < 0.0 || x > 1.0) continue;
      double there[3];
      sbs_path_at(path, x, there);
      const double squared = squared_distance(there, point);
      if (squared < least) least = squared, foot = x;
    }
  }
  return foot;
}

/* How much of a vertex follows the joints that the muscle moves the skin of, 0 to 1. */
static double following(const muscle_binding *binding, size_t vertex) {
  const sbs_muscles_desc *desc = binding->desc;
  if (!binding->covers) return 1.0;
  double sum = 0.0, covered = 0.0;
  for (size_t k = 0; k < desc->influences_per_vertex; k++) {
    const size_t i = vertex * desc->influences_per_vertex + k;
    const double weight = sbs_scalar_get(desc->joint_weights, desc->weight_scalar, i);
    sum += weight;
    if (binding->covers[desc->joint_indices[i]]) covered += weight;
  }
  return sum > 0.0 ? smooth_step(covered / sum / FOLLOWING) : 0.0;
}

/* How much of the muscle there is, from 0 at the ends of the belly. */
static double along_belly(const sbs_posed_muscle *posed, double foot) {
  const double u = (foot - posed->start) / (posed->end - posed->start);
  return smooth_step(fmin(u, 1.0 - u) / END_PART);
}

/* ------------------------------------------------------------------------------------------------- one muscle -- */

static sbs_status append(pair_list *list, cover_pair added, const sbs_allocator *allocator, sbs_fault *fault) {
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 1024;
    cover_pair *pairs = sbs_allocate(allocator, room, sizeof *pairs);
    if (!pairs) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
    if (list->count) memcpy(pairs, list->pairs, list->count * sizeof *pairs);
    sbs_release(allocator, list->pairs);
    list->pairs = pairs;
    list->room = room;
  }
  list->pairs[list->count++] = added;
  return SBS_OK;
}

/* Vertices near enough to be measured, a block of them. */
typedef struct candidates {
  size_t count;
  int32_t vertices[SBS_COVER_BLOCK];
  float feet[SBS_COVER_BLOCK];
  double positions[SBS_COVER_BLOCK][3];
  double following[SBS_COVER_BLOCK];
  sbs_cover_scratch scratch;
} candidates;

/* How much of a vertex faces the same way as the surface of the muscle. */
static double facing(const candidates *found, const sbs_measured *measured, size_t i) {
  double cosine = 0.0;
  for (int axis = 0; axis < 3; axis++) cosine += (double)(measured->normals[axis][i] * found->scratch.normals[axis][i]);
  return smooth_step(cosine / FACING);
}

/* Adds a candidate to the list if it has a share. */
static sbs_status keep_candidate(const muscle_binding *binding, const candidates *found, const sbs_measured *measured,
                                 size_t i, pair_list *list, sbs_fault *fault) {
  const double distance = (double)measured->distances[i];
  const double along = along_belly(&binding->posed, (double)found->feet[i]);
  const double within = smooth_step(2.0 - 2.0 * distance / binding->muscle->reach);
  const double faces = binding->muscles->has_normals ? facing(found, measured, i) : 1.0;
  const double share = found->following[i] * faces * along * within;
  if (!(share > LEAST_SHARE)) return SBS_OK;
  if (distance < 0.0) {
    const size_t muscle = (size_t)(binding->muscle - binding->desc->muscles);
    return sbs_fault_at(fault, SBS_ERROR_RADIUS, "radius", muscle, (size_t)found->vertices[i], -distance, 0.0);
  }
  cover_pair added = {found->vertices[i],     found->feet[i],   (float)share,
                      measured->distances[i], {{0, 0}, {0, 0}}, {{0}}};
  for (int k = 0; k < 2; k++) {
    added.slopes.distance[k] = measured->slopes[k][i];
    for (int axis = 0; axis < 3; axis++) added.frame[k][axis] = measured->frames[k][axis][i];
  }
  return append(list, added, &binding->muscles->allocator, fault);
}

static sbs_status measure_candidates(const muscle_binding *binding, candidates *found, pair_list *list,
                                     sbs_fault *fault) {
  const sbs_muscles *muscles = binding->muscles;
  for (size_t i = found->count; i < SBS_COVER_BLOCK; i++) found->feet[i] = 0.0f;
  sbs_cover_muscle muscle;
  sbs_bring_near(&binding->posed, found->positions[0], &muscle);
  for (size_t i = 0; i < found->count; i++) {
    for (int axis = 0; axis < 3; axis++) {
      found->scratch.positions[axis][i] = (float)(found->positions[i][axis] - found->positions[0][axis]);
    }
  }
  const sbs_cover_args args = {.muscle = &muscle,
                               .has_normals = muscles->has_normals,
                               .is_first = 1,
                               .count = SBS_COVER_BLOCK,
                               .feet = found->feet,
                               .scratch = &found->scratch};
  sbs_measured measured;
  sbs_measure_cover_pairs_of(muscles->isa)(&args, &measured);
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < found->count && !status; i++)
    status = keep_candidate(binding, found, &measured, i, list, fault);
  found->count = 0;
  return status;
}

static sbs_status bind_muscle(const muscle_binding *binding, pair_list *list, sbs_fault *fault) {
  const sbs_muscles_desc *desc = binding->desc;
  candidates found;
  memset(&found, 0, sizeof found);
  sbs_status status = SBS_OK;
  for (size_t v = 0; v < desc->vertex_count && !status; v++) {
    double point[3];
    sbs_read_vector(desc->rest_positions, 0, desc->scalar, v, point);
    if (squared_distance(point, binding->center) > binding->bound * binding->bound) continue;
    const double foot = find_foot(&binding->posed.path, point), follows = following(binding, v);
    if (!(follows > 0.0)) continue;
    const size_t i = found.count++;
    found.vertices[i] = (int32_t)v;
    found.feet[i] = (float)foot;
    found.following[i] = follows;
    memcpy(found.positions[i], point, sizeof point);
    if (desc->rest_normals) {
      double normal[3];
      sbs_read_vector(desc->rest_normals, 0, desc->scalar, v, normal);
      for (int axis = 0; axis < 3; axis++) found.scratch.normals[axis][i] = (float)normal[axis];
    }
    if (found.count == SBS_COVER_BLOCK) status = measure_candidates(binding, &found, list, fault);
  }
  if (found.count && !status) status = measure_candidates(binding, &found, list, fault);
  return status;
}

/* The sphere in which all skin of a muscle is. */
static void find_bound(muscle_binding *binding, const sbs_bound_muscle *bound) {
  double low[3], high[3];
  for (int axis = 0; axis < 3; axis++) {
    low[axis] = high[axis] = bound->points[0][axis];
    for (size_t i = 1; i < bound->point_count; i++) {
      low[axis] = fmin(low[axis], bound->points[i][axis]);
      high[axis] = fmax(high[axis], bound->points[i][axis]);
    }
    binding->center[axis] = 0.5 * (low[axis] + high[axis]);
  }
  /* Distances are to first order: of sections that are not round they may be smaller than they seem. */
  const double thickness = binding->muscle->radius * sqrt(bound->flattening) + bound->reach * bound->flattening;
  binding->bound = 0.5 * sqrt(squared_distance(low, high)) + 2.0 * thickness;
}

/* -------------------------------------------------------------------------------------------------- all together -- */

static size_t filled(size_t count) {
  return (count + SBS_COVER_BLOCK - 1) / SBS_COVER_BLOCK * SBS_COVER_BLOCK;
}

/*
 * Gives each covered vertex a slot, in the order of its first pair, and counts the pairs that are not first by chunk
 * and muscle. `slots` (vertex_count) receives -1 where a vertex has none.
 */
static void give_slots(sbs_muscles *muscles, const pair_list *list, const size_t *muscle_ends, int32_t *slots) {
  sbs_cover *cover = &muscles->cover;
  memset(slots, -1, muscles->vertex_count * sizeof *slots);
  for (size_t m = 0, i = 0; m < muscles->muscle_count; m++) {
    for (; i < muscle_ends[m]; i++) {
      int32_t *slot = slots + list->pairs[i].vertex;
      if (*slot >= 0) continue;
      *slot = (int32_t)cover->slot_count++;
      cover->vertex_count++;
    }
    cover->slot_count = filled(cover->slot_count);
  }
  cover->chunk_count = (cover->slot_count + SBS_COVER_CHUNK - 1) / SBS_COVER_CHUNK;
}

static int allocate_cover(sbs_cover *cover, const sbs_allocator *allocator) {
  const size_t pairs = cover->pair_count;
  cover->vertices = sbs_allocate(allocator, cover->slot_count, sizeof *cover->vertices);
  cover->run_ends = sbs_allocate(allocator, cover->chunk_count, sizeof *cover->run_ends);
  cover->runs = sbs_allocate(allocator, cover->run_count, sizeof *cover->runs);
  cover->slots = sbs_allocate(allocator, pairs, sizeof *cover->slots);
  cover->feet = sbs_allocate(allocator, pairs, sizeof *cover->feet);
  cover->shares = sbs_allocate(allocator, pairs, sizeof *cover->shares);
  cover->rest = sbs_allocate(allocator, pairs, sizeof *cover->rest);
  cover->slopes = sbs_allocate(allocator, pairs, sizeof *cover->slopes);
  if (!cover->vertices || !cover->run_ends || !cover->runs || !cover->slots || !cover->feet || !cover->shares ||
      !cover->rest || !cover->slopes) {
    return 0;
  }
  memset(cover->slots, 0, pairs * sizeof *cover->slots);
  memset(cover->feet, 0, pairs * sizeof *cover->feet);
  memset(cover->shares, 0, pairs * sizeof *cover->shares);
  memset(cover->rest, 0, pairs * sizeof *cover->rest);
  memset(cover->slopes, 0, pairs * sizeof *cover->slopes);
  return 1;
}

static void put_pair(sbs_cover *cover, const cover_pair *from, int32_t slot, size_t to) {
  cover->slots[to] = slot % SBS_COVER_CHUNK;
  cover->feet[to] = from->foot;
  cover->shares[to] = from->share;
  cover->rest[to] = from->distance;
  cover->slopes[to] = from->slopes;
}

/* How pairs that are not first are spread: counts, then places, by chunk and muscle. */
typedef struct spread {
  size_t *firsts; /* (chunk_count, muscle_count) slots of first pairs, with those that fill blocks */
  size_t *others; /* (chunk_count, muscle_count) */
} spread;

/* Visits all pairs in the order of muscles and vertices; `first` says whether it is its vertex's first. */
#define FOR_EACH_PAIR(body) \
  for (size_t m = 0, i = 0, next = 0; m < muscles->muscle_count; m++, next = filled(next)) { \
    for (; i < muscle_ends[m]; i++) { \
      const cover_pair *pair = list->pairs + i; \
      const int32_t slot = slots[pair->vertex]; \
      const size_t cell = (size_t)slot / SBS_COVER_CHUNK * muscles->muscle_count + m; \
      const int is_first = (size_t)slot == next; \
      next += (size_t)is_first; \
      body; \
    } \
  }

static void count_pairs(sbs_muscles *muscles, const pair_list *list, const size_t *muscle_ends, const int32_t *slots,
                        const spread *counts) {
  sbs_cover *cover = &muscles->cover;
  FOR_EACH_PAIR((is_first ? counts->firsts : counts->others)[cell]++)
  cover->pair_count = cover->slot_count;
  for (size_t cell = 0; cell < cover->chunk_count * muscles->muscle_count; cell++) {
    counts->firsts[cell] = filled(counts->firsts[cell]);
    counts->others[cell] = filled(counts->others[cell]);
    cover->run_count += (size_t)(counts->firsts[cell] > 0) + (size_t)(counts->others[cell] > 0);
    cover->pair_count += counts->others[cell];
  }
}

/* Makes the runs of a chunk. Counts become the numbers of their first pairs. */
static void make_runs(sbs_cover *cover, size_t muscle_count, size_t *counts, int is_first, size_t *run, size_t *next) {
  for (size_t m = 0; m < muscle_count; m++) {
    const size_t count = counts[m];
    counts[m] = *next;
    if (!count) continue;
    cover->runs[(*run)++] = (sbs_cover_run){(int32_t)m, is_first, *next, count};
    *next += count;
  }
}

static void place_pairs(sbs_muscles *muscles, const pair_list *list, const size_t *muscle_ends, const int32_t *slots,
                        const spread *counts) {
  sbs_cover *cover = &muscles->cover;
  size_t run = 0, first = 0, other = cover->slot_count;
  for (size_t chunk = 0; chunk < cover->chunk_count; chunk++) {
    const size_t row = chunk * muscles->muscle_count;
    make_runs(cover, muscles->muscle_count, counts->firsts + row, 1, &run, &first);
    make_runs(cover, muscles->muscle_count, counts->others + row, 0, &run, &other);
    cover->run_ends[chunk] = run;
  }
  FOR_EACH_PAIR({
    if (is_first) cover->vertices[slot] = pair->vertex;
    put_pair(cover, pair, slot, is_first ? (size_t)slot : counts->others[cell]++);
  })
  /* What fills a block reads the vertex before it. */
  for (size_t slot = 1; slot < cover->slot_count; slot++) {
    if (!(cover->shares[slot] > 0.0f)) cover->vertices[slot] = cover->vertices[slot - 1];
  }
}

static sbs_status arrange(sbs_muscles *muscles, const pair_list *list, const size_t *muscle_ends, int32_t *slots,
                          sbs_fault *fault) {
  sbs_cover *cover = &muscles->cover;
  const sbs_allocator *allocator = &muscles->allocator;
  give_slots(muscles, list, muscle_ends, slots);
  const size_t cells = cover->chunk_count * muscles->muscle_count;
  size_t *counts = sbs_allocate(allocator, cells, 2 * sizeof *counts);
  sbs_status status = SBS_OK;
  if (!counts) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memset(counts, 0, cells * 2 * sizeof *counts);
  const spread by_cell = {counts, counts + cells};
  count_pairs(muscles, list, muscle_ends, slots, &by_cell);
  if (allocate_cover(cover, allocator)) {
    place_pairs(muscles, list, muscle_ends, slots, &by_cell);
  } else {
    status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  sbs_release(allocator, counts);
  return status;
}

/* Which vertices are beside each: numbers offsets[v] to offsets[v + 1] of neighbors. */
typedef struct vertex_neighbors {
  size_t *offsets;
  int32_t *neighbors;
} vertex_neighbors;

/*
 * The slope of the share at a vertex, by least squares over those beside it. `shares` (vertex_count) are those of the
 * same muscle.
 */
static void find_share_slope(const sbs_muscles_desc *desc, const vertex_neighbors *beside, const float *shares,
                             cover_pair *pair) {
  const size_t vertex = (size_t)pair->vertex;
  double normal[3] = {0, 0, 0}, right[2] = {0, 0}, here[3], there[3];
  sbs_read_vector(desc->rest_positions, 0, desc->scalar, vertex, here);
  for (size_t i = beside->offsets[vertex]; i < beside->offsets[vertex + 1]; i++) {
    const size_t other = (size_t)beside->neighbors[i];
    double along[2] = {0, 0};
    sbs_read_vector(desc->rest_positions, 0, desc->scalar, other, there);
    for (int k = 0; k < 2; k++) {
      for (int axis = 0; axis < 3; axis++) along[k] += (there[axis] - here[axis]) * (double)pair->frame[k][axis];
      right[k] += along[k] * (double)(shares[other] - pair->share);
    }
    normal[0] += along[0] * along[0];
    normal[1] += along[0] * along[1];
    normal[2] += along[1] * along[1];
  }
  const double determinant = normal[0] * normal[2] - normal[1] * normal[1];
  if (!(determinant > 1e-12 * (normal[0] + normal[2]) * (normal[0] + normal[2]))) return;
  pair->slopes.share[0] = (float)((normal[2] * right[0] - normal[1] * right[1]) / determinant);
  pair->slopes.share[1] = (float)((normal[0] * right[1] - normal[1] * right[0]) / determinant);
}

static sbs_status find_neighbors(const sbs_muscles_desc *desc, const sbs_allocator *allocator, vertex_neighbors *beside,
                                 sbs_fault *fault) {
  const sbs_mesh_desc mesh = {
      .vertex_count = desc->vertex_count, .triangle_count = desc->triangle_count, .triangles = desc->triangles};
  beside->offsets = sbs_allocate(allocator, desc->vertex_count + 1, sizeof *beside->offsets);
  beside->neighbors = sbs_allocate(allocator, 6 * desc->triangle_count, sizeof *beside->neighbors);
  if (!beside->offsets || !beside->neighbors) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  return sbs_mesh_adjacency(&mesh, NULL, allocator, beside->offsets, beside->neighbors, fault);
}

/* Finds the slopes of all shares on the skin. */
static sbs_status find_share_slopes(const sbs_muscles *muscles, const sbs_muscles_desc *desc, pair_list *list,
                                    const size_t *muscle_ends, sbs_fault *fault) {
  const sbs_allocator *allocator = &muscles->allocator;
  vertex_neighbors beside = {NULL, NULL};
  float *shares = sbs_allocate(allocator, desc->vertex_count, sizeof *shares);
  sbs_status status =
      shares ? find_neighbors(desc, allocator, &beside, fault) : sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  if (!status) memset(shares, 0, desc->vertex_count * sizeof *shares);
  for (size_t m = 0, begin = 0; m < muscles->muscle_count && !status; begin = muscle_ends[m++]) {
    for (size_t i = begin; i < muscle_ends[m]; i++) shares[list->pairs[i].vertex] = list->pairs[i].share;
    for (size_t i = begin; i < muscle_ends[m]; i++) find_share_slope(desc, &beside, shares, list->pairs + i);
    for (size_t i = begin; i < muscle_ends[m]; i++) shares[list->pairs[i].vertex] = 0.0f;
  }
  sbs_release(allocator, shares);
  sbs_release(allocator, beside.offsets);
  sbs_release(allocator, beside.neighbors);
  return status;
}

static sbs_status bind_all(sbs_muscles *muscles, const sbs_muscles_desc *desc, pair_list *list, size_t *muscle_ends,
                           unsigned char *covers, sbs_fault *fault) {
  const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  sbs_status status = SBS_OK;
  for (size_t m = 0; m < desc->muscle_count && !status; m++) {
    const sbs_muscle *muscle = desc->muscles + m;
    muscle_binding binding = {.muscles = muscles, .desc = desc, .muscle = muscle};
    /* In the bind pose every joint has the same matrix, so one is enough. */
    sbs_bound_muscle bound = muscles->muscles[m];
    memset(bound.joints, 0, sizeof bound.joints);
    bound.thin_joint = 0;
    sbs_pose_muscle(&bound, &(sbs_pose){identity, SBS_FLOAT32, 3}, 0.0, &binding.posed, NULL);
    binding.posed.profile = &muscles->muscles[m].profile;
    find_bound(&binding, &muscles->muscles[m]);
    if (desc->joint_indices) {
      const size_t count = muscle->covered_count ? muscle->covered_count : muscle->point_count;
      const int32_t *covered = muscle->covered_count ? muscle->covered : muscle->joints;
      memset(covers, 0, desc->joint_count);
      for (size_t i = 0; i < count; i++) covers[covered[i]] = 1;
      binding.covers = covers;
    }
    status = bind_muscle(&binding, list, fault);
    muscle_ends[m] = list->count;
  }
  return status;
}

sbs_status sbs_bind_cover(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_fault *fault) {
  const sbs_allocator *allocator = &muscles->allocator;
  pair_list list = {0};
  size_t *muscle_ends = sbs_allocate(allocator, desc->muscle_count, sizeof *muscle_ends);
  unsigned char *covers = sbs_allocate(allocator, desc->joint_count, sizeof *covers);
  int32_t *slots = sbs_allocate(allocator, desc->vertex_count, sizeof *slots);
  sbs_status status = SBS_OK;
  if (!muscle_ends || !covers || !slots) status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  if (!status) status = bind_all(muscles, desc, &list, muscle_ends, covers, fault);
  if (!status && desc->triangle_count && desc->rest_normals) {
    status = find_share_slopes(muscles, desc, &list, muscle_ends, fault);
  }
  if (!status) status = arrange(muscles, &list, muscle_ends, slots, fault);
  sbs_release(allocator, list.pairs);
  sbs_release(allocator, muscle_ends);
  sbs_release(allocator, covers);
  sbs_release(allocator, slots);
  return status;
}

void sbs_release_cover(const sbs_allocator *allocator, sbs_cover *cover) {
  sbs_release(allocator, cover->vertices);
  sbs_release(allocator, cover->run_ends);
  sbs_release(allocator, cover->runs);
  sbs_release(allocator, cover->slots);
  sbs_release(allocator, cover->feet);
  sbs_release(allocator, cover->shares);
  sbs_release(allocator, cover->rest);
  sbs_release(allocator, cover->slopes);
}
