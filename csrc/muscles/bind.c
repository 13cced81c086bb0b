/* SPDX-License-Identifier: MIT */
/* Finds which skin covers which muscle: the point of the belly that is nearest to a vertex, its distance, its share. */
#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/arena.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "muscles/arrange.h"
#include "muscles/cover.h"
#include "muscles/path.h"
#include "muscles/profile.h"
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

/* One muscle is bound at a time. */
typedef struct muscle_binding {
  const sbs_muscles *muscles;
  const sbs_muscles_desc *desc;
  const sbs_muscle *muscle;
  const sbs_bound_muscle *bound;
  sbs_posed_muscle posed;      /* in the bind pose */
  const unsigned char *covers; /* (joint_count) whether it moves a joint's skin; NULL: of all */
  double center[3], far;       /* no skin is near that is farther from the center */
} muscle_binding;

static double smooth_step(double x) {
  const double t = fmin(fmax(x, 0.0), 1.0);
  return t * t * (3.0 - 2.0 * t);
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

/* What is to be the least of all u, for a point. */
typedef double measure(const sbs_posed_muscle *posed, const double point[3], double u);

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
static double find_least(measure *of, const sbs_posed_muscle *posed, const double point[3]) {
  double u = 0.0, least = INFINITY;
  for (int i = 0; i <= SEARCH_STEPS; i++) {
    const double found = of(posed, point, (double)i / SEARCH_STEPS);
    if (found < least) least = found, u = (double)i / SEARCH_STEPS;
  }
  /* By halves of steps: it needs no derivative, and stays where it began. */
  for (double step = 0.5 / SEARCH_STEPS; step > 1e-9; step *= 0.5) {
    for (int side = -1; side <= 1; side += 2) {
      const double beside = u + side * step;
      if (beside < 0.0 || beside > 1.0) continue;
      const double found = of(posed, point, beside);
      if (found < least) least = found, u = beside;
    }
  }
  return u;
}

/* How much of a vertex follows the joints that the muscle moves the skin of, 0 to 1. */
static double following(const muscle_binding *binding, size_t vertex) {
  const sbs_muscles_desc *desc = binding->desc;
  if (!binding->covers) return 1.0;
  double sum = 0.0, covered = 0.0;
  for (size_t k = 0; k < desc->influences_per_vertex; k++) {
    const size_t i = vertex * desc->influences_per_vertex + k;
    const double weight = sbs_usable_weight(sbs_scalar_get(desc->joint_weights, desc->weight_scalar, i));
    sum += weight;
    if (binding->covers[desc->joint_indices[i]]) covered += weight;
  }
  return sum > 0.0 ? smooth_step(covered / sum / FOLLOWING) : 0.0;
}

/* How much of the muscle there is, from 0 at the ends of the belly. */
static double along_belly(double u) {
  return smooth_step(fmin(u, 1.0 - u) / END_PART);
}

/* ------------------------------------------------------------------------------------------------- one muscle -- */

static sbs_status append(sbs_pair_list *list, sbs_cover_pair added, const sbs_allocator *allocator, sbs_fault *fault) {
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 1024;
    sbs_cover_pair *pairs = sbs_allocate(allocator, room, sizeof *pairs);
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
  double positions[SBS_COVER_BLOCK][3];
  double following[SBS_COVER_BLOCK];
  sbs_cover_block block; /* where they are on the belly */
  sbs_cover_scratch scratch;
} candidates;

/* How much of a vertex faces the same way as the surface of the muscle. */
static double facing(const candidates *found, const sbs_measured *measured, size_t i) {
  double cosine = 0.0;
  for (int axis = 0; axis < 3; axis++) cosine += (double)(measured->normals[axis][i] * found->scratch.normals[axis][i]);
  return smooth_step(cosine / FACING);
}

/*
 * How deep a vertex is inside the belly, across the path. The surface may be nearest at an end, where no skin has a
 * share: so it is asked of the path whether this is skin of the muscle. 0 otherwise.
 */
static double depth_inside(const muscle_binding *binding, const candidates *found, size_t i) {
  const double u = find_least(squared_distance_to_path, &binding->posed, found->positions[i]);
  const beside_section at = find_beside(&binding->posed, found->positions[i], u);
  double cosine = 1.0;
  if (binding->muscles->has_normals) {
    cosine = 0.0;
    for (int axis = 0; axis < 3; axis++) cosine += at.gradient[axis] * (double)found->scratch.normals[axis][i];
    cosine /= fmax(sqrt(sbs_dot(at.gradient, at.gradient)), 1e-300);
  }
  const double share = found->following[i] * smooth_step(cosine / FACING) * along_belly(u);
  return share > LEAST_SHARE ? sbs_radius_at(binding->posed.profile, u) - at.y : 0.0;
}

/* Adds a candidate to the list if it has a share. */
static sbs_status keep_candidate(const muscle_binding *binding, const candidates *found, const sbs_measured *measured,
                                 size_t i, sbs_pair_list *list, sbs_fault *fault) {
  const double distance = (double)measured->distances[i];
  const double along = along_belly((double)found->block.u[i]);
  const double within = smooth_step(2.0 - 2.0 * distance / binding->muscle->reach);
  const double faces = binding->muscles->has_normals ? facing(found, measured, i) : 1.0;
  const double share = found->following[i] * faces * along * within;
  if (distance < 0.0) {
    const size_t muscle = (size_t)(binding->muscle - binding->desc->muscles);
    const double depth = share > LEAST_SHARE ? -distance : depth_inside(binding, found, i);
    if (depth > 0.0) {
      return sbs_fault_at(fault, SBS_ERROR_RADIUS, "radius", muscle, (size_t)found->vertices[i], depth, 0.0);
    }
  }
  if (!(share > LEAST_SHARE)) return SBS_OK;
  sbs_cover_pair added = {
      .vertex = found->vertices[i], .u = found->block.u[i], .share = (float)share, .distance = measured->distances[i]};
  for (int k = 0; k < 2; k++) {
    added.distance_slope[k] = measured->slopes[k][i];
    for (int axis = 0; axis < 3; axis++) added.frame[k][axis] = measured->frames[k][axis][i];
  }
  return append(list, added, &binding->muscles->allocator, fault);
}

static sbs_status measure_candidates(const muscle_binding *binding, candidates *found, sbs_pair_list *list,
                                     sbs_fault *fault) {
  const sbs_muscles *muscles = binding->muscles;
  sbs_cover_muscle muscle;
  sbs_bring_near(&binding->posed, found->positions[0], &muscle);
  for (size_t i = 0; i < found->count; i++) {
    for (int axis = 0; axis < 3; axis++) {
      found->scratch.positions[axis][i] = (float)(found->positions[i][axis] - found->positions[0][axis]);
    }
  }
  const sbs_cover_args args = {.muscles = &muscle,
                               .has_normals = muscles->has_normals,
                               .is_first = 1,
                               .block_count = 1,
                               .blocks = &found->block,
                               .scratch = &found->scratch};
  sbs_measured measured;
  sbs_choose_measure_cover_pairs(muscles->isa)(&args, &measured);
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < found->count && !status; i++)
    status = keep_candidate(binding, found, &measured, i, list, fault);
  found->count = 0;
  return status;
}

