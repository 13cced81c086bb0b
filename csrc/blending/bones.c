/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "blending/bind.h"

/* Joints nearer to each other than this share of the skeleton's size have no bone between them. */
static const double COINCIDENT = 1e-6;

/* How near joints at one place are, at most. */
static double closeness(size_t joint_count, const double *positions) {
  sbs_vec3 low = sbs_vec3_read(positions), high = low;
  for (size_t j = 1; j < joint_count; j++) {
    const sbs_vec3 at = sbs_vec3_read(positions + 3 * j);
    low = (sbs_vec3){fmin(low.x, at.x), fmin(low.y, at.y), fmin(low.z, at.z)};
    high = (sbs_vec3){fmax(high.x, at.x), fmax(high.y, at.y), fmax(high.z, at.z)};
  }
  return COINCIDENT * sbs_vec3_length(sbs_vec3_subtract(high, low));
}

/* From the parent to the joint; zero for a root. */
static sbs_vec3 step_to(size_t joint, const int32_t *parents, const double *positions) {
  if (parents[joint] < 0) return (sbs_vec3){0.0, 0.0, 0.0};
  return sbs_vec3_subtract(sbs_vec3_read(positions + 3 * joint), sbs_vec3_read(positions + 3 * (size_t)parents[joint]));
}

/* Sorts the joints of a forest by their depth, and by number where that is equal: parents before children. */
static void sort_by_depth(size_t joint_count, const int32_t *parents, int32_t *depths, size_t *starts, int32_t *order) {
  for (size_t j = 0; j < joint_count; j++) depths[j] = -1;
  for (size_t j = 0; j < joint_count; j++) {
    int32_t steps = 0, joint = (int32_t)j;
    for (; joint >= 0 && depths[joint] < 0; joint = parents[joint]) steps++;
    int32_t depth = (joint >= 0 ? depths[joint] : -1) + steps;
    for (joint = (int32_t)j; joint >= 0 && depths[joint] < 0; joint = parents[joint]) depths[joint] = depth--;
  }
  for (size_t depth = 0; depth <= joint_count; depth++) starts[depth] = 0;
  for (size_t j = 0; j < joint_count; j++) starts[depths[j] + 1]++;
  for (size_t depth = 0; depth < joint_count; depth++) starts[depth + 1] += starts[depth];
  for (size_t j = 0; j < joint_count; j++) order[starts[depths[j]]++] = (int32_t)j;
}

/* The mean step to the children of each joint, each weighted by the joints below it, itself included: `shares`. */
static void add_children(size_t joint_count, const int32_t *parents, const double *positions, const int32_t *order,
                         double close, double *counts, double *shares, double *bones) {
  for (size_t j = 0; j < joint_count; j++) {
    counts[j] = 1.0;
    shares[j] = bones[3 * j] = bones[3 * j + 1] = bones[3 * j + 2] = 0.0;
  }
  for (size_t i = joint_count; i-- > 0;) {
    const size_t joint = (size_t)order[i];
    if (parents[joint] < 0) continue;
    const size_t parent = (size_t)parents[joint];
    const sbs_vec3 step = step_to(joint, parents, positions);
    counts[parent] += counts[joint];
    if (!(sbs_vec3_length(step) > close)) continue;
    sbs_vec3_write(sbs_vec3_along(sbs_vec3_read(bones + 3 * parent), counts[joint], step), bones + 3 * parent);
    shares[parent] += counts[joint];
  }
  for (size_t j = 0; j < joint_count; j++) {
    for (size_t axis = 0; axis < 3 && shares[j] > 0.0; axis++) bones[3 * j + axis] /= shares[j];
  }
}

/* Bones that have no end from children continue that of the parent. */
static void add_ends(size_t joint_count, const int32_t *parents, const double *positions, const int32_t *order,
                     double close, double *bones) {
  for (size_t i = 0; i < joint_count; i++) {
    const size_t joint = (size_t)order[i];
    if (sbs_vec3_length(sbs_vec3_read(bones + 3 * joint)) > close) continue;
    sbs_vec3 onward = step_to(joint, parents, positions);
    if (!(sbs_vec3_length(onward) > close)) {
      onward = parents[joint] < 0 ? (sbs_vec3){0.0, 0.0, 0.0} : sbs_vec3_read(bones + 3 * (size_t)parents[joint]);
    }
    sbs_vec3_write(onward, bones + 3 * joint);
  }
}

