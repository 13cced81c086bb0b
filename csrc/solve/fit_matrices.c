/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/algebra.h"
#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/lapack.h"
#include "base/threads.h"
#include "pose/twist.h"
#include "sbs/fit.h"
#include "skin/influences.h"
#include "solve/check.h"
#include "twist/twist.h"

/* How strongly a rotation is held at the one before, as a share of the spread: decides where the points do not. */
#define REMAIN 1e-9

/* Added to the spread, as a share of the mesh's size squared, so that the rounding of a single point turns no joint. */
#define LEAST_SPREAD 1e-3

/* A frame is done when a sweep lowers its sum of squares by less than this share of it. */
#define ENOUGH 1e-7

sbs_fit_matrices_options sbs_default_fit_matrices_options(void) {
  return (sbs_fit_matrices_options){.sweeps = 10, .allocator = sbs_default_allocator()};
}

/* A vertex that follows a joint. */
typedef struct follower {
  size_t vertex;
  double weight;
} follower;

/* The vertices that follow a joint, the same in all frames. They count by the squares of their weights. */
typedef struct group {
  size_t begin, end; /* of its followers */
  double mean[3];    /* at rest */
  double squares;    /* the sum of the squares of the weights */
  double spread;     /* the sum of squared distances from the mean, times these; and LEAST_SPREAD */
} group;

/* A call: shared by the threads that work on it. */
typedef struct matrices_fit {
  const sbs_fit_desc *desc;
  const sbs_fit_matrices_options *options;
  const unsigned char *fixed;
  const follower *followers;
  const group *groups; /* (J) */
  double *work;        /* (threads, V, 3) residuals */
  double *matrices;    /* (F, J, 3, 4) */
  double *errors;      /* (F) */
} matrices_fit;

static void apply(const double m[12], const double v[3], double to[3]) {
  for (int k = 0; k < 3; k++) to[k] = m[4 * k] * v[0] + m[4 * k + 1] * v[1] + m[4 * k + 2] * v[2] + m[4 * k + 3];
}

/* The rotation R with the largest trace of R m, det +1. */
static sbs_status nearest_rotation(const double m[9], double rotation[9]) {
  double u[9], s[3], vt[9], work[32]; /* more than sbs_svd_work_size(3) */
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3; b++) u[3 * b + a] = m[3 * a + b];
  }
  const sbs_status status = sbs_svd(3, u, s, vt, work);
  if (status) return status;
  const double sign = sbs_determinant(u) * sbs_determinant(vt) < 0.0 ? -1.0 : 1.0;
  for (int b = 0; b < 3; b++) {
    for (int a = 0; a < 3; a++) {
      rotation[3 * b + a] = vt[b] * u[a] + vt[3 + b] * u[3 + a] + sign * vt[6 + b] * u[6 + a];
    }
  }
  return SBS_OK;
}

