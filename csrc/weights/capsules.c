/* SPDX-License-Identifier: MIT */
#include "weights/capsules.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "weights/capsule_cells.h"
#include "weights/capsule_falloff.h"

sbs_capsules_options sbs_default_capsules_options(void) {
  return (sbs_capsules_options){.falloff = SBS_CAPSULES_FALLOFF_LINEAR,
                                .outside = SBS_CAPSULES_OUTSIDE_NEAREST,
                                .allocator = sbs_default_allocator()};
}

/* Where weights go. */
typedef struct destination {
  int32_t *joint_indices; /* NULL: dense */
  void *joint_weights;    /* NULL: weights are only counted */
  sbs_scalar scalar;
  size_t columns; /* of a row */
  size_t limit;   /* the most joints, the heaviest are kept */
} destination;

/* What a thread has counted. */
typedef struct tally {
  size_t outside;
  size_t first_outside; /* SIZE_MAX: none */
  size_t max_influences;
} tally;

/* The work of one call. */
typedef struct capsule_job {
  const sbs_capsules_points *points;
  const sbs_capsules_options *options;
  destination out;
  double scale;          /* from the caller's units to those of the capsules */
  sbs_capsule *capsules; /* those that are enabled */
  size_t capsule_count;
  int32_t *order; /* (point_count) the points in the order in which they are put in blocks */
  int threads;

  /* For each thread. */
  tally *tallies;
  double *lowest_gaps;   /* (threads, capsule_count) */
  sbs_capsule_hit *hits; /* (threads, SBS_CAPSULE_BLOCK, capsule_count) */
} capsule_job;

/* -------------------------------------------------------------------------------------------------------- checks -- */

static sbs_status check_options(const sbs_capsules_options *options, sbs_fault *fault) {
  if (!options->allocator.allocate) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.allocate");
  if (!options->allocator.release) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.release");
  if (!sbs_falloff_is_valid(options->falloff)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "falloff", (double)options->falloff,
                            SBS_CAPSULES_FALLOFF_QUADRATIC);
  }
  if ((int)options->outside < SBS_CAPSULES_OUTSIDE_NEAREST || options->outside > SBS_CAPSULES_OUTSIDE_ERROR) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "outside", (double)options->outside, SBS_CAPSULES_OUTSIDE_ERROR);
  }
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

static sbs_status check_points(const sbs_capsules_points *points, sbs_fault *fault) {
  if (!points) return sbs_fault_in(fault, SBS_ERROR_NULL, "points");
  if (!sbs_scalar_is_valid(points->scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)points->scalar, 0.0);
  }
  if (!points->point_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "point_count");
  if (points->point_count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "point_count", (double)points->point_count, (double)INT32_MAX);
  }
  if (!points->points) return sbs_fault_in(fault, SBS_ERROR_NULL, "points");
  return sbs_validate_vectors(points->points, points->points_stride, points->scalar, points->point_count, "points",
                              "points_stride", fault);
}

static sbs_status check_columns(const sbs_capsules_points *points, size_t columns, const char *name, sbs_fault *fault) {
  const size_t most = SIZE_MAX / sizeof(double) / points->point_count;
  if (columns <= most) return SBS_OK;
  return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, name, (double)columns, (double)most);
}

/* --------------------------------------------------------------------------------------------------- preparation -- */

static int is_enabled(const sbs_capsules *capsules, size_t j) {
  return (!capsules->enabled || capsules->enabled[j]) && (!capsules->multipliers || capsules->multipliers[j] > 0.0);
}

static double largest_magnitude(const double *numbers, size_t count, double largest) {
  for (size_t i = 0; i < count; i++) largest = fabs(numbers[i]) > largest ? fabs(numbers[i]) : largest;
  return largest;
}

/* The power of two that makes every coordinate and radius at most 1. */
static double find_scale(const sbs_capsules *capsules, const sbs_capsules_points *points) {
  const size_t count = capsules->capsule_count;
  double largest = largest_magnitude(capsules->heads, 3 * count, 0.0);
  largest = largest_magnitude(capsules->tails, 3 * count, largest);
  largest = largest_magnitude(capsules->outer_radii, 2 * count, largest);
  for (size_t i = 0; i < points->point_count; i++) {
    double point[3];
    sbs_load_point(points, i, 1.0, point);
    largest = largest_magnitude(point, 3, largest);
  }
  int exponent;
  frexp(largest, &exponent);
  return ldexp(1.0, exponent > -1000 ? -exponent : 1000);
}

