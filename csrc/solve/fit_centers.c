/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/threads.h"
#include "solve/check.h"
#include "solve/joints.h"
#include "solve/vertex.h"

/* How strongly a center is held where it begins, relative to how much moving it moves the vertex (squared). */
#define REMAIN 1e-4

/* How much of the equations is rounding, at most. */
#define ROUNDING 1e-12

enum {
  VERTICES_CHUNK = 8
};

/* A call: shared by the threads that work on it. */
typedef struct centers_fit {
  const sbs_fit_desc *desc;
  const sbs_frame_joints *joints;
  size_t width;
  const int32_t *indices;
  const double *weights;
  char *work; /* (threads, work_size) */
  size_t work_size;
  double *centers, *errors;
} centers_fit;

/* A vertex, its influences, and memory for derivatives that are not asked for. */
typedef struct center_vertex {
  const double *rest;
  int32_t *chosen;
  double *w;
  size_t count;
  double *by;
  sbs_spread spread;
} center_vertex;

static center_vertex lay_out(size_t width, sbs_arena *arena) {
  center_vertex made = {0};
  made.chosen = sbs_arena_take(arena, width, sizeof *made.chosen);
  made.w = sbs_arena_take(arena, width, sizeof *made.w);
  made.by = sbs_arena_take(arena, width, 3 * sizeof *made.by);
  made.spread = sbs_new_spread(arena, width);
  return made;
}

static void move(const centers_fit *fit, const center_vertex *one, size_t frame, const double center[3], double to[3]) {
  static const sbs_fit_formula formula = {SBS_METHOD_SPHERICAL, SBS_CENTER_OPTIMIZED, 1.0, NULL};
  const sbs_fit_joints joints = sbs_joints_of_frame(fit->joints, frame);
  sbs_move_spread(&formula, &joints, &one->spread, one->rest, center, one->w, to, one->by);
}

/* Where a vertex goes is linear in its center: so its residuals at one center and at three others determine it. */
static void fit_center(const centers_fit *fit, size_t vertex, const center_vertex *one) {
  const sbs_fit_desc *desc = fit->desc;
  double *center = fit->centers + 3 * vertex;
  memcpy(center, desc->centers ? desc->centers + 3 * vertex : one->rest, 3 * sizeof *center);
  double normal[6] = {0.0}, step = 1e-3;
  sbs_vec4 right = {0.0};
  for (int k = 0; k < 3; k++) step = fmax(step, fmax(fabs(center[k]), fabs(one->rest[k])));
  for (size_t f = 0; f < desc->frame_count; f++) {
    const double *p = desc->posed + 3 * (f * desc->vertex_count + vertex);
    double here[3], there[3], by[9];
    move(fit, one, f, center, here);
    for (int k = 0; k < 3; k++) {
      double aside[3] = {center[0], center[1], center[2]};
      aside[k] += step;
      move(fit, one, f, aside, there);
      for (int i = 0; i < 3; i++) by[3 * i + k] = (there[i] - here[i]) / step;
    }
    for (int i = 0; i < 3; i++) {
      for (int k = 0, at = 0; k < 3; k++) {
        right[k] += by[3 * i + k] * (p[i] - here[i]);
        for (int l = k; l < 3; l++, at++) normal[at] += by[3 * i + k] * by[3 * i + l];
      }
    }
  }
  /* where joints scale, rounding may be larger than this */
  const double hold = REMAIN * (double)desc->frame_count + ROUNDING * (normal[0] + normal[3] + normal[5]);
  normal[0] += hold;
  normal[3] += hold;
  normal[5] += hold;
  const sbs_vec4 way = sbs_solve_symmetric(normal, right);
  for (int k = 0; k < 3; k++) center[k] += way[k];
  double error = 0.0;
  for (size_t f = 0; f < desc->frame_count; f++) {
    const double *p = desc->posed + 3 * (f * desc->vertex_count + vertex);
    double moved[3];
    move(fit, one, f, center, moved);
    for (int k = 0; k < 3; k++) error += (moved[k] - p[k]) * (moved[k] - p[k]);
  }
  fit->errors[vertex] = sqrt(error / (double)desc->frame_count);
}

static sbs_status fit_vertices(void *context, sbs_share vertices, int worker) {
  const centers_fit *fit = context;
  sbs_arena memory = sbs_arena_over(fit->work + (size_t)worker * fit->work_size);
  center_vertex one = lay_out(fit->width, &memory);
  for (size_t v = vertices.begin; v < vertices.end; v++) {
    const size_t first = v * fit->width;
    one.rest = fit->desc->rest_positions + 3 * v;
    one.count = sbs_read_influences(fit->width, fit->indices + first, fit->weights + first, one.chosen, one.w);
    sbs_spread_joints(fit->desc->twist, one.chosen, one.count, one.rest, &one.spread);
    if (one.count) {
      fit_center(fit, v, &one);
      continue;
    }
    memcpy(fit->centers + 3 * v, fit->desc->centers ? fit->desc->centers + 3 * v : one.rest, 3 * sizeof *fit->centers);
    fit->errors[v] = 0.0;
  }
  return SBS_OK;
}

sbs_status sbs_fit_centers(const sbs_fit_desc *desc, size_t influences, const int32_t *joint_indices,
                           const double *joint_weights, const sbs_fit_options *given, double *centers, double *errors,
                           sbs_fault *fault) {
  if (!centers) return sbs_fault_in(fault, SBS_ERROR_NULL, "centers");
  sbs_fit_options options = given ? *given : sbs_default_fit_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (!status && options.threads < 0) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options.threads, 0.0);
  }
  if (!status) status = sbs_check_fit(desc, fault);
  if (!status) status = sbs_check_fit_influences(desc, influences, joint_indices, joint_weights, fault);
  if (status) return status;

  const double moves = 5.0 * (double)desc->frame_count * (double)desc->vertex_count;
  const int threads = sbs_choose_threads(options.threads, 100.0 * moves * (double)influences);
  sbs_frame_joints joints = {0};
  sbs_arena arena = sbs_arena_from(&options.allocator), counted = sbs_arena_over(NULL);
  centers_fit fit = {.desc = desc,
                     .joints = &joints,
                     .width = influences,
                     .indices = joint_indices,
                     .weights = joint_weights,
                     .centers = sbs_arena_take(&arena, desc->vertex_count, 3 * sizeof *centers),
                     .errors = sbs_arena_take(&arena, desc->vertex_count, sizeof *errors)};
  lay_out(influences, &counted);
  fit.work_size = counted.used;
  fit.work = counted.failed ? NULL : sbs_arena_take(&arena, (size_t)threads, fit.work_size);
  status = fit.work ? sbs_frame_joints_new(desc, threads, &arena, &joints) : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = sbs_share_work(threads, desc->vertex_count, VERTICES_CHUNK, fit_vertices, &fit);
  if (!status) {
    memcpy(centers, fit.centers, desc->vertex_count * 3 * sizeof *centers);
    if (errors) memcpy(errors, fit.errors, desc->vertex_count * sizeof *errors);
  }
  sbs_arena_release(&arena);
  return sbs_end_fit(status, fault);
}