/* The best matrix of one joint while all others stay: orthogonal Procrustes, weighted. */
static sbs_status fit_joint(const matrices_fit *fit, const group *joint, double *matrix, double *left) {
  const double *rest = fit->desc->rest_positions;
  double sum[3] = {0.0, 0.0, 0.0}, products[9] = {0.0}, old[9], rotation[9];
  for (size_t i = joint->begin; i < joint->end; i++) {
    const double weight = fit->followers[i].weight;
    const double *v = rest + 3 * fit->followers[i].vertex, *off = left + 3 * fit->followers[i].vertex;
    double to[3];
    apply(matrix, v, to);
    for (int b = 0; b < 3; b++) {
      const double q = weight * (off[b] + weight * to[b]);
      sum[b] += q;
      for (int a = 0; a < 3; a++) products[3 * a + b] += (v[a] - joint->mean[a]) * q;
    }
  }
  for (int i = 0; i < 9; i++) old[i] = matrix[4 * (i / 3) + i % 3];
  const double root = cbrt(sbs_determinant(old)), scale = root == 0.0 ? 1.0 : root;
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3; b++) {
      products[3 * a + b] = scale * products[3 * a + b] + REMAIN * scale * joint->spread * old[3 * b + a];
    }
  }
  const sbs_status status = nearest_rotation(products, rotation);
  if (status) return status;
  double made[12], change[12];
  for (int k = 0; k < 3; k++) {
    made[4 * k + 3] = sum[k] / joint->squares;
    for (int i = 0; i < 3; i++) {
      made[4 * k + i] = scale * rotation[3 * k + i];
      made[4 * k + 3] -= made[4 * k + i] * joint->mean[i];
    }
  }
  for (int i = 0; i < 12; i++) {
    change[i] = matrix[i] - made[i];
    matrix[i] = made[i];
  }
  for (size_t i = joint->begin; i < joint->end; i++) {
    double *off = left + 3 * fit->followers[i].vertex, to[3];
    apply(change, rest + 3 * fit->followers[i].vertex, to);
    for (int k = 0; k < 3; k++) off[k] += fit->followers[i].weight * to[k];
  }
  return SBS_OK;
}

static double sum_of_squares(const double *left, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += left[i] * left[i];
  return sum;
}

static sbs_status fit_frame(const matrices_fit *fit, size_t frame, double *left) {
  const sbs_fit_desc *desc = fit->desc;
  const size_t joints = desc->joint_count, numbers = 3 * desc->vertex_count;
  double *matrices = fit->matrices + frame * joints * 12;
  sbs_read_matrices(&desc->poses, frame * joints, joints, matrices);
  memcpy(left, desc->posed + frame * numbers, numbers * sizeof *left);
  for (size_t j = 0; j < joints; j++) {
    for (size_t i = fit->groups[j].begin; i < fit->groups[j].end; i++) {
      double *off = left + 3 * fit->followers[i].vertex, to[3];
      apply(matrices + 12 * j, desc->rest_positions + 3 * fit->followers[i].vertex, to);
      for (int k = 0; k < 3; k++) off[k] -= fit->followers[i].weight * to[k];
    }
  }
  double error = sum_of_squares(left, numbers);
  for (size_t sweep = 0; sweep < fit->options->sweeps; sweep++) {
    for (size_t j = 0; j < joints; j++) {
      if ((fit->fixed && fit->fixed[j]) || fit->groups[j].squares == 0.0) continue;
      const sbs_status status = fit_joint(fit, fit->groups + j, matrices + 12 * j, left);
      if (status) return status;
    }
    const double before = error;
    error = sum_of_squares(left, numbers);
    if (before - error <= ENOUGH * before) break;
  }
  fit->errors[frame] = sqrt(error / (double)desc->vertex_count);
  return SBS_OK;
}

static sbs_status fit_frames(void *context, sbs_share frames, int worker) {
  const matrices_fit *fit = context;
  double *left = fit->work + (size_t)worker * 3 * fit->desc->vertex_count;
  sbs_status status = SBS_OK;
  for (size_t f = frames.begin; f < frames.end && !status; f++) status = fit_frame(fit, f, left);
  return status;
}

