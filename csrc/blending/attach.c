/* SPDX-License-Identifier: MIT */
#include "blending/attach.h"

#include <math.h>

#include "base/progress.h"
#include "blending/members.h"
#include "mesh/positions.h"
#include "weights/row.h"

/* A joint takes over vertices of its parent up to this far away, in distances to the rim of its zone. */
static const double REACH = 2.0;

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
  sbs_members children;
  sbs_status status = sbs_members_new(parents, joint_count, joint_count, allocator, &children);
  for (size_t v = 0; v < mesh->vertex_count && !status; v++) {
    if ((status = sbs_tell_some(v, mesh->vertex_count)) || attachment[v] < 0) continue;
    const size_t first = children.offsets[attachment[v]], last = children.offsets[attachment[v] + 1];
    const sbs_vec3 point = sbs_mesh_position(mesh, v);
    double distance;
    const int32_t joint = nearest_joint(bones, children.members + first, last - first, point, &distance);
    if (joint < 0 || !active[joint]) continue;
    const sbs_bone *bone = &bones[joint];
    /* distances are in the units of the mesh, zones in those of the joint */
    const double scale = sbs_vec3_length(sbs_vec3_subtract(bone->tail, bone->head)) / bone->after;
    const int is_within = distance <= REACH * scale * hypot(t_min[joint], radii[joint]);
    if (is_within && sbs_bone_along(bone, point) > t_min[joint]) attachment[v] = joint;
  }
  sbs_members_release(allocator, &children);
  return status;
}
