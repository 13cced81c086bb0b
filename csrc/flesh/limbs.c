/* SPDX-License-Identifier: MIT */
/* Limbs at rest: their radii, the bones that skin keeps its distance to, and planes at hinges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/algebra.h"
#include "flesh/flesh.h"
#include "mesh/segment.h"

/* The least weight with which a vertex counts for the radius of a limb, and how many of them make one. */
#define OWN_WEIGHT 0.5
#define FEWEST 6

/* The radius of a limb without skin of its own, and the least of any, as shares of the size of the mesh. */
#define USUAL_RADIUS 0.03
#define LEAST_RADIUS 0.003

/* Bones that are shorter, in radii, belong to the limb above. */
#define SHORT 1.0

/* Skin nearer to its bone than this share of the radius keeps no distance: a joint's tip, or teeth. */
#define NEAR_BONE 0.25

/* Planes hold the skin up to this distance from the joint, in radii, falling from there to no strength. */
#define PLANE_NEAR 4.5
#define PLANE_FAR 7.0

/* Two bones whose directions differ by more, as a cosine, are not in line at rest: the lower one tells the plane. */
#define IN_LINE 0.5

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double sbs_flesh_median(double *numbers, size_t count) {
  qsort(numbers, count, sizeof *numbers, compare);
  return numbers[count / 2];
}

static double bone_distance(const sbs_flesh *flesh, size_t joint, size_t vertex) {
  const sbs_vec3 head = sbs_vec3_read(flesh->bones + 6 * joint);
  const sbs_vec3 along = sbs_vec3_subtract(sbs_vec3_read(flesh->bones + 6 * joint + 3), head);
  const sbs_vec3 from = sbs_vec3_subtract(sbs_vec3_read(flesh->rest + 3 * vertex), head);
  return sbs_vec3_length(sbs_vec3_along(from, -sbs_segment_nearest(from, along), along));
}

static double bone_length(const sbs_flesh *flesh, size_t joint) {
  const double *bone = flesh->bones + 6 * joint;
  return sbs_vec3_length(sbs_vec3_subtract(sbs_vec3_read(bone + 3), sbs_vec3_read(bone)));
}

/* A joint's radius: the median distance of its skin from its bone; 0 where it has too little skin. */
static void find_joint_radii(const sbs_flesh *flesh, const sbs_flesh_weights *weights, double *radii, size_t *ends,
                             double *distances) {
  memset(ends, 0, (flesh->joint_count + 1) * sizeof *ends);
  for (int is_filling = 0; is_filling < 2; is_filling++) {
    for (size_t w = 0; w < flesh->count; w++) {
      for (size_t i = weights->starts[w]; i < weights->starts[w + 1]; i++) {
        const size_t joint = (size_t)weights->joints[i];
        if (!(weights->weights[i] > OWN_WEIGHT)) continue;
        if (is_filling) distances[ends[joint]] = bone_distance(flesh, joint, w);
        ends[is_filling ? joint : joint + 1]++;
      }
    }
    for (size_t j = 0; j < flesh->joint_count && !is_filling; j++) ends[j + 1] += ends[j];
  }
  for (size_t j = 0; j < flesh->joint_count; j++) {
    const size_t begin = j ? ends[j - 1] : 0, count = ends[j] - begin;
    radii[j] = count < FEWEST ? 0.0 : fmax(sbs_flesh_median(distances + begin, count), LEAST_RADIUS);
  }
}

/* The nearest joint above that has something, or else -1. */
static int32_t find_above(const int32_t *parents, int32_t joint, const double *numbers) {
  while (joint >= 0 && !(numbers[joint] > 0.0)) joint = parents[joint];
  return joint;
}