static sbs_capsule prepare_capsule(const sbs_capsules *capsules, size_t j, double scale, sbs_capsules_falloff falloff) {
  const double *inner = capsules->inner_radii + 2 * j, *outer = capsules->outer_radii + 2 * j;
  sbs_capsule capsule = {
      .inner = scale * inner[0],
      .outer = scale * outer[0],
      .inner_rise = scale * inner[1] - scale * inner[0],
      .outer_rise = scale * outer[1] - scale * outer[0],
      .multiplier = capsules->multipliers ? capsules->multipliers[j] : 1.0,
      .falloff =
          capsules->falloffs && capsules->falloffs[j] >= 0 ? (sbs_capsules_falloff)capsules->falloffs[j] : falloff,
      .joint = (int32_t)j,
  };
  double square = 0.0;
  for (int axis = 0; axis < 3; axis++) {
    const double head = scale * capsules->heads[3 * j + (size_t)axis];
    const double tail = scale * capsules->tails[3 * j + (size_t)axis];
    capsule.head[axis] = head;
    capsule.axis[axis] = tail - head;
    capsule.reach = fmax(capsule.reach, fmax(fabs(head), fabs(tail)));
    square += capsule.axis[axis] * capsule.axis[axis];
  }
  capsule.inverse_square = square > DBL_MIN ? 1.0 / square : 0.0;
  capsule.smallest_outer = fmin(capsule.outer, capsule.outer + capsule.outer_rise);
  capsule.largest_outer = fmax(capsule.outer, capsule.outer + capsule.outer_rise);
  return capsule;
}

static void prepare_capsules(capsule_job *job, const sbs_capsules *capsules) {
  double largest = 0.0;
  job->scale = find_scale(capsules, job->points);
  job->capsule_count = 0;
  for (size_t j = 0; j < capsules->capsule_count; j++) {
    if (!is_enabled(capsules, j)) continue;
    const sbs_capsule capsule = prepare_capsule(capsules, j, job->scale, job->options->falloff);
    largest = fmax(largest, capsule.multiplier);
    job->capsules[job->capsule_count++] = capsule;
  }
  for (size_t c = 0; c < job->capsule_count; c++) job->capsules[c].multiplier /= largest;
}

/* ------------------------------------------------------------------------------------------------------- writing -- */

static void put_number(void *numbers, sbs_scalar scalar, size_t index, double value) {
  if (scalar == SBS_FLOAT32) {
    ((float *)numbers)[index] = (float)value;
  } else {
    ((double *)numbers)[index] = value;
  }
}

static void write_weights(const destination *out, size_t vertex, const sbs_capsule_hit *hits, size_t count) {
  const size_t first = vertex * out->columns, size = sbs_scalar_size(out->scalar);
  double sum = 0.0;
  for (size_t k = 0; k < count; k++) sum += hits[k].value;
  memset((char *)out->joint_weights + first * size, 0, out->columns * size);
  if (out->joint_indices) memset(out->joint_indices + first, 0, out->columns * sizeof *out->joint_indices);
  for (size_t k = 0; k < count; k++) {
    if (out->joint_indices) out->joint_indices[first + k] = hits[k].joint;
    put_number(out->joint_weights, out->scalar, first + (out->joint_indices ? k : (size_t)hits[k].joint),
               hits[k].value / sum);
  }
}

/* What a thread works on. */
typedef struct capsule_worker {
  const capsule_job *job;
  tally counted;
  const int32_t *vertices; /* of the block */
} capsule_worker;

static void take_weights(void *context, const sbs_capsule_row *weights) {
  capsule_worker *worker = context;
  const destination *out = &worker->job->out;
  tally *counted = &worker->counted;
  const size_t vertex = (size_t)worker->vertices[weights->vertex], count = weights->hit_count;
  if (weights->outside) {
    counted->outside++;
    if (vertex < counted->first_outside) counted->first_outside = vertex;
  }
  if (count > counted->max_influences) counted->max_influences = count;
  if (out->joint_weights) write_weights(out, vertex, weights->hits, count < out->limit ? count : out->limit);
}

