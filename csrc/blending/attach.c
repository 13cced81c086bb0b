/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/progress.h"
#include "blending/bind.h"
#include "mesh/positions.h"
#include "weights/row.h"

/* A joint takes over vertices of its parent up to this far away, in distances to the rim of its zone. */
static const double REACH = 2.0;

/* Half of the default zone, in radii of the limb; the inner side of a bend turns back on itself from 2.4 radians. */
static const double WIDTH = 1.2;

/* ------------------------------------------------------------------------------------------------- attachments -- */

/* The members of each group: the vertices of a joint, or the children of a joint. */
typedef struct members {
  size_t *offsets; /* (groups + 1) group g has members[offsets[g]] to members[offsets[g + 1] - 1], ascending */
  int32_t *members;
} members;

/* Collects members by the group (count) of each, -1: in none. Call release_members also if this fails. */
static sbs_status new_members(const int32_t *group, size_t count, size_t group_count, const sbs_allocator *allocator,
                              members *made) {
  made->offsets = sbs_allocate(allocator, group_count + 2, sizeof *made->offsets);
  made->members = sbs_allocate(allocator, count, sizeof *made->members);
  if (!made->offsets || !made->members) return SBS_ERROR_OUT_OF_MEMORY;

  /* Group g is counted in offsets[g + 2], so that filling the lists leaves each offset in its place. */
  size_t *offsets = made->offsets;
  for (size_t g = 0; g < group_count + 2; g++) offsets[g] = 0;
  for (size_t i = 0; i < count; i++) {
    if (group[i] >= 0) offsets[group[i] + 2]++;
  }
  for (size_t g = 2; g < group_count + 2; g++) offsets[g] += offsets[g - 1];
  for (size_t i = 0; i < count; i++) {
    if (group[i] >= 0) made->members[offsets[group[i] + 1]++] = (int32_t)i;
  }
  return SBS_OK;
}

static void release_members(const sbs_allocator *allocator, members *made) {
  sbs_release(allocator, made->offsets);
  sbs_release(allocator, made->members);
}

sbs_status sbs_attach_heaviest(const sbs_influences_table *influences, const sbs_allocator *allocator,
                               int32_t *attachment) {
  sbs_arena arena = sbs_arena_from(allocator);
  const sbs_row room = sbs_row_new(&arena, influences->influences_per_vertex);
  sbs_status status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
  for (size_t v = 0; v < influences->vertex_count && !status; v++) {
    if ((status = sbs_tell_some(v, influences->vertex_count))) break;
    const sbs_influences found = sbs_row_repaired(influences, v, room);
    attachment[v] = found.count ? found.joints[found.heaviest] : -1;
  }
  sbs_arena_release(&arena);
  return status;
}

static double distance_to_bone(const sbs_bone *bone, sbs_vec3 point) {
  const sbs_vec3 vector = sbs_vec3_subtract(bone->tail, bone->head), off = sbs_vec3_subtract(point, bone->head);
  const double square = sbs_vec3_dot(vector, vector);
  const double place = fmax(0.0, fmin(1.0, sbs_vec3_dot(off, vector) / (square > 0.0 ? square : 1.0)));
  return sbs_vec3_length(sbs_vec3_along(off, -place, vector));
}

sbs_status sbs_attach_nearest(const sbs_bone *bones, size_t joint_count, const sbs_mesh_desc *mesh,
                              int32_t *attachment) {
  for (size_t v = 0; v < mesh->vertex_count; v++) {
    const sbs_status status = sbs_tell_some(v, mesh->vertex_count);
    if (status) return status;
    const sbs_vec3 point = sbs_mesh_position(mesh, v);
    double best = INFINITY;
    attachment[v] = 0;
    for (size_t j = 0; j < joint_count; j++) {
      const double distance = distance_to_bone(&bones[j], point);
      if (!(distance < best)) continue;
      best = distance;
      attachment[v] = (int32_t)j;
    }
  }
  return SBS_OK;
}

/* The nearest of some joints to a point, of equal ones the first; -1 if there are none. */
static int32_t nearest_joint(const sbs_bone *bones, const int32_t *joints, size_t count, sbs_vec3 point,
                             double *distance) {
  int32_t nearest = -1;
  *distance = INFINITY;
  for (size_t i = 0; i < count; i++) {
    const double found = sbs_vec3_length(sbs_vec3_subtract(point, bones[joints[i]].head));
    if (!(found < *distance)) continue;
    *distance = found;
    nearest = joints[i];
  }
  return nearest;
}

