/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "weights/brush.h"

/* ---------------------------------------------------------------------------------------------------------- options */

static sbs_status check_joints(const sbs_brush *brush, const sbs_brush_options *options, sbs_fault *fault) {
  const int all = options->mode == SBS_BRUSH_SMOOTH && options->joint == -1;
  if (!all && (options->joint < 0 || (size_t)options->joint >= brush->joint_count)) {
    return sbs_fault_number(fault, SBS_ERROR_JOINT_INDEX, "joint", options->joint, (double)brush->joint_count);
  }
  for (size_t j = 0; options->mirror_joints && j < brush->joint_count; j++) {
    const int32_t mirrored = options->mirror_joints[j];
    if (mirrored < 0 || (size_t)mirrored >= brush->joint_count) {
      return sbs_fault_row(fault, SBS_ERROR_JOINT_INDEX, "mirror_joints", j, mirrored, (double)brush->joint_count);
    }
  }
  return SBS_OK;
}

static int is_within(double value, double low, double high) {
  return value >= low && value <= high; /* not for NaN */
}

sbs_status sbs_brush_check(const sbs_brush *brush, const sbs_brush_options *options, sbs_fault *fault) {
  const double most = options->mode == SBS_BRUSH_REPLACE ? 1.0 : DBL_MAX;
  const struct {
    const char *name;
    double value;
    int is_valid;
  } checks[] = {
      {"mode", (double)options->mode, (int)options->mode >= SBS_BRUSH_ADD && options->mode <= SBS_BRUSH_SMOOTH},
      {"falloff", (double)options->falloff,
       (int)options->falloff >= SBS_BRUSH_FALLOFF_CONSTANT && options->falloff <= SBS_BRUSH_FALLOFF_QUADRATIC},
      {"distance", (double)options->distance,
       options->distance == SBS_BRUSH_DISTANCE_SPACE || options->distance == SBS_BRUSH_DISTANCE_SURFACE},
      {"radius", options->radius, options->radius > 0.0 && options->radius <= DBL_MAX},
      {"strength", options->strength, is_within(options->strength, 0.0, 1.0)},
      {"value", options->value, is_within(options->value, 0.0, most)},
      {"mirror_axis", options->mirror_axis, options->mirror_axis >= -1 && options->mirror_axis <= 2},
      {"mirror_position", options->mirror_position, isfinite(options->mirror_position)},
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    if (!checks[i].is_valid) {
      return sbs_fault_number(fault, SBS_ERROR_OPTION, checks[i].name, checks[i].value, 0.0);
    }
  }
  return check_joints(brush, options, fault);
}

/* ---------------------------------------------------------------------------------------------------------- one dab */

static double fade(sbs_brush_falloff falloff, double x) {
  x = fmin(x, 1.0);
  switch (falloff) {
    case SBS_BRUSH_FALLOFF_LINEAR: return 1.0 - x;
    case SBS_BRUSH_FALLOFF_SMOOTH: return 1.0 - x * x * (3.0 - 2.0 * x);
    case SBS_BRUSH_FALLOFF_SPHERE: return sqrt(1.0 - x * x);
    case SBS_BRUSH_FALLOFF_QUADRATIC: return (1.0 - x) * (1.0 - x);
    default: return 1.0;
  }
}

void sbs_brush_measure(sbs_brush *brush, const sbs_brush_options *options, const double center[3], int side) {
  sbs_brush_reach(brush, options, center);
  for (size_t i = 0; i < brush->reached_count; i++) {
    const int32_t vertex = brush->reached[i];
    const double amount = options->strength * fade(options->falloff, brush->distances[i] / options->radius);
    if (!(amount > 0.0)) continue;
    if (!(brush->amounts[0][vertex] > 0.0 || brush->amounts[1][vertex] > 0.0)) {
      brush->touched[brush->touched_count++] = vertex;
    }
    brush->amounts[side][vertex] = fmax(brush->amounts[side][vertex], amount);
  }
}

static double find_weight(const sbs_brush *brush, size_t vertex, int32_t joint) {
  const sbs_row row = sbs_brush_row(brush, vertex);
  for (size_t k = 0; k < row.count; k++) {
    if (row.joints[k] == joint) return row.weights[k];
  }
  return 0.0;
}