/* ------------------------------------------------------------------------------------------------------ the work -- */

/* Loads a block. `vertices` has the numbers of its points and of all that follow. */
static void load_block(const capsule_job *job, const int32_t *vertices, size_t count, sbs_capsule_block *block) {
  block->point_count = count < SBS_CAPSULE_BLOCK ? count : SBS_CAPSULE_BLOCK;
  for (size_t i = 0; i < SBS_CAPSULE_BLOCK; i++) {
    double point[3];
    sbs_load_point(job->points, (size_t)vertices[i < block->point_count ? i : 0], job->scale, point);
    for (int axis = 0; axis < 3; axis++) block->points[axis][i] = point[axis];
    block->reaches[i] = largest_magnitude(point, 3, 0.0);
  }
}

enum {
  BLOCKS_AT_ONCE = 8
};

static size_t count_blocks(const capsule_job *job) {
  return (job->points->point_count - 1) / SBS_CAPSULE_BLOCK + 1;
}

static sbs_status weigh_blocks(void *context, sbs_share blocks, int number) {
  const capsule_job *job = context;
  const size_t scratch = (size_t)number * job->capsule_count;
  capsule_worker worker = {.job = job, .counted = job->tallies[number]};
  sbs_capsule_block block = {
      .capsules = job->capsules,
      .capsule_count = job->capsule_count,
      .outside = job->options->outside,
      .tolerance = 4.0 * sbs_scalar_epsilon(job->points->scalar),
      .lowest_gaps = job->lowest_gaps + scratch,
      .hits = job->hits + SBS_CAPSULE_BLOCK * scratch,
  };
  for (size_t i = blocks.begin; i < blocks.end; i++) {
    const size_t first = i * SBS_CAPSULE_BLOCK;
    worker.vertices = job->order + first;
    load_block(job, worker.vertices, job->points->point_count - first, &block);
    sbs_weigh_capsule_block(&block, take_weights, &worker);
  }
  job->tallies[number] = worker.counted;
  return SBS_OK;
}

/* Nanoseconds for a point, and for a pair of a point and a capsule, about. */
enum {
  POINT_TIME = 50,
  PAIR_TIME = 1
};

static int choose_threads(const capsule_job *job) {
  const double time = (double)job->points->point_count * ((double)job->capsule_count * PAIR_TIME + POINT_TIME);
  return sbs_choose_threads(job->options->threads, time);
}

/* Finds weights of all points; a fault is that of a point that must not be outside. */
static sbs_status weigh(capsule_job *job, sbs_capsules_report *report, sbs_fault *fault) {
  tally total = {.first_outside = SIZE_MAX};
  for (int i = 0; i < job->threads; i++) job->tallies[i] = total;
  const sbs_status status = sbs_share_work(job->threads, count_blocks(job), BLOCKS_AT_ONCE, weigh_blocks, job);
  if (status) return sbs_fault_in(fault, status, NULL);
  for (int i = 0; i < job->threads; i++) {
    const tally *counted = job->tallies + i;
    total.outside += counted->outside;
    if (counted->first_outside < total.first_outside) total.first_outside = counted->first_outside;
    if (counted->max_influences > total.max_influences) total.max_influences = counted->max_influences;
  }
  if (total.outside && job->options->outside == SBS_CAPSULES_OUTSIDE_ERROR) {
    return sbs_fault_row(fault, SBS_ERROR_UNWEIGHTED, "points", total.first_outside, (double)total.outside,
                         (double)job->points->point_count);
  }
  *report = (sbs_capsules_report){total.outside, total.max_influences};
  return SBS_OK;
}

static sbs_status run(capsule_job *job, sbs_capsules_report *report, sbs_fault *fault) {
  if (job->options->outside == SBS_CAPSULES_OUTSIDE_ERROR && job->out.joint_weights) {
    capsule_job count_only = *job; /* to write nothing if there is an error */
    count_only.out = (destination){0};
    const sbs_status status = weigh(&count_only, report, fault);
    if (status) return status;
  }
  return weigh(job, report, fault);
}

