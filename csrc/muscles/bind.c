/* SPDX-License-Identifier: MIT */
/* Finds which skin covers which muscle: the point of the belly nearest to each vertex, its distance and its share. */
#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/arena.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "muscles/cover.h"
#include "muscles/path.h"
#include "sbs/mesh.h"
#include "skin/influences.h"

/* Where along the belly the search for the nearest point begins. */
#define SEARCH_STEPS 32

/* The share falls over this part of the belly at each of its ends, */
#define END_PART 0.3
/* from skin that faces the muscle's surface by this cosine to skin at right angles, */
#define FACING 0.5
/* and from this weight of the covered joints to none. */
#define FOLLOWING 0.5

/* Less is none. */
#define LEAST_SHARE 1e-3

/* A vertex and its share in a muscle. */
typedef struct cover_pair {
  int32_t vertex;
  float u, share;
  float share_slope[2];
  sbs_measured measured;
} cover_pair;

/* Pairs of all muscles, one after the other; the pairs of muscle m end at ends[m]. */
typedef struct pair_list {
  size_t count, room;
  cover_pair *pairs;
  size_t *ends;
} pair_list;

/* The muscle that is being bound. */
typedef struct muscle_binding {
  const sbs_muscles *muscles;
  const sbs_muscles_desc *desc;
  const sbs_muscle *muscle;
  const sbs_bound_muscle *bound;
  sbs_measure_vertex *measure_vertex;
  sbs_posed_muscle posed;      /* in the bind pose */
  const unsigned char *covers; /* (joint_count) whether it moves a joint's skin; NULL: of all */
  double center[3], far;       /* no skin is near that is farther from the center */
} muscle_binding;

static void read_vector(const void *vectors, sbs_scalar scalar, size_t vertex, double v[3]) {
  for (size_t i = 0; i < 3; i++) v[i] = sbs_scalar_get(vectors, scalar, 3 * vertex + i);
}

static double squared_distance(const double a[3], const double b[3]) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/* ------------------------------------------------------------------------------------------------- one vertex -- */

/* Where a point is beside the belly's section at u. */
typedef struct beside_section {
  double ahead;       /* of the plane of the section, along the path */
  double across[3];   /* from the path, in that plane */
  double y;           /* radius of the section that would go through it; across[] long where sections are round */
  double gradient[3]; /* of y^2 / 2 */
} beside_section;

static beside_section find_beside(const sbs_posed_muscle *posed, const double point[3], double u) {
  beside_section found;
  const double x = posed->start + u * (posed->end - posed->start), wide = 1.0 / posed->flattening;
  double center[3], along[3], from[3], thin[3];
  const double per_speed = 1.0 / fmax(sbs_path_speed(&posed->path, x, along), 1e-300);
  sbs_path_at(&posed->path, x, center);
  for (int i = 0; i < 3; i++) along[i] *= per_speed, from[i] = point[i] - center[i];
  const double off = sbs_dot(posed->thin_direction, along);
  found.ahead = sbs_dot(from, along);
  for (int i = 0; i < 3; i++) {
    found.across[i] = from[i] - found.ahead * along[i];
    thin[i] = posed->thin_direction[i] - off * along[i];
  }
  const double thin_squared = sbs_dot(thin, thin);
  const double height = thin_squared > 0.0 ? sbs_dot(found.across, thin) / thin_squared : 0.0;
  const double raised = (posed->flattening - wide) * height;
  found.y = sqrt(sbs_dot(found.across, found.across) * wide + sbs_dot(found.across, thin) * raised);
  for (int i = 0; i < 3; i++) found.gradient[i] = found.across[i] * wide + thin[i] * raised;
  return found;
}

/* A function of u whose least value is searched for, for a point. */
typedef double function_of_u(const sbs_posed_muscle *posed, const double point[3], double u);

/* How far a point is from the belly's section at u, squared; of flattened sections to first order. */
static double squared_distance_to_section(const sbs_posed_muscle *posed, const double point[3], double u) {
  const beside_section at = find_beside(posed, point, u);
  const double slope = fmax(sqrt(sbs_dot(at.gradient, at.gradient)), 1e-300);
  const double above = (at.y - sbs_radius_at(posed->profile, u)) * at.y / slope;
  return at.ahead * at.ahead + above * above;
}

static double squared_distance_to_path(const sbs_posed_muscle *posed, const double point[3], double u) {
  double center[3];
  sbs_path_at(&posed->path, posed->start + u * (posed->end - posed->start), center);
  return squared_distance(point, center);
}

