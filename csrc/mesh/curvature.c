/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "mesh/edges.h"
#include "mesh/positions.h"
#include "mesh/validate.h"
#include "sbs/mesh.h"

static double largest_coordinate(sbs_vec3 a) {
  return fmax(fmax(fabs(a.x), fabs(a.y)), fabs(a.z));
}

/*
 * The normal of a triangle, of any length; zero if it may be due to rounding alone. Corners have an error of some eps
 * of their largest coordinate, and the cross product of two sides has that error times their length.
 */
static sbs_vec3 triangle_normal(const sbs_mesh_desc *mesh, size_t triangle) {
  const int32_t *corners = mesh->triangles + 3 * triangle;
  const sbs_vec3 a = sbs_mesh_position(mesh, (size_t)corners[0]), b = sbs_mesh_position(mesh, (size_t)corners[1]),
                 c = sbs_mesh_position(mesh, (size_t)corners[2]);
  const sbs_vec3 ab = sbs_vec3_subtract(b, a), ac = sbs_vec3_subtract(c, a), bc = sbs_vec3_subtract(c, b);
  const sbs_vec3 normal = sbs_vec3_cross(ab, ac);
  const double side = sqrt(fmax(fmax(sbs_vec3_dot(ab, ab), sbs_vec3_dot(ac, ac)), sbs_vec3_dot(bc, bc)));
  const double off = 4.0 * sbs_scalar_epsilon(mesh->scalar) *
                     fmax(fmax(largest_coordinate(a), largest_coordinate(b)), largest_coordinate(c));
  if (sqrt(sbs_vec3_dot(normal, normal)) <= off * side) return (sbs_vec3){0.0, 0.0, 0.0};
  return normal;
}

/*
 * The angle between two normals: Kavan & Zara 2003, section 4. As exact for small angles as for angles near pi.
 */
static double angle_between(sbs_vec3 a, sbs_vec3 b) {
  const sbs_vec3 cross = sbs_vec3_cross(a, b);
  return atan2(sqrt(sbs_vec3_dot(cross, cross)), sbs_vec3_dot(a, b));
}

static int is_zero(sbs_vec3 a) {
  return a.x == 0.0 && a.y == 0.0 && a.z == 0.0;
}

/* The largest angle at the edges of each triangle; edges of more than two triangles are left out. */
static sbs_status find_angles(const sbs_mesh_desc *mesh, const sbs_edges *edges, sbs_arena *arena, double *curvatures) {
  const size_t count = mesh->triangle_count;
  sbs_vec3 *normals = sbs_arena_take(arena, count, sizeof *normals);
  int32_t *firsts = sbs_arena_take(arena, edges->count, sizeof *firsts);
  int32_t *seconds = sbs_arena_take(arena, edges->count, sizeof *seconds);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_edges_pair_sides(edges, 3 * count, firsts, seconds);
  for (size_t t = 0; t < count; t++) {
    const sbs_status status = sbs_tell_some(t, count);
    if (status) return status;
    normals[t] = triangle_normal(mesh, t);
    curvatures[t] = 0.0;
  }
  for (size_t e = 0; e < edges->count; e++) {
    const sbs_status status = sbs_tell_some(e, edges->count);
    if (status) return status;
    if (seconds[e] < 0) continue;
    const size_t a = (size_t)firsts[e] / 3, b = (size_t)seconds[e] / 3;
    if (is_zero(normals[a]) || is_zero(normals[b])) continue;
    const double angle = angle_between(normals[a], normals[b]);
    curvatures[a] = fmax(curvatures[a], angle);
    curvatures[b] = fmax(curvatures[b], angle);
  }
  return SBS_OK;
}

sbs_status sbs_mesh_curvature(const sbs_mesh_desc *mesh, const int32_t *representatives, const sbs_allocator *allocator,
                              double *curvatures, sbs_fault *fault) {
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!curvatures && mesh->triangle_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "curvatures");
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) status = sbs_mesh_validate_positions(mesh, fault);
  if (!status) status = sbs_edges_validate(mesh, representatives, fault);
  if (status) return status;

  sbs_edges edges;
  status = sbs_edges_find(mesh->triangles, mesh->triangle_count, representatives, &chosen, &edges);
  if (status) return sbs_fault_in(fault, status, NULL);
  sbs_arena arena = sbs_arena_from(&chosen);
  status = find_angles(mesh, &edges, &arena, curvatures);
  sbs_arena_release(&arena);
  sbs_edges_free(&edges, &chosen);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
