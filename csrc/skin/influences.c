/* SPDX-License-Identifier: MIT */
#include "skin/influences.h"

#include <math.h>

#include "base/memory.h"
#include "base/scalar.h"
#include "twist/twist.h"

sbs_influences sbs_influences_new(const sbs_allocator *allocator, const sbs_skin_desc *desc) {
  const int is_spread = sbs_twist_with_bones(desc->twist) != NULL;
  const size_t columns = desc->influences_per_vertex, all = is_spread ? 4 * columns : columns;
  return (sbs_influences){.joints = sbs_allocate(allocator, all, sizeof(int32_t)),
                          .weights = sbs_allocate(allocator, all, sizeof(double)),
                          .room = is_spread ? 2 * columns : columns};
}

void sbs_influences_free(const sbs_allocator *allocator, sbs_influences *influences) {
  sbs_release(allocator, influences->joints);
  sbs_release(allocator, influences->weights);
}

static unsigned weight_defect(double weight) {
  if (isnan(weight)) return SBS_WEIGHT_NAN;
  if (isinf(weight)) return SBS_WEIGHT_INFINITE;
  if (weight < 0.0) return SBS_WEIGHT_NEGATIVE;
  return 0;
}

double sbs_usable_weight(double weight) {
  return weight_defect(weight) ? 0.0 : weight;
}

/*
 * Inserts by joint, then by weight: equal joints are added up in an order that depends on their values alone, so that
 * the sum is the same to the last bit however the caller ordered them.
 */
static void insert_sorted(sbs_influences *influences, int32_t joint, double weight) {
  size_t at = influences->count++;
  for (; at > 0; at--) {
    int32_t other = influences->joints[at - 1];
    double other_weight = influences->weights[at - 1];
    if (other < joint || (other == joint && other_weight <= weight)) break;
    influences->joints[at] = other;
    influences->weights[at] = other_weight;
  }
  influences->joints[at] = joint;
  influences->weights[at] = weight;
}

static void merge_duplicates(sbs_influences *influences) {
  size_t kept = 0;
  for (size_t i = 0; i < influences->count; i++) {
    if (kept && influences->joints[kept - 1] == influences->joints[i]) {
      influences->weights[kept - 1] += influences->weights[i];
      influences->repairs |= SBS_WEIGHT_DUPLICATE;
    } else {
      influences->joints[kept] = influences->joints[i];
      influences->weights[kept] = influences->weights[i];
      kept++;
    }
  }
  influences->count = kept;
}

static double sum_of_weights(const sbs_influences *influences) {
  double sum = 0.0;
  for (size_t i = 0; i < influences->count; i++) sum += influences->weights[i];
  return sum;
}

void sbs_influences_merge(const sbs_influence_pairs *pairs, double scale, sbs_influences *influences) {
  influences->count = 0;
  influences->repairs = 0;
  influences->fault = 0;
  for (size_t k = 0; k < pairs->count; k++) {
    double weight = sbs_scalar_get(pairs->weights, pairs->scalar, pairs->first + k);
    if (weight == 0.0) continue;
    unsigned defect = weight_defect(weight);
    if (!defect) {
      insert_sorted(influences, pairs->joints[pairs->first + k], scale * weight);
    } else {
      if (!influences->repairs) influences->fault = k;
      influences->repairs |= defect;
    }
  }
  merge_duplicates(influences);
}

void sbs_influences_normalize(const sbs_influence_pairs *pairs, double sum_tolerance, sbs_influences *influences) {
  influences->heaviest = 0;
  sbs_influences_merge(pairs, 1.0, influences);
  if (!influences->count) {
    influences->repairs |= SBS_WEIGHT_UNWEIGHTED;
    return;
  }
  double sum = sum_of_weights(influences);
  const int off_sum = !(fabs(sum - 1.0) <= sum_tolerance);
  if (isinf(sum)) { /* weights near the largest double: a power of two leaves their ratios as they are */
    sbs_influences_merge(pairs, 0x1p-64, influences);
    sum = sum_of_weights(influences);
  }
  if (off_sum) influences->repairs |= SBS_WEIGHT_OFF_SUM;
  for (size_t i = 0; i < influences->count; i++) influences->weights[i] /= sum;
  for (size_t i = 1; i < influences->count; i++) {
    if (influences->weights[i] > influences->weights[influences->heaviest]) influences->heaviest = i;
  }
}

/* Spreads the influences of a vertex along the bones of the twist, into the room behind its own. */
static sbs_influence_pairs spread_pairs(const sbs_skin_desc *desc, size_t vertex, const sbs_influences *influences) {
  const size_t columns = desc->influences_per_vertex;
  const sbs_vec3 point = sbs_twist_point(desc, vertex);
  int32_t *joints = influences->joints + influences->room;
  double *weights = influences->weights + influences->room;
  for (size_t k = 0; k < columns; k++) {
    const double weight = sbs_scalar_get(desc->joint_weights, desc->weight_scalar, vertex * columns + k);
    sbs_twist_spread(desc->twist, desc->joint_indices[vertex * columns + k], weight, point, joints + 2 * k,
                     weights + 2 * k);
  }
  return (sbs_influence_pairs){.joints = joints, .weights = weights, .scalar = SBS_FLOAT64, .count = 2 * columns};
}

void sbs_influences_read(const sbs_skin_desc *desc, double sum_tolerance, size_t vertex, sbs_influences *influences) {
  if (sbs_twist_with_bones(desc->twist)) {
    const sbs_influence_pairs spread = spread_pairs(desc, vertex, influences);
    sbs_influences_normalize(&spread, sum_tolerance, influences);
    influences->fault /= 2;
    return;
  }
  const sbs_influence_pairs pairs = {.joints = desc->joint_indices,
                                     .weights = desc->joint_weights,
                                     .scalar = desc->weight_scalar,
                                     .first = vertex * desc->influences_per_vertex,
                                     .count = desc->influences_per_vertex};
  sbs_influences_normalize(&pairs, sum_tolerance, influences);
}

void sbs_influences_count_repairs(unsigned repairs, sbs_weight_report *report) {
  report->nan += (repairs & SBS_WEIGHT_NAN) != 0;
  report->infinite += (repairs & SBS_WEIGHT_INFINITE) != 0;
  report->negative += (repairs & SBS_WEIGHT_NEGATIVE) != 0;
  report->unweighted += (repairs & SBS_WEIGHT_UNWEIGHTED) != 0;
  report->off_sum += (repairs & SBS_WEIGHT_OFF_SUM) != 0;
  report->duplicate += (repairs & SBS_WEIGHT_DUPLICATE) != 0;
}