static double smooth_weight(const sbs_brush *brush, size_t vertex, int32_t joint, double weight, double amount) {
  const size_t begin = brush->offsets[vertex], end = brush->offsets[vertex + 1];
  double change = 0.0;
  if (begin == end) return weight;
  for (size_t i = begin; i < end; i++) change += find_weight(brush, (size_t)brush->neighbors[i], joint) - weight;
  return fmax(weight + amount * (change / (double)(end - begin)), 0.0);
}

static double paint_weight(const sbs_brush *brush, const sbs_brush_options *options, size_t vertex, int32_t joint,
                           double weight, double amount) {
  const double most = fmax(weight, 1.0); /* weights above 1 are not cut */
  switch (options->mode) {
    case SBS_BRUSH_ADD: return fmin(weight + amount, most);
    case SBS_BRUSH_SUBTRACT: return fmax(weight - amount, 0.0);
    case SBS_BRUSH_REPLACE: return weight + amount * (options->value - weight);
    case SBS_BRUSH_SCALE: return fmin(weight * (1.0 + amount * (options->value - 1.0)), most);
    default: return smooth_weight(brush, vertex, joint, weight, amount);
  }
}

static int smooth_all(sbs_brush *brush, const sbs_brush_options *options, size_t vertex) {
  const sbs_row before = sbs_brush_row(brush, vertex);
  sbs_average_begin(&brush->average, &before);
  for (size_t i = brush->offsets[vertex]; i < brush->offsets[vertex + 1]; i++) {
    const sbs_row beside = sbs_brush_row(brush, (size_t)brush->neighbors[i]);
    sbs_average_add(&brush->average, &beside);
  }
  sbs_average_end(&brush->average, brush->amounts[0][vertex], options->locked, &brush->row);
  if (!sbs_row_differs(&brush->row, &before)) return 0;
  sbs_brush_settle(brush, options);
  return 1;
}

static int edit(sbs_brush *brush, const sbs_brush_options *options, const int32_t joints[2], size_t vertex) {
  if (joints[0] < 0) return smooth_all(brush, options, vertex);
  sbs_brush_target targets[2];
  size_t count = 0;
  for (int side = 0; side < 2; side++) {
    const double amount = brush->amounts[side][vertex];
    if (!(amount > 0.0) || sbs_is_locked(options->locked, joints[side])) continue;
    const double weight = find_weight(brush, vertex, joints[side]);
    targets[count++] =
        (sbs_brush_target){joints[side], weight, paint_weight(brush, options, vertex, joints[side], weight, amount)};
  }
  return sbs_brush_edit(brush, options, vertex, targets, count);
}

/* Makes the new rows of all touched vertices from the old rows. */
static void edit_all(sbs_brush *brush, const sbs_brush_options *options, const int32_t joints[2]) {
  const size_t limit = brush->limit;
  for (size_t i = 0; i < brush->touched_count; i++) {
    const int32_t vertex = brush->touched[i];
    if (edit(brush, options, joints, (size_t)vertex)) {
      sbs_row_write(&brush->row, limit, SBS_FLOAT64, brush->dab.count, brush->dab.joints, brush->dab.weights);
      brush->dab.vertices[brush->dab.count++] = vertex;
    }
  }
}

sbs_status sbs_brush_write(sbs_brush *brush) {
  const size_t limit = brush->limit;
  size_t changing = 0;
  for (size_t i = 0; i < brush->dab.count; i++) {
    for (int32_t v = brush->dab.vertices[i]; v >= 0; v = brush->next[v]) changing++;
  }
  const sbs_status status = sbs_brush_reserve(brush, &brush->before, changing);
  if (status) return status;
  for (size_t i = 0; i < brush->dab.count; i++) {
    for (int32_t v = brush->dab.vertices[i]; v >= 0; v = brush->next[v]) {
      int32_t *joints = brush->joints + (size_t)v * limit;
      double *weights = brush->weights + (size_t)v * limit;
      if (brush->stamps[v] != brush->stroke) {
        brush->stamps[v] = brush->stroke;
        sbs_brush_append(brush, &brush->before, v, joints, weights);
      }
      memcpy(joints, brush->dab.joints + i * limit, limit * sizeof *joints);
      memcpy(weights, brush->dab.weights + i * limit, limit * sizeof *weights);
    }
  }
  return SBS_OK;
}

void sbs_brush_begin_dab(sbs_brush *brush) {
  for (size_t i = 0; i < brush->touched_count; i++) {
    brush->amounts[0][brush->touched[i]] = brush->amounts[1][brush->touched[i]] = 0.0;
  }
  brush->touched_count = 0;
  brush->dab.count = 0;
}