sbs_status sbs_attach_onward(const sbs_bone *bones, const int32_t *parents, size_t joint_count,
                             const unsigned char *active, const double *t_min, const double *radii,
                             const sbs_mesh_desc *mesh, const sbs_allocator *allocator, int32_t *attachment) {
  members children;
  sbs_status status = new_members(parents, joint_count, joint_count, allocator, &children);
  for (size_t v = 0; v < mesh->vertex_count && !status; v++) {
    if ((status = sbs_tell_some(v, mesh->vertex_count)) || attachment[v] < 0) continue;
    const size_t first = children.offsets[attachment[v]], last = children.offsets[attachment[v] + 1];
    const sbs_vec3 point = sbs_mesh_position(mesh, v);
    double distance;
    const int32_t joint = nearest_joint(bones, children.members + first, last - first, point, &distance);
    if (joint < 0 || !active[joint]) continue;
    const sbs_bone *bone = &bones[joint];
    /* distances are in the unit of the mesh, zones in the unit of the joint */
    const double scale = sbs_vec3_length(sbs_vec3_subtract(bone->tail, bone->head)) / bone->after;
    const int is_within = distance <= REACH * scale * hypot(t_min[joint], radii[joint]);
    if (is_within && sbs_bone_along(bone, point) > t_min[joint]) attachment[v] = joint;
  }
  release_members(allocator, &children);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- zones -- */

static int compare_numbers(const void *first, const void *second) {
  const double a = *(const double *)first, b = *(const double *)second;
  return (a > b) - (a < b);
}

static double median(double *numbers, size_t count) {
  qsort(numbers, count, sizeof *numbers, compare_numbers);
  return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2.0;
}

/* Appends the distances from a bone's line of the vertices beside it, or beside the end of its parent's bone. */
static size_t append_distances(const sbs_bone *bone, const double *inverse, const sbs_mesh_desc *mesh,
                               const int32_t *vertices, size_t vertex_count, double *distances, size_t count) {
  for (size_t i = 0; i < vertex_count; i++) {
    const sbs_vec3 point = sbs_mesh_position(mesh, (size_t)vertices[i]);
    const double place = sbs_bone_along(bone, point);
    if (!(-bone->before / 2.0 < place && place < bone->after / 2.0)) continue;
    const double *m = inverse;
    const sbs_vec3 own = {m[0] * point.x + m[1] * point.y + m[2] * point.z + m[3],
                          m[4] * point.x + m[5] * point.y + m[6] * point.z + m[7],
                          m[8] * point.x + m[9] * point.y + m[10] * point.z + m[11]};
    distances[count++] = sbs_vec3_length(sbs_vec3_along(own, -place, bone->direction));
  }
  return count;
}

sbs_status sbs_zones_radii(const sbs_blending_desc *desc, const sbs_bone *bones, const sbs_mesh_desc *mesh,
                           const int32_t *attachment, const sbs_allocator *allocator, double *radii) {
  members attached;
  sbs_status status = new_members(attachment, mesh->vertex_count, desc->joint_count, allocator, &attached);
  double *distances = sbs_allocate(allocator, mesh->vertex_count, sizeof *distances);
  if (!distances) status = SBS_ERROR_OUT_OF_MEMORY;
  for (size_t j = 0; j < desc->joint_count && !status; j++) {
    radii[j] = bones[j].after / 4.0;
    if (!bones[j].blendable) continue;
    if ((status = sbs_tell((double)j / (double)desc->joint_count))) break;
    const size_t both[2] = {(size_t)desc->parents[j], j};
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
      const size_t first = attached.offsets[both[i]], last = attached.offsets[both[i] + 1];
      count = append_distances(&bones[j], desc->inverse_bind_matrices + 12 * j, mesh, attached.members + first,
                               last - first, distances, count);
    }
    const double radius = count ? median(distances, count) : 0.0;
    if (radius > 0.0) radii[j] = radius;
  }
  sbs_release(allocator, distances);
  release_members(allocator, &attached);
  return status;
}

void sbs_zones_ends(const sbs_blending_desc *desc, const sbs_bone *bones, const double *radii, double *t_min,
                    double *t_max) {
  const double width = desc->zone_scale > 0.0 ? desc->zone_scale * WIDTH : WIDTH;
  for (size_t j = 0; j < desc->joint_count; j++) {
    const double least = fmax(-width * radii[j], -bones[j].before / 2.0);
    const double most = fmin(width * radii[j], bones[j].after / 2.0);
    t_min[j] = desc->t_min && !isnan(desc->t_min[j]) ? desc->t_min[j] : least;
    t_max[j] = desc->t_max && !isnan(desc->t_max[j]) ? desc->t_max[j] : most;
  }
}
