/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "mesh/validate.h"
#include "sbs/centers.h"
#include "skin/validate.h"
#include "solve/similarity.h"
#include "twist/twist.h"

sbs_centers_options sbs_default_centers_options(void) {
  return (sbs_centers_options){
      .sigma = 0.1, .refinement = 0.1, .tolerance = 1e-2, .allocator = sbs_default_allocator()};
}

/* -------------------------------------------------------------------------------------------------------- checks -- */

/* NaN fails too. */
static sbs_status check_options(const sbs_centers_options *options, sbs_fault *fault) {
  const double sigma = options->sigma, refinement = options->refinement, tolerance = options->tolerance;
  if (!(sigma >= 1e-6 && isfinite(sigma))) return sbs_fault_number(fault, SBS_ERROR_OPTION, "sigma", sigma, 1e-6);
  if (!(refinement >= 0.01)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "refinement", refinement, 0.01);
  if (!(tolerance >= 0.0 && isfinite(tolerance))) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "tolerance", tolerance, 0.0);
  }
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

static sbs_status check_triangles(const sbs_skin_desc *desc, size_t triangle_count, const int32_t *triangles,
                                  sbs_fault *fault) {
  const sbs_mesh_desc mesh = {
      .vertex_count = desc->vertex_count, .triangle_count = triangle_count, .triangles = triangles};
  if (!triangle_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "triangles");
  if (triangle_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "triangle_count", (double)triangle_count, INT32_MAX);
  }
  return sbs_mesh_validate_triangles(&mesh, fault);
}

/* Checks positions, influences and twist; the rest of the description is ignored. */
static sbs_status check_skin(const sbs_skin_desc *desc, const sbs_allocator *allocator, sbs_fault *fault) {
  sbs_skin_options options = sbs_default_skin_options();
  sbs_skin_desc looked_at = *desc;
  options.allocator = *allocator;
  looked_at.rest_normals = NULL;
  looked_at.parents = NULL;
  looked_at.joint_positions = NULL;
  looked_at.centers = NULL;
  return sbs_validate_desc(&looked_at, &options, fault);
}

/* ------------------------------------------------------------------------------------------------------ the work -- */

/* How far the whole is after each part of the work, roughly. */
static const double counted = 0.1, filled = 0.2;

enum {
  CHUNK = 16,          /* vertices per chunk of work; pairs are done one at a time */
  TRIANGLE_TIME = 500, /* nanoseconds to sample a triangle, about */
  BLOCK_TIME = 16      /* nanoseconds for a vertex and a block of samples, about */
};

typedef struct centers_job {
  const sbs_skin_desc *desc;
  const sbs_centers_options *options;
  int threads;     /* that take samples */
  sbs_arena arena; /* of all that is found */

  sbs_rows rows;
  sbs_pairs pairs;
  sbs_patches patches;
  sbs_sampling sampling;
  double (*centers)[3]; /* (vertices) in the units of the patches; NaN: none */

  /* The part of the work that is being done. */
  size_t item_count;
  void (*do_item)(struct centers_job *job, size_t item, int worker);
  double begin, end; /* as shares of the whole */
  atomic_size_t done;
} centers_job;

static sbs_status tell_progress(const centers_job *job, double fraction) {
  const sbs_centers_options *options = job->options;
  if (!options->progress || !options->progress(fraction, options->progress_user)) return SBS_OK;
  return SBS_ERROR_CANCELLED;
}

static sbs_status do_items(void *context, sbs_share items, int worker) {
  centers_job *job = context;
  if (worker == 0) {
    const double done = (double)atomic_load(&job->done) / (double)job->item_count;
    const sbs_status status = tell_progress(job, job->begin + (job->end - job->begin) * done);
    if (status) return status;
  }
  for (size_t i = items.begin; i < items.end; i++) job->do_item(job, i, worker);
  atomic_fetch_add(&job->done, items.end - items.begin);
  return atomic_load(&job->sampling.given_up) ? SBS_ERROR_CANCELLED : SBS_OK;
}

static sbs_status do_all(centers_job *job, size_t item_count, size_t chunk, void (*do_item)(centers_job *, size_t, int),
                         double begin, double end, int threads) {
  job->item_count = item_count;
  job->do_item = do_item;
  job->begin = begin;
  job->end = end;
  atomic_store(&job->done, 0);
  const sbs_status status = tell_progress(job, begin); /* now, for it may be long until this thread does so again */
  return status ? status : sbs_share_work(threads, item_count, chunk, do_items, job);
}

static void count_samples(centers_job *job, size_t pair, int worker) {
  sbs_sampling_count(&job->sampling, pair, worker);
}