static sbs_status find_radii(sbs_flesh *flesh, const sbs_flesh_desc *desc, sbs_flesh_weights *weights,
                             double *joint_radii, sbs_arena *scratch) {
  size_t *ends = sbs_arena_take(scratch, desc->joint_count + 1, sizeof *ends);
  double *found = sbs_arena_take(scratch, desc->joint_count, sizeof *found);
  double *distances = sbs_arena_take(scratch, flesh->count, sizeof *distances);
  weights->radii = sbs_arena_take(scratch, flesh->count, sizeof *weights->radii);
  weights->limbs = sbs_arena_take(scratch, desc->joint_count, sizeof *weights->limbs);
  if (scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  find_joint_radii(flesh, weights, found, ends, distances);
  for (size_t j = 0; j < desc->joint_count; j++) {
    const int32_t owner = find_above(desc->parents, (int32_t)j, found);
    joint_radii[j] = owner < 0 ? USUAL_RADIUS : found[owner];
  }
  for (size_t j = 0; j < desc->joint_count; j++) {
    int32_t limb = (int32_t)j;
    while (desc->parents[limb] >= 0 && bone_length(flesh, (size_t)limb) < SHORT * joint_radii[limb]) {
      limb = desc->parents[limb];
    }
    weights->limbs[j] = limb;
  }
  for (size_t w = 0; w < flesh->count; w++) {
    double sum = 0.0, total = 0.0;
    for (size_t i = weights->starts[w]; i < weights->starts[w + 1]; i++) {
      sum += weights->weights[i] * joint_radii[weights->joints[i]];
      total += weights->weights[i];
    }
    weights->radii[w] = total > 0.0 ? sum / total : USUAL_RADIUS;
  }
  return SBS_OK;
}

/* Chooses the bones with the largest weights. */
static void set_bones(sbs_flesh *flesh, const sbs_flesh_weights *weights, size_t w) {
  sbs_flesh_vertex *vertex = flesh->vertices + w;
  double taken = INFINITY, total = 0.0, shares[SBS_FLESH_BONES] = {0.0};
  int32_t last = -1;
  for (size_t k = 0; k < SBS_FLESH_BONES; k++) {
    double best = 0.0;
    int32_t joint = -1;
    for (size_t i = weights->starts[w]; i < weights->starts[w + 1]; i++) {
      const double weight = weights->weights[i];
      const int is_left = weight < taken || (weight == taken && weights->joints[i] > last);
      if (!is_left || !(weight > best)) continue;
      best = weight;
      joint = weights->joints[i];
    }
    vertex->bones[k] = joint;
    shares[k] = best;
    total += best;
    taken = best;
    last = joint;
  }
  for (size_t k = 0; k < SBS_FLESH_BONES; k++) {
    vertex->strengths[k] = vertex->distances[k] = 0.0f;
    if (vertex->bones[k] < 0) continue;
    const double distance = bone_distance(flesh, (size_t)vertex->bones[k], w);
    vertex->distances[k] = (float)distance;
    /* from no strength at the bone to the whole of it */
    const double near = sbs_smooth_step(distance / (NEAR_BONE * weights->radii[w]) - 1.0);
    vertex->strengths[k] = (float)(near * shares[k] / total);
  }
}

static void set_vertices(sbs_flesh *flesh, const sbs_flesh_weights *weights) {
  for (size_t w = 0; w < flesh->count; w++) {
    sbs_flesh_vertex *vertex = flesh->vertices + w;
    double largest = 0.0;
    for (size_t i = weights->starts[w]; i < weights->starts[w + 1]; i++) largest = fmax(largest, weights->weights[i]);
    const double own = fmax(2.0 * largest - 1.0, 0.0);
    *vertex = (sbs_flesh_vertex){.hold = (float)(flesh->options.hold * fmax(own * own, 1e-3)),
                                 .radius = (float)weights->radii[w]};
    set_bones(flesh, weights, w);
  }
}

/* ------------------------------------------------------------------------------------------------------- planes -- */

static int is_below(const int32_t *parents, int32_t joint, int32_t above) {
  while (joint >= 0 && joint != above) joint = parents[joint];
  return joint == above;
}

static void subtract(const double *a, const double *b, double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

/* Makes a vector 1 long; returns 0 where it has no length. */
static int normalize(double v[3]) {
  const double length = sqrt(sbs_dot(v, v));
  for (int i = 0; i < 3 && length > 0.0; i++) v[i] /= length;
  return length > 0.0;
}

static int set_hinge(const sbs_flesh *flesh, int32_t joint, int32_t parent, double radius, sbs_flesh_hinge *hinge) {
  const double *bone = flesh->bones + 6 * joint;
  *hinge = (sbs_flesh_hinge){.joint = joint, .parent = parent, .radius = radius};
  memcpy(hinge->point, bone, sizeof hinge->point);
  subtract(bone + 3, bone, hinge->along);
  subtract(bone, flesh->bones + 6 * parent, hinge->above);
  if (!normalize(hinge->along)) return 0;
  if (!normalize(hinge->above) || sbs_dot(hinge->above, hinge->along) < IN_LINE) {
    memcpy(hinge->above, hinge->along, sizeof hinge->above);
  }
  return 1;
}

/* How much a plane at a hinge is for a vertex: that of the skin of its two limbs, near the joint. */
static double guard_share(const sbs_flesh *flesh, const sbs_flesh_desc *desc, const sbs_flesh_weights *weights,
                          const sbs_flesh_hinge *hinge, size_t w) {
  double own = 0.0, way[3];
  subtract(flesh->rest + 3 * w, hinge->point, way);
  const double far = sqrt(sbs_dot(way, way)) / hinge->radius;
  if (far > PLANE_FAR) return 0.0;
  const int32_t above = desc->parents[hinge->parent];
  for (size_t i = weights->starts[w]; i < weights->starts[w + 1]; i++) {
    const int32_t joint = weights->joints[i];
    if (joint == hinge->parent || joint == above || is_below(desc->parents, joint, hinge->joint)) {
      own += weights->weights[i];
    }
  }
  return sbs_smooth_step(2.0 * own - 1.0) * sbs_smooth_step((PLANE_FAR - far) / (PLANE_FAR - PLANE_NEAR));
}

static sbs_status set_guards(sbs_flesh *flesh, const sbs_flesh_desc *desc, const sbs_flesh_weights *weights) {
  for (int is_filling = 0; is_filling < 2; is_filling++) {
    flesh->guard_count = 0;
    for (size_t w = 0; w < flesh->count; w++) {
      if (is_filling) flesh->guard_starts[w] = flesh->guard_count;
      for (size_t h = 0; h < flesh->hinge_count; h++) {
        const sbs_flesh_hinge *hinge = flesh->hinges + h;
        const double share = guard_share(flesh, desc, weights, hinge, w);
        if (!(share > 1e-3)) continue;
        double between[3], way[3];
        for (int i = 0; i < 3; i++) between[i] = hinge->along[i] + hinge->above[i];
        normalize(between);
        subtract(flesh->rest + 3 * w, hinge->point, way);
        const double at = sbs_dot(way, between);
        if (is_filling) {
          flesh->guards[flesh->guard_count] =
              (sbs_flesh_guard){.vertex = (int32_t)w,
                                .hinge = (int32_t)h,
                                .side = at < 0.0 ? -1.0f : 1.0f,
                                .least = (float)(flesh->options.margin * fmin(fabs(at), hinge->radius)),
                                .strength = (float)(flesh->options.crease * share)};
        }
        flesh->guard_count++;
      }
    }
    if (is_filling) break;
    flesh->guards = sbs_arena_take(&flesh->arena, flesh->guard_count, sizeof *flesh->guards);
    if (flesh->arena.failed) return SBS_ERROR_OUT_OF_MEMORY;
  }
  flesh->guard_starts[flesh->count] = flesh->guard_count;
  return SBS_OK;
}

sbs_status sbs_flesh_find_limbs(sbs_flesh *flesh, const sbs_flesh_desc *desc, sbs_flesh_weights *weights,
                                sbs_arena *scratch) {
  sbs_arena *arena = &flesh->arena;
  double *radii = sbs_arena_take(scratch, desc->joint_count, sizeof *radii);
  flesh->bones = sbs_arena_take(arena, desc->joint_count, 6 * sizeof *flesh->bones);
  flesh->hinges = sbs_arena_take(arena, desc->joint_count, sizeof *flesh->hinges);
  flesh->vertices = sbs_arena_take(arena, flesh->count, sizeof *flesh->vertices);
  flesh->guard_starts = sbs_arena_take(arena, flesh->count + 1, sizeof *flesh->guard_starts);
  flesh->free_vertices = sbs_arena_take(arena, flesh->count, sizeof *flesh->free_vertices);
  if (arena->failed || scratch->failed) return SBS_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < 6 * desc->joint_count; i++) {
    flesh->bones[i] = (desc->bones[i] - flesh->middle[i % 3]) / flesh->size;
  }
  sbs_status status = find_radii(flesh, desc, weights, radii, scratch);
  if (status) return status;
  set_vertices(flesh, weights);
  for (size_t j = 0; desc->hinges && j < desc->joint_count; j++) {
    const int32_t parent = desc->parents[j];
    if (!desc->hinges[j] || parent < 0) continue;
    flesh->hinge_count += (size_t)set_hinge(flesh, (int32_t)j, parent, radii[j], flesh->hinges + flesh->hinge_count);
  }
  return set_guards(flesh, desc, weights);
}