/* -------------------------------------------------------------------------------------------------------- public -- */

/* Both public functions, with checked arguments. */
static sbs_status weigh_points(capsule_job *job, const sbs_capsules *capsules, sbs_capsules_report *report,
                               sbs_fault *fault) {
  const sbs_allocator *allocator = &job->options->allocator;
  sbs_capsules_report made;
  sbs_status status = SBS_ERROR_OUT_OF_MEMORY;
  job->capsules = sbs_allocate(allocator, capsules->capsule_count, sizeof *job->capsules);
  if (!job->capsules) return sbs_fault_in(fault, status, NULL);
  prepare_capsules(job, capsules);
  if (!job->capsule_count && job->options->outside == SBS_CAPSULES_OUTSIDE_NEAREST) {
    status = sbs_fault_in(fault, SBS_ERROR_EMPTY, "enabled");
    goto cleanup;
  }

  job->threads = choose_threads(job);
  const size_t rows = (size_t)job->threads;
  const size_t scratch = job->capsule_count <= SIZE_MAX / rows ? rows * job->capsule_count : SIZE_MAX;
  job->order = sbs_allocate(allocator, job->points->point_count, sizeof *job->order);
  job->tallies = sbs_allocate(allocator, rows, sizeof *job->tallies);
  job->lowest_gaps = sbs_allocate(allocator, scratch, sizeof *job->lowest_gaps);
  job->hits = sbs_allocate(allocator, scratch, SBS_CAPSULE_BLOCK * sizeof *job->hits);
  if (!job->order || !job->tallies || !job->lowest_gaps || !job->hits) {
    sbs_fault_in(fault, status, NULL);
    goto cleanup;
  }
  sbs_order_by_cells(job->points, job->scale, job->order);
  status = run(job, &made, fault);
  if (!status && report) *report = made;

cleanup:
  sbs_release(allocator, job->capsules);
  sbs_release(allocator, job->order);
  sbs_release(allocator, job->tallies);
  sbs_release(allocator, job->lowest_gaps);
  sbs_release(allocator, job->hits);
  return status;
}

/* The checks of both public functions. */
static sbs_status check_input(const sbs_capsules *capsules, const sbs_capsules_points *points,
                              const sbs_capsules_options *options, sbs_fault *fault) {
  sbs_status status = check_options(options, fault);
  if (!status) status = sbs_capsules_check(capsules, fault);
  if (!status) status = check_points(points, fault);
  return status;
}

sbs_status sbs_capsules_weights(const sbs_capsules *capsules, const sbs_capsules_points *points,
                                const sbs_capsules_options *options, size_t influences_per_vertex,
                                int32_t *joint_indices, void *joint_weights, sbs_capsules_report *report,
                                sbs_fault *fault) {
  const sbs_capsules_options defaults = sbs_default_capsules_options();
  if (!options) options = &defaults;
  sbs_status status = check_input(capsules, points, options, fault);
  if (status) return status;
  if (!joint_indices && joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (joint_indices && !joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (joint_weights && !influences_per_vertex) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "influences_per_vertex");
  status = check_columns(points, influences_per_vertex, "influences_per_vertex", fault);
  if (status) return status;

  capsule_job job = {
      .points = points,
      .options = options,
      .out = {joint_indices, joint_weights, points->scalar, influences_per_vertex, influences_per_vertex}};
  return weigh_points(&job, capsules, report, fault);
}

sbs_status sbs_capsules_weights_dense(const sbs_capsules *capsules, const sbs_capsules_points *points,
                                      const sbs_capsules_options *options, size_t limit, void *joint_weights,
                                      sbs_capsules_report *report, sbs_fault *fault) {
  const sbs_capsules_options defaults = sbs_default_capsules_options();
  if (!options) options = &defaults;
  sbs_status status = check_input(capsules, points, options, fault);
  if (status) return status;
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  status = check_columns(points, capsules->capsule_count, "capsule_count", fault);
  if (status) return status;

  capsule_job job = {
      .points = points,
      .options = options,
      .out = {NULL, joint_weights, points->scalar, capsules->capsule_count, limit ? limit : capsules->capsule_count}};
  return weigh_points(&job, capsules, report, fault);
}