static sbs_status bind_muscle(const muscle_binding *binding, sbs_pair_list *list, sbs_fault *fault) {
  const sbs_muscles_desc *desc = binding->desc;
  candidates found;
  memset(&found, 0, sizeof found);
  sbs_status status = SBS_OK;
  for (size_t v = 0; v < desc->vertex_count && !status; v++) {
    double point[3];
    sbs_read_vector(desc->rest_positions, 0, desc->scalar, v, point);
    if (squared_distance(point, binding->center) > binding->far * binding->far) continue;
    const double follows = following(binding, v);
    if (!(follows > 0.0)) continue;
    const size_t i = found.count++;
    found.vertices[i] = (int32_t)v;
    found.block.u[i] = (float)find_least(squared_distance_to_section, &binding->posed, point);
    double radii[3];
    sbs_radii_at(binding->posed.profile, (double)found.block.u[i], radii);
    for (int k = 0; k < 3; k++) found.block.radii[k][i] = (float)radii[k];
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

/* Which vertices are beside each: numbers offsets[v] to offsets[v + 1] of neighbors. */
typedef struct vertex_neighbors {
  size_t *offsets;
  int32_t *neighbors;
} vertex_neighbors;

/*
 * The slope of the share at a vertex, by least squares over those beside it. `shares` (vertex_count) are those of the
 * same muscle; slopes are as those of the distance.
 */
static void find_share_slope(const sbs_muscles_desc *desc, const vertex_neighbors *beside, const float *shares,
                             sbs_cover_pair *pair) {
  const size_t vertex = (size_t)pair->vertex;
  double normal[3] = {0, 0, 0}, right[2] = {0, 0}, squared[2] = {0, 0}, here[3], there[3];
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
  for (int k = 0; k < 2; k++) {
    for (int axis = 0; axis < 3; axis++) squared[k] += (double)pair->frame[k][axis] * (double)pair->frame[k][axis];
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
static sbs_status find_share_slopes(const sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_pair_list *list,
                                    const size_t *muscle_ends, sbs_fault *fault) {
  sbs_arena arena = sbs_arena_from(&muscles->allocator);
  vertex_neighbors beside = {NULL, NULL};
  float *shares = sbs_arena_take(&arena, desc->vertex_count, sizeof *shares);
  const sbs_status status = find_neighbors(desc, &arena, &beside, fault);
  if (!status) memset(shares, 0, desc->vertex_count * sizeof *shares);
  for (size_t m = 0, begin = 0; m < muscles->muscle_count && !status; begin = muscle_ends[m++]) {
    for (size_t i = begin; i < muscle_ends[m]; i++) shares[list->pairs[i].vertex] = list->pairs[i].share;
    for (size_t i = begin; i < muscle_ends[m]; i++) find_share_slope(desc, &beside, shares, list->pairs + i);
    for (size_t i = begin; i < muscle_ends[m]; i++) shares[list->pairs[i].vertex] = 0.0f;
  }
  sbs_arena_release(&arena);
  return status;
}

/* -------------------------------------------------------------------------------------------------- all together -- */

static sbs_status bind_all(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_pair_list *list, size_t *muscle_ends,
                           unsigned char *covers, sbs_fault *fault) {
  const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  sbs_status status = SBS_OK;
  for (size_t m = 0; m < desc->muscle_count && !status; m++) {
    const sbs_muscle *muscle = desc->muscles + m;
    muscle_binding binding = {.muscles = muscles, .desc = desc, .muscle = muscle, .bound = muscles->muscles + m};
    /* In the bind pose every joint has the same matrix, so one is enough. */
    sbs_bound_muscle bound = muscles->muscles[m];
    memset(bound.joints, 0, sizeof bound.joints);
    bound.thin_joint = 0;
    const sbs_pose pose = {.skinning_matrices = identity, .scalar = SBS_FLOAT32, .rows = 3};
    sbs_pose_muscle(&bound, muscles->isa, &pose, 1.0, 0.0, &binding.posed, NULL);
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
    muscle_ends[m] = list->count;
  }
  return status;
}

sbs_status sbs_bind_cover(sbs_muscles *muscles, const sbs_muscles_desc *desc, sbs_fault *fault) {
  sbs_arena arena = sbs_arena_from(&muscles->allocator);
  sbs_pair_list list = {0};
  size_t *muscle_ends = sbs_arena_take(&arena, desc->muscle_count, sizeof *muscle_ends);
  unsigned char *covers = sbs_arena_take(&arena, desc->joint_count, sizeof *covers);
  int32_t *slots = sbs_arena_take(&arena, desc->vertex_count, sizeof *slots);
  sbs_status status = arena.failed ? sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL) : SBS_OK;
  if (!status) status = bind_all(muscles, desc, &list, muscle_ends, covers, fault);
  if (!status && desc->triangle_count && desc->rest_normals) {
    status = find_share_slopes(muscles, desc, &list, muscle_ends, fault);
  }
  if (!status) status = sbs_arrange_cover(muscles, &list, muscle_ends, slots, fault);
  sbs_release(&muscles->allocator, list.pairs);
  sbs_arena_release(&arena);
  return status;
}