/* Fills groups and the followers of each, by vertices. */
static void find_groups(const sbs_fit_desc *desc, size_t width, const int32_t *indices, const double *weights,
                        group *groups, follower *followers) {
  const size_t all = desc->vertex_count * width;
  memset(groups, 0, desc->joint_count * sizeof *groups);
  for (size_t i = 0; i < all; i++) groups[indices[i]].end += sbs_usable_weight(weights[i]) > 0.0;
  for (size_t j = 0, at = 0; j < desc->joint_count; j++) {
    groups[j].begin = at;
    at += groups[j].end;
    groups[j].end = groups[j].begin;
  }
  for (size_t i = 0; i < all; i++) {
    if (sbs_usable_weight(weights[i]) > 0.0) followers[groups[indices[i]].end++] = (follower){i / width, weights[i]};
  }
  double square_of_size = 0.0;
  for (size_t k = 0; k < 3; k++) {
    double low = desc->rest_positions[k], high = low;
    for (size_t v = 1; v < desc->vertex_count; v++) {
      low = fmin(low, desc->rest_positions[3 * v + k]);
      high = fmax(high, desc->rest_positions[3 * v + k]);
    }
    /* a mesh of one vertex has the size of its coordinates */
    const double size = fmax(high - low, 1e-3 * fmax(fabs(low), fabs(high)));
    square_of_size += size * size;
  }
  for (group *g = groups; g < groups + desc->joint_count; g++) {
    for (size_t i = g->begin; i < g->end; i++) {
      const double square = followers[i].weight * followers[i].weight;
      g->squares += square;
      for (size_t k = 0; k < 3; k++) g->mean[k] += square * desc->rest_positions[3 * followers[i].vertex + k];
    }
    for (int k = 0; k < 3 && g->squares > 0.0; k++) g->mean[k] /= g->squares;
    g->spread = LEAST_SPREAD * g->squares * square_of_size;
    for (size_t i = g->begin; i < g->end; i++) {
      for (size_t k = 0; k < 3; k++) {
        const double away = followers[i].weight * (desc->rest_positions[3 * followers[i].vertex + k] - g->mean[k]);
        g->spread += away * away;
      }
    }
  }
}

sbs_status sbs_fit_matrices(const sbs_fit_desc *desc, size_t influences, const int32_t *joint_indices,
                            const double *joint_weights, const unsigned char *fixed,
                            const sbs_fit_matrices_options *given, double *matrices, double *errors, sbs_fault *fault) {
  if (!matrices) return sbs_fault_in(fault, SBS_ERROR_NULL, "matrices");
  sbs_fit_matrices_options options = given ? *given : sbs_default_fit_matrices_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (!status && options.threads < 0) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options.threads, 0.0);
  }
  if (!status) status = sbs_check_fit(desc, fault);
  if (!status && sbs_twist_with_bones(desc->twist)) status = sbs_fault_in(fault, SBS_ERROR_OPTION, "twist");
  if (!status) status = sbs_check_fit_influences(desc, influences, joint_indices, joint_weights, fault);
  if (status) return status;

  const size_t vertices = desc->vertex_count;
  const double products = (double)vertices * (double)influences * (double)(options.sweeps + 1);
  const int threads = sbs_choose_threads(options.threads, 20.0 * products * (double)desc->frame_count);
  sbs_arena arena = sbs_arena_from(&options.allocator);
  group *groups = sbs_arena_take(&arena, desc->joint_count, sizeof *groups);
  follower *followers = sbs_arena_take(&arena, vertices * influences, sizeof *followers);
  matrices_fit fit = {.desc = desc,
                      .options = &options,
                      .fixed = fixed,
                      .followers = followers,
                      .groups = groups,
                      .work = sbs_arena_take(&arena, (size_t)threads, 3 * vertices * sizeof *fit.work),
                      .matrices = sbs_arena_take(&arena, desc->frame_count * desc->joint_count, 12 * sizeof *matrices),
                      .errors = sbs_arena_take(&arena, desc->frame_count, sizeof *errors)};
  if (arena.failed) {
    status = SBS_ERROR_OUT_OF_MEMORY;
  } else {
    find_groups(desc, influences, joint_indices, joint_weights, groups, followers);
    status = sbs_share_work(threads, desc->frame_count, 1, fit_frames, &fit);
  }
  if (!status) {
    memcpy(matrices, fit.matrices, desc->frame_count * desc->joint_count * 12 * sizeof *matrices);
    if (errors) memcpy(errors, fit.errors, desc->frame_count * sizeof *errors);
  }
  sbs_arena_release(&arena);
  return sbs_end_fit(status, fault);
}