/* u in [0, 1] of the least. */
static double find_least(function_of_u *function, const sbs_posed_muscle *posed, const double point[3]) {
  double u = 0.0, least = INFINITY;
  for (int i = 0; i <= SEARCH_STEPS; i++) {
    const double found = function(posed, point, (double)i / SEARCH_STEPS);
    if (found < least) least = found, u = (double)i / SEARCH_STEPS;
  }
  /* By halves of steps: it needs no derivative, and stays where it began. */
  for (double step = 0.5 / SEARCH_STEPS; step > 1e-9; step *= 0.5) {
    for (int side = -1; side <= 1; side += 2) {
      const double beside = u + side * step;
      if (beside < 0.0 || beside > 1.0) continue;
      const double found = function(posed, point, beside);
      if (found < least) least = found, u = beside;
    }
  }
  return u;
}

/* How much of a vertex follows the joints that the muscle moves the skin of, 0 to 1. */
static double find_following(const muscle_binding *binding, size_t vertex) {
  const sbs_muscles_desc *desc = binding->desc;
  if (!binding->covers) return 1.0;
  double sum = 0.0, covered = 0.0;
  for (size_t k = 0; k < desc->influences_per_vertex; k++) {
    const size_t i = vertex * desc->influences_per_vertex + k;
    const double weight = sbs_usable_weight(sbs_scalar_get(desc->joint_weights, desc->weight_scalar, i));
    sum += weight;
    if (binding->covers[desc->joint_indices[i]]) covered += weight;
  }
  return sum > 0.0 ? sbs_smooth_step(covered / sum / FOLLOWING) : 0.0;
}