static void fill_samples(centers_job *job, size_t pair, int worker) {
  sbs_sampling_fill(&job->sampling, pair, worker);
}

static void find_center(centers_job *job, size_t vertex, int worker) {
  double *center = job->centers[vertex];
  (void)worker;
  if (!sbs_find_center(&job->sampling, vertex, job->options->sigma, center)) center[0] = NAN;
}

static int threads_for_vertices(const centers_job *job) {
  double time = 0.0;
  for (size_t v = 0; v < job->desc->vertex_count; v++) {
    time += BLOCK_TIME * (double)sbs_count_blocks(&job->sampling, v);
  }
  return sbs_choose_threads(job->options->threads, time);
}

static sbs_status prepare(centers_job *job, size_t triangle_count, const int32_t *triangles) {
  const sbs_centers_options *options = job->options;
  sbs_status status = sbs_rows_new(&job->rows, job->desc, &job->arena);
  const sbs_twist *twist = sbs_twist_with_bones(job->desc->twist);
  const size_t joint_count = twist ? sbs_twist_joint_count(twist) : job->desc->joint_count;
  if (!status) status = sbs_pairs_new(&job->pairs, &job->rows, joint_count, &job->arena);
  if (status) return status;
  status = sbs_patches_new(&job->patches, job->desc, &job->rows, &job->pairs, triangle_count, triangles,
                           options->refinement, &job->arena);
  if (status) return status;
  job->centers = sbs_arena_take(&job->arena, job->desc->vertex_count, sizeof *job->centers);
  return job->arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
}

static sbs_status take_samples(centers_job *job) {
  const size_t pair_count = job->pairs.table.count;
  const double cell = job->options->sigma * sqrt(job->options->tolerance);
  sbs_status status =
      sbs_sampling_new(&job->sampling, &job->patches, &job->pairs, &job->rows, cell, job->threads, &job->arena);
  if (!status) status = do_all(job, pair_count, 1, count_samples, 0.0, counted, job->threads);
  if (!status) status = sbs_sampling_make_room(&job->sampling, &job->arena);
  if (!status) status = do_all(job, pair_count, 1, fill_samples, counted, filled, job->threads);
  return status;
}

static void write_centers(const centers_job *job, double *centers, sbs_centers_report *report) {
  const sbs_skin_desc *desc = job->desc;
  const size_t packed = 3 * sbs_scalar_size(desc->scalar);
  const size_t stride = desc->rest_positions_stride ? desc->rest_positions_stride : packed;
  for (size_t v = 0; v < desc->vertex_count; v++) {
    const int is_rigid = sbs_rows_count(&job->rows, v) < 2;
    const double *center = job->centers[v];
    const int has_none = is_rigid || isnan(center[0]);
    report->rigid += (size_t)is_rigid;
    report->dissimilar += (size_t)(has_none && !is_rigid);
    for (size_t axis = 0; axis < 3; axis++) {
      const void *position = (const char *)desc->rest_positions + v * stride;
      centers[3 * v + axis] = has_none ? sbs_scalar_get(position, desc->scalar, axis)
                                       : center[axis] / job->patches.scale + job->patches.middle[axis];
    }
  }
  for (size_t pair = 0; pair < job->pairs.table.count; pair++) report->samples += job->sampling.counts[pair];
}

sbs_status sbs_centers_optimized(const sbs_skin_desc *desc, size_t triangle_count, const int32_t *triangles,
                                 const sbs_centers_options *options, double *centers, sbs_centers_report *report,
                                 sbs_fault *fault) {
  const sbs_centers_options defaults = sbs_default_centers_options();
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!centers) return sbs_fault_in(fault, SBS_ERROR_NULL, "centers");
  if (!options) options = &defaults;
  sbs_status status = check_options(options, fault);
  if (!status) status = check_skin(desc, &options->allocator, fault);
  if (!status) status = check_triangles(desc, triangle_count, triangles, fault);
  if (status) return status;

  const int threads = sbs_choose_threads(options->threads, TRIANGLE_TIME * (double)triangle_count);
  centers_job job = {
      .desc = desc, .options = options, .threads = threads, .arena = sbs_arena_from(&options->allocator)};
  sbs_centers_report counts = {0};
  status = prepare(&job, triangle_count, triangles);
  if (!status) status = take_samples(&job);
  if (!status) status = do_all(&job, desc->vertex_count, CHUNK, find_center, filled, 1.0, threads_for_vertices(&job));
  if (!status) status = tell_progress(&job, 1.0);
  if (!status) {
    write_centers(&job, centers, &counts);
    if (report) *report = counts;
  } else {
    sbs_fault_in(fault, status, NULL);
  }
  sbs_arena_release(&job.arena);
  return status;
}
