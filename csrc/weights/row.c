/* SPDX-License-Identifier: MIT */
#include "weights/row.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "mesh/validate.h"

sbs_status sbs_influences_validate_table(const sbs_influences_table *table, sbs_fault *fault) {
  if (!table->joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!table->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (!sbs_scalar_is_valid(table->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)table->scalar, 0.0);
  }
  if (!table->vertex_count || !table->influences_per_vertex) {
    return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_indices");
  }
  if (!table->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (table->vertex_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "vertex_count", (double)table->vertex_count, INT32_MAX);
  }
  if (table->joint_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)table->joint_count, INT32_MAX);
  }
  const size_t most = SIZE_MAX / sizeof(double) / table->vertex_count;
  if (table->influences_per_vertex > most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "influences_per_vertex", (double)table->influences_per_vertex,
                            (double)most);
  }
  return SBS_OK;
}

sbs_status sbs_influences_validate_over_surface(const sbs_influences_table *table, const sbs_mesh_desc *mesh,
                                                size_t limit, const int32_t *joint_indices, const void *joint_weights,
                                                sbs_fault *fault) {
  if (!table) return sbs_fault_in(fault, SBS_ERROR_NULL, "table");
  if (!mesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "mesh");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  const sbs_status status = sbs_influences_validate_table(table, fault);
  if (status) return status;
  if (!limit) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "limit");
  if (mesh->vertex_count != table->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex_count", (double)mesh->vertex_count,
                            (double)table->vertex_count);
  }
  return sbs_mesh_validate_triangles(mesh, fault); /* before their number determines how much memory is needed */
}

sbs_status sbs_influences_validate_joints(const sbs_influences_table *table, sbs_fault *fault) {
  const size_t columns = table->influences_per_vertex;
  for (size_t i = 0; i < table->vertex_count * columns; i++) {
    const int32_t joint = table->joint_indices[i];
    if (joint < 0 || (size_t)joint >= table->joint_count) {
      return sbs_fault_at(fault, SBS_ERROR_JOINT_INDEX, "joint_indices", i / columns, i % columns, joint,
                          (double)table->joint_count);
    }
  }
  return SBS_OK;
}

sbs_row sbs_row_new(sbs_arena *arena, size_t capacity) {
  return (sbs_row){.joints = sbs_arena_take(arena, capacity, sizeof(int32_t)),
                   .weights = sbs_arena_take(arena, capacity, sizeof(double))};
}

static sbs_influence_pairs find_pairs(const sbs_influences_table *table, size_t vertex) {
  return (sbs_influence_pairs){.joints = table->joint_indices,
                               .weights = table->joint_weights,
                               .scalar = table->scalar,
                               .first = vertex * table->influences_per_vertex,
                               .count = table->influences_per_vertex};
}

sbs_influences sbs_row_repaired(const sbs_influences_table *table, size_t vertex, sbs_row room) {
  const sbs_influence_pairs pairs = find_pairs(table, vertex);
  const double any_sum = 1.0; /* the tolerance of sums does not matter here */
  sbs_influences repaired = {.joints = room.joints, .weights = room.weights};
  sbs_influences_normalize(&pairs, any_sum, &repaired);
  return repaired;
}

static double find_largest_weight(const sbs_influences *influences) {
  double largest = 0.0;
  for (size_t i = 0; i < influences->count; i++) largest = fmax(largest, influences->weights[i]);
  return largest;
}

void sbs_row_read(const sbs_influences_table *table, size_t vertex, sbs_row *row) {
  const sbs_influence_pairs pairs = find_pairs(table, vertex);
  const double limit = table->scalar == SBS_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
  sbs_influences merged = {.joints = row->joints, .weights = row->weights};
  double scale = 1.0;
  sbs_influences_merge(&pairs, scale, &merged);
  while (find_largest_weight(&merged) > limit) sbs_influences_merge(&pairs, scale /= 2.0, &merged);
  row->count = merged.count;
  sbs_row_round(row, table->scalar);
}

void sbs_row_copy(const sbs_row *from, sbs_row *to) {
  to->count = from->count;
  if (!from->count) return;
  memcpy(to->joints, from->joints, from->count * sizeof *to->joints);
  memcpy(to->weights, from->weights, from->count * sizeof *to->weights);
}

int sbs_row_differs(const sbs_row *a, const sbs_row *b) {
  if (a->count != b->count) return 1;
  return a->count && (memcmp(a->joints, b->joints, a->count * sizeof *a->joints) ||
                      memcmp(a->weights, b->weights, a->count * sizeof *a->weights));
}