/* How much of the muscle there is, from 0 at the ends of the belly. */
static double share_along(double u) {
  return sbs_smooth_step(fmin(u, 1.0 - u) / END_PART);
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

/* The share of skin with a normal, from 1 where it faces along a direction to 0 at right angles; 1 without normals. */
static double share_facing(const double normal[3], const double direction[3]) {
  const double length = fmax(sqrt(sbs_dot(direction, direction)), 1e-300);
  return sbs_smooth_step(sbs_dot(normal, direction) / length / FACING);
}

/*
 * How deep a vertex is inside the belly, across the path. The surface may be nearest at an end, where no skin has a
 * share, so the path says whether this is skin of the muscle. 0 otherwise.
 */
static double depth_inside(const muscle_binding *binding, const double point[3], const double *normal, double follows) {
  const double u = find_least(squared_distance_to_path, &binding->posed, point);
  const beside_section at = find_beside(&binding->posed, point, u);
  const double share = follows * (normal ? share_facing(normal, at.gradient) : 1.0) * share_along(u);
  return share > LEAST_SHARE ? sbs_radius_at(binding->posed.profile, u) - at.y : 0.0;
}

/* Measures a vertex and adds it to the list if it has a share. `normal` may be NULL. */
static sbs_status bind_vertex(const muscle_binding *binding, size_t vertex, const double point[3], const double *normal,
                              double follows, pair_list *list, sbs_fault *fault) {
  cover_pair pair = {.vertex = (int32_t)vertex,
                     .u = (float)find_least(squared_distance_to_section, &binding->posed, point)};
  sbs_cover_muscle muscle;
  sbs_skin_block skin = {.positions = {{0}}}; /* with the vertex at 0 */
  sbs_bring_near(&binding->posed, point, &muscle);
  for (int axis = 0; axis < 3 && normal; axis++) skin.normals[axis][0] = (float)normal[axis];
  binding->measure_vertex(&muscle, pair.u, normal != NULL, &skin, &pair.measured);

  const double distance = (double)pair.measured.distance;
  double surface[3];
  for (int axis = 0; axis < 3; axis++) surface[axis] = (double)pair.measured.normal[axis];
  const double within = sbs_smooth_step(2.0 - 2.0 * distance / binding->muscle->reach);
  const double faces = normal ? share_facing(normal, surface) : 1.0;
  pair.share = (float)(follows * faces * share_along((double)pair.u) * within);
  const int has_share = (double)pair.share > LEAST_SHARE;
  if (distance < 0.0) {
    const double depth = has_share ? -distance : depth_inside(binding, point, normal, follows);
    const size_t number = (size_t)(binding->muscle - binding->desc->muscles);
    if (depth > 0.0) return sbs_fault_at(fault, SBS_ERROR_RADIUS, "radius", number, vertex, depth, 0.0);
  }
  return has_share ? append(list, pair, &binding->muscles->allocator, fault) : SBS_OK;
}

static sbs_status bind_muscle(const muscle_binding *binding, pair_list *list, sbs_fault *fault) {
  const sbs_muscles_desc *desc = binding->desc;
  sbs_status status = SBS_OK;
  for (size_t v = 0; v < desc->vertex_count && !status; v++) {
    double point[3], normal[3];
    read_vector(desc->rest_positions, desc->scalar, v, point);
    if (squared_distance(point, binding->center) > binding->far * binding->far) continue;
    const double follows = find_following(binding, v);
    if (!(follows > 0.0)) continue;
    if (desc->rest_normals) read_vector(desc->rest_normals, desc->scalar, v, normal);
    status = bind_vertex(binding, v, point, desc->rest_normals ? normal : NULL, follows, list, fault);
  }
  return status;
}

/* The sphere in which all skin of a muscle is. */
static void find_bound(muscle_binding *binding) {
  const sbs_bound_muscle *bound = binding->bound;
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
  binding->far = 0.5 * sqrt(squared_distance(low, high)) + 2.0 * thickness;
}

/* ---------------------------------------------------------------------------------------------- slopes of shares -- */

/* The neighbors of each vertex: numbers offsets[v] to offsets[v + 1]. */
typedef struct vertex_neighbors {
  size_t *offsets;
  int32_t *neighbors;
} vertex_neighbors;

/*
 * Finds the slope of the share at a vertex, by least squares over its neighbors, along the same directions as slopes of
 * the distance. `shares` (vertex_count) are of the same muscle.
 */
static void find_share_slope(const sbs_muscles_desc *desc, const vertex_neighbors *beside, const float *shares,
                             cover_pair *pair) {
  const size_t vertex = (size_t)pair->vertex;
  double normal[3] = {0, 0, 0}, right[2] = {0, 0}, squared[2] = {0, 0}, here[3], there[3];
  read_vector(desc->rest_positions, desc->scalar, vertex, here);
  for (size_t i = beside->offsets[vertex]; i < beside->offsets[vertex + 1]; i++) {
    const size_t other = (size_t)beside->neighbors[i];
    double along[2] = {0, 0};
    read_vector(desc->rest_positions, desc->scalar, other, there);
    for (int k = 0; k < 2; k++) {
      for (int axis = 0; axis < 3; axis++)
        along[k] += (there[axis] - here[axis]) * (double)pair->measured.frame[k][axis];
      right[k] += along[k] * (double)(shares[other] - pair->share);
    }
    normal[0] += along[0] * along[0];
    normal[1] += along[0] * along[1];
    normal[2] += along[1] * along[1];
  }
  const double determinant = normal[0] * normal[2] - normal[1] * normal[1];
  if (!(determinant > 1e-12 * (normal[0] + normal[2]) * (normal[0] + normal[2]))) return;
  for (int k = 0; k < 2; k++) {
    for (int axis = 0; axis < 3; axis++)
      squared[k] += (double)pair->measured.frame[k][axis] * (double)pair->measured.frame[k][axis];
  }
  pair->share_slope[0] = (float)((normal[2] * right[0] - normal[1] * right[1]) / determinant * squared[0]);
  pair->share_slope[1] = (float)((normal[0] * right[1] - normal[1] * right[0]) / determinant * sqrt(squared[1]));
}

static sbs_status find_neighbors(const sbs_muscles_desc *desc, sbs_arena *arena, vertex_neighbors *beside,
                                 sbs_fault *fault) {
  const sbs_mesh_desc mesh = {
      .vertex_count = desc->vertex_count, .triangle_count = desc->triangle_count, .triangles = desc->triangles};
  beside->offsets = sbs_arena_take(arena, desc->vertex_count + 1, sizeof *beside->offsets);
  beside->neighbors = sbs_arena_take(arena, desc->triangle_count, 6 * sizeof *beside->neighbors);
  if (arena->failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  return sbs_mesh_adjacency(&mesh, NULL, arena->allocator, beside->offsets, beside->neighbors, fault);
}

/* Finds the slopes of all shares on the skin. */
static sbs_status find_share_slopes(const sbs_muscles *muscles, const sbs_muscles_desc *desc, pair_list *list,
                                    sbs_fault *fault) {
  sbs_arena arena = sbs_arena_from(&muscles->allocator);
  vertex_neighbors beside = {NULL, NULL};
  float *shares = sbs_arena_take(&arena, desc->vertex_count, sizeof *shares);
  const sbs_status status = find_neighbors(desc, &arena, &beside, fault);
  if (!status) memset(shares, 0, desc->vertex_count * sizeof *shares);
  for (size_t m = 0, begin = 0; m < muscles->muscle_count && !status; begin = list->ends[m++]) {
    for (size_t i = begin; i < list->ends[m]; i++) shares[list->pairs[i].vertex] = list->pairs[i].share;
    for (size_t i = begin; i < list->ends[m]; i++) find_share_slope(desc, &beside, shares, list->pairs + i);
    for (size_t i = begin; i < list->ends[m]; i++) shares[list->pairs[i].vertex] = 0.0f;
  }
  sbs_arena_release(&arena);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- blocks -- */

/* Puts a pair into all numbers after `count`, so that the last one fills the block. */
static void put_pair(const cover_pair *pair, int32_t first, sbs_cover_block *block) {
  for (size_t i = block->count++; i < SBS_COVER_BLOCK; i++) {
    block->vertices[i] = pair->vertex;
    block->firsts[i] = first;
    block->shares[i] = pair->share;
    block->rest[i] = pair->measured.distance;
    block->u[i] = pair->u;
    for (int k = 0; k < 3; k++) block->radii[k][i] = pair->measured.radii[k];
    for (int k = 0; k < 2; k++) {
      block->distance_slopes[k][i] = pair->measured.slopes[k];
      block->share_slopes[k][i] = pair->share_slope[k];
    }
  }
}

/* Puts pairs into blocks, a muscle after the other. */
static sbs_status make_blocks(sbs_muscles *muscles, const pair_list *list, int32_t *firsts, sbs_fault *fault) {
  sbs_cover *cover = &muscles->cover;
  const size_t room = list->count / SBS_COVER_BLOCK + muscles->muscle_count; /* of each muscle one may be partial */
  cover->blocks = sbs_allocate(&muscles->allocator, room, sizeof *cover->blocks);
  if (!cover->blocks) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  memset(cover->blocks, 0, room * sizeof *cover->blocks);
  memset(firsts, -1, muscles->vertex_count * sizeof *firsts);
  for (size_t m = 0, i = 0; m < muscles->muscle_count; m++) {
    sbs_cover_block *block = NULL;
    for (; i < list->ends[m]; i++) {
      int32_t *first = firsts + list->pairs[i].vertex;
      if (!block || block->count == SBS_COVER_BLOCK) {
        block = cover->blocks + cover->block_count++;
        block->muscle = (int32_t)m;
      }
      if (*first < 0) {
        *first = (int32_t)(SBS_COVER_BLOCK * (cover->block_count - 1) + block->count);
        cover->vertex_count++;
      }
      put_pair(list->pairs + i, *first, block);
    }
  }
  return SBS_OK;
}

/* -------------------------------------------------------------------------------------------------- all together -- */

static sbs_status bind_all(sbs_muscles *muscles, const sbs_muscles_desc *desc, pair_list *list, unsigned char *covers,
                           sbs_fault *fault) {
  const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  sbs_status status = SBS_OK;
  for (size_t m = 0; m < desc->muscle_count && !status; m++) {
    const sbs_muscle *muscle = desc->muscles + m;
    muscle_binding binding = {.muscles = muscles,
                              .desc = desc,
                              .muscle = muscle,
                              .bound = muscles->muscles + m,
                              .measure_vertex = sbs_choose_cover_functions(muscles->isa).measure_vertex};
    /* In the bind pose every joint has the same matrix, so one is enough. */
    sbs_bound_muscle bound = muscles->muscles[m];
    memset(bound.joints, 0, sizeof bound.joints);
    bound.thin_joint = 0;
    const sbs_pose pose = {.skinning_matrices = identity, .scalar = SBS_FLOAT32, .rows = 3};
    sbs_pose_muscle(&bound, &pose, 1.0, 0.0, &binding.posed, NULL);
    binding.posed.profile = &muscles->muscles[m].profile;
    find_bound(&binding);
    if (desc->joint_indices) {
      const size_t count = muscle->covered_count ? muscle->covered_count : muscle->point_count;
      const int32_t *covered = muscle->covered_count ? muscle->covered : muscle->joints;
      memset(covers, 0, desc->joint_count);
      for (size_t i = 0; i < count; i++) covers[covered[i]] = 1;
      binding.covers = covers;
    }
    status = bind_muscle(&binding, list, fault);
    list->ends[m] = list->count;
  }
  return status;
}

sbs_status sbs_bind_cover(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_fault *fault) {
  sbs_arena arena = sbs_arena_from(&muscles->allocator);
  pair_list list = {.ends = sbs_arena_take(&arena, desc->muscle_count, sizeof *list.ends)};
  unsigned char *covers = sbs_arena_take(&arena, desc->joint_count, sizeof *covers);
  int32_t *firsts = sbs_arena_take(&arena, desc->vertex_count, sizeof *firsts);
  sbs_status status = arena.failed ? sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL) : SBS_OK;
  if (!status) status = bind_all(muscles, desc, &list, covers, fault);
  if (!status && desc->triangle_count && desc->rest_normals) {
    status = find_share_slopes(muscles, desc, &list, fault);
  }
  if (!status) status = make_blocks(muscles, &list, firsts, fault);
  sbs_release(&muscles->allocator, list.pairs);
  sbs_arena_release(&arena);
  return status;
}
