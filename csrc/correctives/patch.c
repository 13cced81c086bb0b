/* SPDX-License-Identifier: MIT */
#include "correctives/patch.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "mesh/edges.h"

/* Triangles with a smaller area in relation to the square of their longest edge count as without area. */
#define LEAST_AREA 1e-10

static sbs_vec3 edge(const double *x, size_t from, size_t to) {
  return sbs_vec3_subtract(sbs_vec3_read(x + 3 * to), sbs_vec3_read(x + 3 * from));
}

/* The angle between the triangles (0, 1, 2) and (1, 0, 3) about their edge; 0 if they lie in a plane. */
static double dihedral_angle(const double *x, const sbs_patch_hinge *hinge) {
  const sbs_vec3 e = edge(x, hinge->ends[0], hinge->ends[1]);
  const sbs_vec3 n1 = sbs_vec3_cross(e, edge(x, hinge->ends[0], hinge->corners[0]));
  const sbs_vec3 n2 = sbs_vec3_cross(edge(x, hinge->ends[0], hinge->corners[1]), e);
  return atan2(sbs_vec3_dot(sbs_vec3_cross(n1, n2), e) / fmax(sbs_vec3_length(e), 1e-100), sbs_vec3_dot(n1, n2));
}

static void scale(const double *from, size_t count, double factor, double *to) {
  for (size_t i = 0; i < count; i++) to[i] = factor * from[i];
}

/* Twice the area of a triangle of the mesh at rest; 0 if it has none to speak of. */
static double double_area(const double *rest, const int32_t *corners) {
  const size_t a = (size_t)corners[0], b = (size_t)corners[1], c = (size_t)corners[2];
  const sbs_vec3 ab = edge(rest, a, b), ac = edge(rest, a, c), bc = edge(rest, b, c);
  const double area = sbs_vec3_length(sbs_vec3_cross(ab, ac));
  const double longest = fmax(fmax(sbs_vec3_dot(ab, ab), sbs_vec3_dot(ac, ac)), sbs_vec3_dot(bc, bc));
  return area > LEAST_AREA * longest ? area : 0.0;
}

static int is_any_free(const sbs_relaxation_desc *desc, const int32_t *corners) {
  return desc->free_vertices[corners[0]] || desc->free_vertices[corners[1]] || desc->free_vertices[corners[2]];
}

static void set_triangles(sbs_patch *patch, const sbs_relaxation_desc *desc, const double *rest) {
  double total = 0.0;
  memset(patch->shares, 0, desc->vertex_count * sizeof *patch->shares);
  for (size_t t = 0; t < desc->triangle_count; t++) {
    const int32_t *corners = desc->triangles + 3 * t;
    if (!is_any_free(desc, corners)) continue;
    sbs_patch_triangle *made = patch->triangles + patch->triangle_count++;
    const size_t a = (size_t)corners[0], b = (size_t)corners[1], c = (size_t)corners[2];
    const double area = double_area(rest, corners);
    *made = (sbs_patch_triangle){.corners = {a, b, c}, .part = desc->triangle_parts ? desc->triangle_parts[t] : -1};
    if (!(area > 0.0)) continue;
    const sbs_vec3 first = edge(rest, a, b), second = edge(rest, a, c);
    const double length = sbs_vec3_length(first), height = area / length;
    made->inverse[0] = 1.0 / length;
    made->inverse[1] = -sbs_vec3_dot(first, second) / (length * length * height);
    made->inverse[2] = 1.0 / height;
    made->share = area / 2.0;
    total += made->share;
  }
  for (size_t t = 0; t < patch->triangle_count; t++) {
    sbs_patch_triangle *triangle = patch->triangles + t;
    triangle->share = total > 0.0 ? triangle->share / total : 0.0;
    for (size_t i = 0; i < 3; i++) patch->shares[triangle->corners[i]] += triangle->share / 3.0;
  }
}

