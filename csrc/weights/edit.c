/* SPDX-License-Identifier: MIT */
/* The new row of a vertex after one or two of its joints were painted. */
#include <math.h>

#include "weights/brush.h"

/* The kinds of influences, in the order in which they are dropped when there is no room. */
enum {
  OTHER,
  PAINTED,
  LOCKED
};

static void append(sbs_brush *brush, int32_t joint, double weight, unsigned char kind) {
  sbs_row *row = &brush->row;
  row->joints[row->count] = joint;
  row->weights[row->count] = weight;
  brush->kinds[row->count++] = kind;
}

/* Gathers the painted joints, then the others of the vertex. */
static void gather(sbs_brush *brush, const unsigned char *locked, size_t vertex, const sbs_brush_target *targets,
                   size_t target_count) {
  const sbs_row before = sbs_brush_row(brush, vertex);
  brush->row.count = 0;
  for (size_t i = 0; i < target_count; i++) append(brush, targets[i].joint, targets[i].after, PAINTED);
  for (size_t k = 0; k < before.count; k++) {
    const int32_t joint = before.joints[k];
    int painted = 0;
    for (size_t i = 0; i < target_count; i++) painted |= targets[i].joint == joint;
    if (!painted) append(brush, joint, before.weights[k], sbs_is_locked(locked, joint) ? LOCKED : OTHER);
  }
}

static void give_up(sbs_brush *brush, size_t at) {
  sbs_row *row = &brush->row;
  row->count--;
  row->joints[at] = row->joints[row->count];
  row->weights[at] = row->weights[row->count];
  brush->kinds[at] = brush->kinds[row->count];
}

/* Whether influence a is dropped before b. */
static int is_lesser(const sbs_brush *brush, size_t a, size_t b) {
  const sbs_row *row = &brush->row;
  if (brush->kinds[a] != brush->kinds[b]) return brush->kinds[a] < brush->kinds[b];
  if (row->weights[a] != row->weights[b]) return row->weights[a] < row->weights[b];
  return row->joints[a] > row->joints[b];
}

static void make_room(sbs_brush *brush) {
  while (brush->row.count > brush->limit) {
    size_t least = 0;
    for (size_t i = 1; i < brush->row.count; i++) least = is_lesser(brush, i, least) ? i : least;
    give_up(brush, least);
  }
}

static double sum_weights(const sbs_brush *brush, unsigned char kind) {
  double sum = 0.0;
  for (size_t i = 0; i < brush->row.count; i++) sum += brush->kinds[i] == kind ? brush->row.weights[i] : 0.0;
  return sum;
}

static void scale(sbs_brush *brush, unsigned char kind, double from, double to) {
  for (size_t i = 0; i < brush->row.count; i++) {
    if (brush->kinds[i] == kind) brush->row.weights[i] = brush->row.weights[i] / from * to;
  }
}

/* Makes weights sum to 1: keeps the painted ones if possible, and scales the others in proportion. */
static void balance(sbs_brush *brush, const sbs_brush_target *targets, size_t target_count) {
  const double share = fmax(1.0 - sum_weights(brush, LOCKED), 0.0);
  const double others = sum_weights(brush, OTHER);
  double painted = sum_weights(brush, PAINTED);
  /* All joints with weight were painted to zero and no other can take the rest: they keep their weights. */
  if (!(painted > 0.0) && !(others > 0.0)) {
    for (size_t i = 0; i < brush->row.count; i++) {
      for (size_t t = 0; t < target_count; t++) {
        if (brush->row.joints[i] == targets[t].joint) brush->row.weights[i] = targets[t].before;
      }
    }
    painted = sum_weights(brush, PAINTED);
  }
  if (painted > 0.0 && (painted > share || !(others > 0.0))) {
    scale(brush, PAINTED, painted, share);
    painted = share;
  }
  if (others > 0.0) scale(brush, OTHER, others, share - painted);
}

int sbs_brush_edit(sbs_brush *brush, const sbs_brush_options *options, size_t vertex, const sbs_brush_target *targets,
                   size_t target_count) {
  int changed = 0;
  for (size_t i = 0; i < target_count; i++) changed |= targets[i].after != targets[i].before;
  if (!changed) return 0;
  gather(brush, options->locked, vertex, targets, target_count);
  make_room(brush);
  if (options->normalize) balance(brush, targets, target_count);
  sbs_row_round(&brush->row, SBS_FLOAT64);
  return 1;
}

void sbs_brush_settle(sbs_brush *brush, const sbs_brush_options *options) {
  sbs_row_limit(&brush->row, brush->limit, options->locked);
  if (options->normalize) sbs_row_normalize(&brush->row, options->locked, SBS_FLOAT64);
}