/* Finds the bones of valid joints, as vectors from head to tail, (J, 3). */
static sbs_status find_vectors(size_t joint_count, const int32_t *parents, const double *positions,
                               const sbs_allocator *allocator, double *bones) {
  const double close = closeness(joint_count, positions);
  sbs_arena arena = sbs_arena_from(allocator);
  int32_t *depths = sbs_arena_take(&arena, joint_count, sizeof *depths);
  int32_t *order = sbs_arena_take(&arena, joint_count, sizeof *order);
  size_t *starts = sbs_arena_take(&arena, joint_count + 1, sizeof *starts);
  double *counts = sbs_arena_take(&arena, joint_count, sizeof *counts);
  double *shares = sbs_arena_take(&arena, joint_count, sizeof *shares);
  const int is_room = !arena.failed;
  if (is_room) {
    sort_by_depth(joint_count, parents, depths, starts, order);
    add_children(joint_count, parents, positions, order, close, counts, shares, bones);
    add_ends(joint_count, parents, positions, order, close, bones);
  }
  sbs_arena_release(&arena);
  return is_room ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

sbs_status sbs_bones_tails(size_t joint_count, const int32_t *parents, const double *joint_positions,
                           const sbs_allocator *allocator, double *tails, sbs_fault *fault) {
  if (!parents) return sbs_fault_in(fault, SBS_ERROR_NULL, "parents");
  if (!joint_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_positions");
  if (!tails) return sbs_fault_in(fault, SBS_ERROR_NULL, "tails");
  if (!joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (joint_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)joint_count, INT32_MAX);
  }
  sbs_allocator chosen;
  sbs_status status = sbs_choose_allocator(allocator, &chosen, fault);
  if (!status) {
    status = sbs_validate_vectors(joint_positions, 0, SBS_FLOAT64, joint_count, "joint_positions", NULL, fault);
  }
  if (!status) status = sbs_validate_parents(parents, joint_count, &chosen, fault);
  if (status) return status;
  status = find_vectors(joint_count, parents, joint_positions, &chosen, tails);
  if (status) return sbs_fault_in(fault, status, NULL);
  for (size_t i = 0; i < 3 * joint_count; i++) tails[i] += joint_positions[i];
  return SBS_OK;
}

/* Brings a vector from the space of the mesh to the axes of a joint. */
static sbs_vec3 in_axes(const double *inverse_bind_matrix, sbs_vec3 vector) {
  const double *m = inverse_bind_matrix;
  return (sbs_vec3){m[0] * vector.x + m[1] * vector.y + m[2] * vector.z,
                    m[4] * vector.x + m[5] * vector.y + m[6] * vector.z,
                    m[8] * vector.x + m[9] * vector.y + m[10] * vector.z};
}

static sbs_bone describe_bone(const sbs_blending_desc *desc, size_t joint, sbs_vec3 vector, double close) {
  const double *inverse = desc->inverse_bind_matrices + 12 * joint;
  const sbs_vec3 head = sbs_vec3_read(desc->joint_positions + 3 * joint), own = in_axes(inverse, vector);
  const int is_bare = !(sbs_vec3_length(vector) > close);
  sbs_bone bone = {.head = head, .tail = sbs_vec3_along(head, 1.0, vector), .after = sbs_vec3_length(own)};
  bone.blendable = !is_bare && desc->parents[joint] >= 0;
  if (!is_bare) bone.direction = (sbs_vec3){own.x / bone.after, own.y / bone.after, own.z / bone.after};
  for (size_t column = 0; column < 4; column++) {
    bone.along[column] = bone.direction.x * inverse[column] + bone.direction.y * inverse[4 + column] +
                         bone.direction.z * inverse[8 + column];
  }
  bone.before = sbs_vec3_length(in_axes(inverse, step_to(joint, desc->parents, desc->joint_positions)));
  if (!(bone.before > close)) bone.before = bone.after;
  return bone;
}

sbs_status sbs_bones_find(const sbs_blending_desc *desc, const sbs_allocator *allocator, sbs_bone *bones) {
  const size_t count = desc->joint_count;
  const double close = closeness(count, desc->joint_positions);
  double *vectors = sbs_allocate(allocator, count, 3 * sizeof *vectors);
  sbs_status status = vectors ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
  if (!status && !desc->tails) {
    status = find_vectors(count, desc->parents, desc->joint_positions, allocator, vectors);
  }
  for (size_t j = 0; j < count && !status; j++) {
    sbs_vec3 vector = sbs_vec3_read(vectors + 3 * j);
    if (desc->tails) {
      vector = sbs_vec3_subtract(sbs_vec3_read(desc->tails + 3 * j), sbs_vec3_read(desc->joint_positions + 3 * j));
      if (!(sbs_vec3_length(vector) > close)) vector = step_to(j, desc->parents, desc->joint_positions);
    }
    bones[j] = describe_bone(desc, j, vector, close);
  }
  sbs_release(allocator, vectors);
  return status;
}