/* Finds the edges with just two triangles that turn the same way and have an area, where one of the corners is free. */
static sbs_status set_hinges(sbs_patch *patch, const sbs_relaxation_desc *desc, const double *rest, sbs_arena *arena) {
  const size_t sides = 3 * desc->triangle_count;
  int32_t *first_sides = sbs_arena_take(arena, sides, sizeof *first_sides); /* of each edge */
  int32_t *second_sides = sbs_arena_take(arena, sides, sizeof *second_sides);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_edges edges;
  const sbs_status status = sbs_edges_find(desc->triangles, desc->triangle_count, NULL, arena->allocator, &edges);
  if (status) return status;
  sbs_edges_pair_sides(&edges, sides, first_sides, second_sides);
  for (size_t e = 0; e < edges.count; e++) {
    if (second_sides[e] < 0) continue;
    const size_t one = (size_t)first_sides[e], two = (size_t)second_sides[e];
    const int32_t *first = desc->triangles + one / 3 * 3, *second = desc->triangles + two / 3 * 3;
    const double area = double_area(rest, first) / 2.0 + double_area(rest, second) / 2.0;
    const int turns_alike = first[one % 3] == second[(two + 1) % 3];
    if (!turns_alike || !(area > 0.0) || !(is_any_free(desc, first) || is_any_free(desc, second))) continue;
    sbs_patch_hinge *hinge = patch->hinges + patch->hinge_count++;
    *hinge = (sbs_patch_hinge){.ends = {(size_t)first[one % 3], (size_t)first[(one + 1) % 3]},
                               .corners = {(size_t)first[(one + 2) % 3], (size_t)second[(two + 2) % 3]}};
    const sbs_vec3 along = edge(rest, hinge->ends[0], hinge->ends[1]);
    hinge->weight = 3.0 * sbs_vec3_dot(along, along) / area;
    hinge->angle = dihedral_angle(rest, hinge);
  }
  sbs_edges_free(&edges, arena->allocator);
  return SBS_OK;
}