void sbs_row_sort(sbs_row *row) {
  for (size_t i = 1; i < row->count; i++) {
    const int32_t joint = row->joints[i];
    const double weight = row->weights[i];
    size_t at = i;
    for (; at > 0; at--) {
      const double before = row->weights[at - 1];
      if (before > weight || (before == weight && row->joints[at - 1] < joint)) break;
      row->joints[at] = row->joints[at - 1];
      row->weights[at] = before;
    }
    row->joints[at] = joint;
    row->weights[at] = weight;
  }
}

void sbs_row_write(const sbs_row *row, size_t width, sbs_scalar scalar, size_t vertex, int32_t *joint_indices,
                   void *joint_weights) {
  for (size_t k = 0; k < width; k++) {
    const double weight = k < row->count ? row->weights[k] : 0.0;
    joint_indices[vertex * width + k] = k < row->count ? row->joints[k] : 0;
    sbs_scalar_put(joint_weights, scalar, vertex * width + k, weight);
  }
}

void sbs_row_round(sbs_row *row, sbs_scalar scalar) {
  size_t count = 0;
  for (size_t i = 0; i < row->count; i++) {
    const double weight = scalar == SBS_FLOAT32 ? (double)(float)row->weights[i] : row->weights[i];
    if (!(weight > 0.0)) continue;
    row->joints[count] = row->joints[i];
    row->weights[count++] = weight;
  }
  row->count = count;
  sbs_row_sort(row);
}

double sbs_row_tolerance(const sbs_row *row, sbs_scalar scalar) {
  return 4.0 * (double)row->count * sbs_scalar_epsilon(scalar);
}

double sbs_row_sum(const sbs_row *row) {
  double sum = 0.0;
  for (size_t i = 0; i < row->count; i++) sum += row->weights[i];
  return sum;
}

void sbs_row_normalize(sbs_row *row, const unsigned char *locked, sbs_scalar scalar) {
  double kept = 0.0, free_sum = 0.0;
  for (size_t i = 0; i < row->count; i++) {
    *(sbs_is_locked(locked, row->joints[i]) ? &kept : &free_sum) += row->weights[i];
  }
  if (!(free_sum > 0.0) || fabs(kept + free_sum - 1.0) <= sbs_row_tolerance(row, scalar)) return;

  const double share = fmax(1.0 - kept, 0.0);
  const double scale =
      isinf(free_sum) ? 0x1p-64 : 1.0; /* weights near the largest double: scale down first, ratios stay */
  free_sum = 0.0;
  for (size_t i = 0; i < row->count; i++) {
    if (!sbs_is_locked(locked, row->joints[i])) free_sum += scale * row->weights[i];
  }
  for (size_t i = 0; i < row->count; i++) {
    double *weight = row->weights + i;
    if (!sbs_is_locked(locked, row->joints[i])) *weight = scale * *weight / free_sum * share;
  }
  sbs_row_round(row, scalar);
}

void sbs_row_limit(sbs_row *row, size_t limit, const unsigned char *locked) {
  if (row->count <= limit) return;
  size_t locked_count = 0, count = 0, unlocked = 0;
  for (size_t i = 0; i < row->count; i++) locked_count += (size_t)sbs_is_locked(locked, row->joints[i]);
  for (size_t i = 0; i < row->count; i++) {
    if (!sbs_is_locked(locked, row->joints[i]) && locked_count + unlocked++ >= limit) continue;
    row->joints[count] = row->joints[i];
    row->weights[count++] = row->weights[i];
  }
  row->count = count;
}

void sbs_row_prune(sbs_row *row, double threshold, const unsigned char *locked) {
  size_t count = 0, unlocked = 0;
  for (size_t i = 0; i < row->count; i++) {
    if (!sbs_is_locked(locked, row->joints[i]) && unlocked++ && row->weights[i] < threshold) continue;
    row->joints[count] = row->joints[i];
    row->weights[count++] = row->weights[i];
  }
  row->count = count;
}

sbs_status sbs_influences_validate_limit(const sbs_influences_table *table, const unsigned char *locked, size_t limit,
                                         sbs_row *room, sbs_fault *fault) {
  for (size_t v = 0; locked && v < table->vertex_count; v++) {
    size_t count = 0;
    sbs_row_read(table, v, room);
    for (size_t i = 0; i < room->count; i++) count += (size_t)sbs_is_locked(locked, room->joints[i]);
    if (count > limit) return sbs_fault_number(fault, SBS_ERROR_OPTION, "limit", (double)limit, (double)count);
  }
  return SBS_OK;
}