static sbs_status make_dab(sbs_brush *brush, const sbs_brush_options *options, const double center[3]) {
  int32_t joints[2] = {options->joint, options->joint};
  if (options->mirror_joints && options->joint >= 0) joints[1] = options->mirror_joints[options->joint];
  sbs_brush_begin_dab(brush);
  sbs_brush_measure(brush, options, center, 0);
  if (options->mirror_axis >= 0) {
    double mirrored[3] = {center[0], center[1], center[2]};
    mirrored[options->mirror_axis] = 2.0 * options->mirror_position - center[options->mirror_axis];
    sbs_brush_measure(brush, options, mirrored, joints[0] != joints[1]);
  }
  const sbs_status status = sbs_brush_reserve(brush, &brush->dab, brush->touched_count);
  if (status) return status;
  edit_all(brush, options, joints);
  return sbs_brush_write(brush);
}

/* ------------------------------------------------------------------------------------------------------- the stroke */

static void put_back(sbs_brush *brush) {
  const size_t limit = brush->limit;
  for (size_t i = 0; i < brush->before.count; i++) {
    const size_t at = (size_t)brush->before.vertices[i] * limit;
    memcpy(brush->joints + at, brush->before.joints + i * limit, limit * sizeof *brush->joints);
    memcpy(brush->weights + at, brush->before.weights + i * limit, limit * sizeof *brush->weights);
  }
}

/* Drops the vertices that have their old rows again, and lists the new rows of the others. */
static void compare(sbs_brush *brush) {
  const size_t limit = brush->limit, count = brush->before.count;
  brush->before.count = 0;
  for (size_t i = 0; i < count; i++) {
    const int32_t vertex = brush->before.vertices[i];
    const int32_t *old_joints = brush->before.joints + i * limit, *joints = brush->joints + (size_t)vertex * limit;
    const double *old_weights = brush->before.weights + i * limit, *weights = brush->weights + (size_t)vertex * limit;
    if (!memcmp(old_joints, joints, limit * sizeof *joints) && !memcmp(old_weights, weights, limit * sizeof *weights)) {
      continue;
    }
    if (brush->before.count == i) { /* it is in its place already */
      brush->before.count++;
    } else {
      sbs_brush_append(brush, &brush->before, vertex, old_joints, old_weights);
    }
    sbs_brush_append(brush, &brush->after, vertex, joints, weights);
  }
}

void sbs_brush_begin_stroke(sbs_brush *brush) { /* with a number that no stamp has */
  if (brush->stroke == UINT32_MAX) {
    memset(brush->stamps, 0, brush->vertex_count * sizeof *brush->stamps);
    brush->stroke = 0;
  }
  brush->stroke++;
  brush->before.count = 0;
  brush->after.count = 0;
}

sbs_status sbs_brush_end_stroke(sbs_brush *brush, sbs_status status, sbs_brush_change *change, sbs_fault *fault) {
  if (!status) status = sbs_brush_reserve(brush, &brush->after, brush->before.count);
  if (status) {
    put_back(brush);
    return sbs_fault_in(fault, status, NULL);
  }
  compare(brush);
  if (change) {
    *change = (sbs_brush_change){brush->before.count,   brush->before.vertices, brush->before.joints,
                                 brush->before.weights, brush->after.joints,    brush->after.weights};
  }
  return SBS_OK;
}

sbs_status sbs_brush_stroke(sbs_brush *brush, const sbs_brush_options *options, const double *centers,
                            size_t center_count, sbs_brush_change *change, sbs_fault *fault) {
  if (!brush) return sbs_fault_in(fault, SBS_ERROR_NULL, "brush");
  if (!centers && center_count) return sbs_fault_in(fault, SBS_ERROR_NULL, "centers");
  const sbs_brush_options defaults = sbs_default_brush_options();
  if (!options) options = &defaults;
  sbs_status status = sbs_brush_check(brush, options, fault);
  if (!status) {
    status = sbs_validate_vectors(centers, 0, SBS_FLOAT64, center_count, "centers", "centers", fault);
  }
  if (status) return status;

  sbs_brush_begin_stroke(brush);
  for (size_t i = 0; i < center_count && !status; i++) {
    status = sbs_tell((double)i / (double)center_count);
    if (!status) status = make_dab(brush, options, centers + 3 * i);
  }
  return sbs_brush_end_stroke(brush, status, change, fault);
}