sbs_status sbs_patch_init(const sbs_relaxation_desc *desc, const sbs_relaxation_options *options, sbs_arena *arena,
                          sbs_patch *patch, double *x, sbs_fault *fault) {
  const size_t vertices = desc->vertex_count;
  const double unit = 1.0 / desc->size;
  double *rest = sbs_arena_take(arena, vertices, 3 * sizeof *rest);
  *patch =
      (sbs_patch){.options = *options,
                  .vertex_count = vertices,
                  .part_count = desc->part_count,
                  .free_vertices = desc->free_vertices,
                  .triangles = sbs_arena_take(arena, desc->triangle_count, sizeof *patch->triangles),
                  .hinges = sbs_arena_take(arena, 3 * desc->triangle_count, sizeof *patch->hinges),
                  .parts = sbs_arena_take(arena, desc->part_count, sizeof *patch->parts),
                  .shares = sbs_arena_take(arena, vertices, sizeof *patch->shares),
                  .planes = desc->planes ? sbs_arena_take(arena, vertices, 4 * sizeof *patch->planes) : NULL,
                  .bones = desc->distances ? sbs_arena_take(arena, desc->bone_count, 6 * sizeof *patch->bones) : NULL,
                  .distances = desc->distances ? sbs_arena_take(arena, vertices, sizeof *patch->distances) : NULL,
                  .vertex_bones = desc->vertex_bones};
  if (arena->failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  scale(desc->rest_positions, 3 * vertices, unit, rest);
  scale(desc->positions, 3 * vertices, unit, x);
  for (size_t p = 0; p < desc->part_count; p++) {
    const double *apex = desc->apexes + 3 * p, cube = unit * unit * unit;
    patch->parts[p] = (sbs_patch_part){.apex = {unit * apex[0], unit * apex[1], unit * apex[2]},
                                       .rest_volume = cube * desc->rest_volumes[p],
                                       .held_volume = desc->held_volumes ? cube * desc->held_volumes[p] : 0.0};
  }
  if (desc->planes) {
    for (size_t v = 0; v < vertices; v++) {
      memcpy(patch->planes + 4 * v, desc->planes + 4 * v, 3 * sizeof *patch->planes);
      patch->planes[4 * v + 3] = unit * desc->planes[4 * v + 3];
    }
  }
  if (desc->distances) {
    scale(desc->distances, vertices, unit, patch->distances);
    scale(desc->bones, 6 * desc->bone_count, unit, patch->bones);
  }
  set_triangles(patch, desc, rest);
  const sbs_status status = set_hinges(patch, desc, rest, arena);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- energy -- */

static void add(double *gradient, size_t vertex, double factor, sbs_vec3 vector) {
  gradient[3 * vertex] += factor * vector.x;
  gradient[3 * vertex + 1] += factor * vector.y;
  gradient[3 * vertex + 2] += factor * vector.z;
}

/* a p + b q */
static sbs_vec3 combine(double a, sbs_vec3 p, double b, sbs_vec3 q) {
  return (sbs_vec3){a * p.x + b * q.x, a * p.y + b * q.y, a * p.z + b * q.z};
}

static double add_strain(const sbs_patch_triangle *triangle, const double *x, double *gradient) {
  const size_t *corners = triangle->corners;
  const double *m = triangle->inverse;
  const sbs_vec3 first = edge(x, corners[0], corners[1]), second = edge(x, corners[0], corners[2]);
  const sbs_vec3 f0 = combine(m[0], first, 0.0, first), f1 = combine(m[1], first, m[2], second);
  const double a = sbs_vec3_dot(f0, f0), b = sbs_vec3_dot(f0, f1), c = sbs_vec3_dot(f1, f1);
  const double exact = a * c - b * b, determinant = (exact < 0.0 ? 0.0 : exact) + 1e-3; /* NaN stays NaN */
  const double trace = a + c, w = triangle->share;
  /* dE/dF = p F - q F adj(G) */
  const double p = 2.0 * w * (1.0 + 1.0 / determinant), q = 2.0 * w * trace / (determinant * determinant);
  const sbs_vec3 h0 = combine(p - q * c, f0, q * b, f1), h1 = combine(p - q * a, f1, q * b, f0);
  const sbs_vec3 by_first = combine(m[0], h0, m[1], h1), by_second = combine(m[2], h1, 0.0, h1);
  add(gradient, corners[1], 1.0, by_first);
  add(gradient, corners[2], 1.0, by_second);
  add(gradient, corners[0], -1.0, combine(1.0, by_first, 1.0, by_second));
  return w * (trace * (1.0 + 1.0 / determinant) - 4.0);
}

static double add_bending(const sbs_patch_hinge *hinge, double factor, const double *x, double *gradient) {
  const double whole = 2.0 * acos(-1.0);
  const sbs_vec3 e = edge(x, hinge->ends[0], hinge->ends[1]), a = edge(x, hinge->ends[0], hinge->corners[0]);
  const sbs_vec3 b = edge(x, hinge->ends[0], hinge->corners[1]);
  const sbs_vec3 n1 = sbs_vec3_cross(e, a), n2 = sbs_vec3_cross(b, e);
  const double square = sbs_vec3_dot(e, e) + 1e-30, length = sqrt(square);
  double angle = atan2(sbs_vec3_dot(sbs_vec3_cross(n1, n2), e) / length, sbs_vec3_dot(n1, n2)) - hinge->angle;
  if (angle > whole / 2.0) angle -= whole;
  if (angle < -whole / 2.0) angle += whole;
  /* Slivers would turn without end. */
  const double least = 1e-4 * square * square, s = 2.0 * factor * hinge->weight * angle;
  const double s1 = s / fmax(sbs_vec3_dot(n1, n1), least), s2 = s / fmax(sbs_vec3_dot(n2, n2), least);
  const double along1 = sbs_vec3_dot(a, e) / length, along2 = sbs_vec3_dot(b, e) / length;
  add(gradient, hinge->corners[0], -s1 * length, n1);
  add(gradient, hinge->corners[1], -s2 * length, n2);
  add(gradient, hinge->ends[1], 1.0, combine(s1 * along1, n1, s2 * along2, n2));
  add(gradient, hinge->ends[0], 1.0, combine(s1 * (length - along1), n1, s2 * (length - along2), n2));
  return factor * hinge->weight * angle * angle;
}

static double add_volumes(sbs_patch *patch, const double *x, double *gradient) {
  double energy = 0.0;
  for (size_t p = 0; p < patch->part_count; p++) patch->parts[p].volume = patch->parts[p].held_volume;
  for (int is_gradient = 0; is_gradient < 2; is_gradient++) {
    for (size_t t = 0; t < patch->triangle_count; t++) {
      const sbs_patch_triangle *triangle = patch->triangles + t;
      sbs_patch_part *part = triangle->part < 0 ? NULL : patch->parts + triangle->part;
      if (!part || part->rest_volume == 0.0) continue;
      sbs_vec3 from_apex[3], normal[3];
      for (size_t i = 0; i < 3; i++) {
        from_apex[i] = sbs_vec3_subtract(sbs_vec3_read(x + 3 * triangle->corners[i]), part->apex);
      }
      for (size_t i = 0; i < 3; i++) normal[i] = sbs_vec3_cross(from_apex[(i + 1) % 3], from_apex[(i + 2) % 3]);
      if (!is_gradient) {
        part->volume += sbs_vec3_dot(from_apex[0], normal[0]) / 6.0;
        continue;
      }
      const double change = (part->volume / part->rest_volume - 1.0) / part->rest_volume;
      for (size_t i = 0; i < 3; i++) {
        add(gradient, triangle->corners[i], patch->options.volume * change / 6.0, normal[i]);
      }
    }
  }
  for (size_t p = 0; p < patch->part_count; p++) {
    const sbs_patch_part *part = patch->parts + p;
    const double change = part->rest_volume == 0.0 ? 0.0 : part->volume / part->rest_volume - 1.0;
    energy += patch->options.volume / 2.0 * change * change;
  }
  return energy;
}

static double add_plane(const double *plane, double factor, const double *position, double *gradient) {
  const double beyond = -(sbs_dot(plane, position) + plane[3]);
  if (!(beyond > 0.0)) return 0.0;
  for (size_t axis = 0; axis < 3; axis++) gradient[axis] -= 2.0 * factor * beyond * plane[axis];
  return factor * beyond * beyond;
}

/* From the nearest point of a bone to a position. */
static sbs_vec3 from_bone(const double *bone, sbs_vec3 position) {
  const sbs_vec3 head = sbs_vec3_read(bone), along = sbs_vec3_subtract(sbs_vec3_read(bone + 3), head);
  const sbs_vec3 way = sbs_vec3_subtract(position, head);
  const double at = sbs_vec3_dot(way, along) / (sbs_vec3_dot(along, along) + 1e-30);
  return sbs_vec3_along(way, -fmin(fmax(at, 0.0), 1.0), along);
}

static double add_thickness(const sbs_patch *patch, size_t v, const double *x, double *gradient) {
  double nearest = INFINITY;
  sbs_vec3 way = {0.0, 0.0, 0.0};
  if (!(patch->distances[v] > 0.0)) return 0.0;
  for (size_t i = 0; i < 2; i++) {
    const int32_t bone = patch->vertex_bones[2 * v + i];
    if (bone < 0) continue;
    const sbs_vec3 found = from_bone(patch->bones + 6 * bone, sbs_vec3_read(x + 3 * v));
    const double length = sbs_vec3_length(found);
    if (length >= nearest) continue;
    nearest = length;
    way = found;
  }
  if (!(nearest < INFINITY)) return 0.0;
  const double gap = patch->distances[v] - nearest;
  const double k = (gap > 0.0 ? patch->options.thinner : patch->options.thicker) * patch->shares[v];
  if (nearest > 0.0) add(gradient, v, -2.0 * k * gap / nearest, way);
  return k * gap * gap;
}

double sbs_patch_energy(sbs_patch *patch, const double *x, double *gradient) {
  const sbs_relaxation_options *options = &patch->options;
  double energy = 0.0;
  memset(gradient, 0, 3 * patch->vertex_count * sizeof *gradient);
  for (size_t t = 0; t < patch->triangle_count; t++) {
    if (patch->triangles[t].share > 0.0) energy += add_strain(patch->triangles + t, x, gradient);
  }
  for (size_t h = 0; h < patch->hinge_count && options->bending > 0.0; h++) {
    energy += add_bending(patch->hinges + h, options->bending, x, gradient);
  }
  if (options->volume > 0.0) energy += add_volumes(patch, x, gradient);
  for (size_t v = 0; v < patch->vertex_count; v++) {
    double *own = gradient + 3 * v;
    if (!patch->free_vertices[v]) {
      own[0] = own[1] = own[2] = 0.0;
      continue;
    }
    if (patch->planes) energy += add_plane(patch->planes + 4 * v, options->crease * patch->shares[v], x + 3 * v, own);
    if (patch->distances) energy += add_thickness(patch, v, x, gradient);
  }
  return energy;
}
