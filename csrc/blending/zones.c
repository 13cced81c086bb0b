/* SPDX-License-Identifier: MIT */
#include "blending/zones.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "blending/members.h"
#include "mesh/positions.h"

/* Half of the default zone, in radii of the limb; the inner side of a bend turns back on itself from 2.4 radians. */
static const double WIDTH = 1.2;

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
  sbs_members members;
  sbs_status status = sbs_members_new(attachment, mesh->vertex_count, desc->joint_count, allocator, &members);
  double *distances = sbs_allocate(allocator, mesh->vertex_count, sizeof *distances);
  if (!distances) status = SBS_ERROR_OUT_OF_MEMORY;
  for (size_t j = 0; j < desc->joint_count && !status; j++) {
    radii[j] = bones[j].after / 4.0;
    if (!bones[j].blendable) continue;
    if ((status = sbs_tell((double)j / (double)desc->joint_count))) break;
    const size_t both[2] = {(size_t)desc->parents[j], j};
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
      const size_t first = members.offsets[both[i]], last = members.offsets[both[i] + 1];
      count = append_distances(&bones[j], desc->inverse_bind_matrices + 12 * j, mesh, members.members + first,
                               last - first, distances, count);
    }
    const double radius = count ? median(distances, count) : 0.0;
    if (radius > 0.0) radii[j] = radius;
  }
  sbs_release(allocator, distances);
  sbs_members_release(allocator, &members);
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
