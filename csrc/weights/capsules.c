/* SPDX-License-Identifier: MIT */
#include "sbs/capsules.h"

#include <float.h>
#include <math.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "weights/row.h"

enum {
  CHUNK = 256,   /* points that a thread takes at once */
  PAIR_TIME = 10 /* nanoseconds for a pair of a point and a capsule, about */
};

/*
 * An enabled capsule. Everything is scaled by a power of two so that no number is above 1, no square overflows, and
 * none underflows where it would matter.
 */
typedef struct capsule {
  double head[3];
  double axis[3];        /* tail - head */
  double inverse_square; /* 1 / |axis|^2, or 0 for a sphere */
  double inner, outer;   /* radii at the head */
  double inner_rise;     /* radius at the tail - radius at the head */
  double outer_rise;
  double multiplier; /* as a share of the largest */
  double reach;      /* the largest coordinate of head and tail */
  sbs_capsules_falloff falloff;
  int32_t joint;
} capsule;

/* The memory of a thread, and its counts. */
typedef struct weigher {
  sbs_row row;          /* of the present point: m f of the joints, then their weights */
  double *distances;    /* d of each joint of the row, 0 on the segment, until it is sorted */
  size_t outside;       /* points outside of all outer capsules */
  size_t first_outside; /* SIZE_MAX: none */
  size_t max_influences;
} weigher;

/* The arguments and the memory of a call. */
typedef struct capsule_job {
  const sbs_capsules_points *points;
  const sbs_capsules_options *options;
  int32_t *joint_indices; /* NULL: dense */
  void *joint_weights;    /* NULL: influences are only counted */
  size_t columns;         /* of a row of weights */
  size_t limit;           /* the most joints of a point, the heaviest are kept */
  size_t stride;          /* bytes from point to point */
  double scale;           /* from the caller's units to units of the capsules */
  double tolerance;       /* 4 eps of the points' type */
  capsule *capsules;      /* the enabled ones */
  size_t capsule_count;
  weigher *weighers; /* (threads) */
} capsule_job;

sbs_capsules_options sbs_default_capsules_options(void) {
  return (sbs_capsules_options){.falloff = SBS_CAPSULES_FALLOFF_LINEAR,
                                .outside = SBS_CAPSULES_OUTSIDE_NEAREST,
                                .allocator = sbs_default_allocator()};
}

/* -------------------------------------------------------------------------------------------------------- checks -- */

static int is_falloff(int falloff) {
  return falloff >= SBS_CAPSULES_FALLOFF_LINEAR && falloff <= SBS_CAPSULES_FALLOFF_QUADRATIC;
}

static sbs_status check_radii(const double *inner, const double *outer, size_t count, sbs_fault *fault) {
  const char *names[2] = {"inner_radii", "outer_radii"};
  for (size_t i = 0; i < 2 * count; i++) {
    const double radii[2] = {inner[i], outer[i]};
    for (int k = 0; k < 2; k++) {
      const sbs_status status = !isfinite(radii[k]) ? SBS_ERROR_NOT_FINITE : SBS_ERROR_NEGATIVE;
      if (!(radii[k] >= 0.0 && isfinite(radii[k]))) {
        return sbs_fault_at(fault, status, names[k], i / 2, i % 2, radii[k], 0.0);
      }
    }
    if (radii[0] > radii[1]) {
      return sbs_fault_at(fault, SBS_ERROR_RADIUS, names[0], i / 2, i % 2, radii[0], radii[1]);
    }
  }
  return SBS_OK;
}

static sbs_status check_multipliers(const double *multipliers, size_t count, sbs_fault *fault) {
  for (size_t j = 0; j < count; j++) {
    if (!isfinite(multipliers[j])) {
      return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "multipliers", j, multipliers[j], 0.0);
    }
    if (multipliers[j] < 0.0) return sbs_fault_row(fault, SBS_ERROR_NEGATIVE, "multipliers", j, multipliers[j], 0.0);
  }
  return SBS_OK;
}

static sbs_status check_falloffs(const int32_t *falloffs, size_t count, sbs_fault *fault) {
  for (size_t j = 0; j < count; j++) {
    if (falloffs[j] != -1 && !is_falloff(falloffs[j])) {
      return sbs_fault_row(fault, SBS_ERROR_OPTION, "falloffs", j, (double)falloffs[j], 0.0);
    }
  }
  return SBS_OK;
}

sbs_status sbs_capsules_check(const sbs_capsules *capsules, sbs_fault *fault) {
  if (!capsules) return sbs_fault_in(fault, SBS_ERROR_NULL, "capsules");
  if (!capsules->heads) return sbs_fault_in(fault, SBS_ERROR_NULL, "heads");
  if (!capsules->tails) return sbs_fault_in(fault, SBS_ERROR_NULL, "tails");
  if (!capsules->inner_radii) return sbs_fault_in(fault, SBS_ERROR_NULL, "inner_radii");
  if (!capsules->outer_radii) return sbs_fault_in(fault, SBS_ERROR_NULL, "outer_radii");
  const size_t count = capsules->capsule_count;
  if (!count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "capsule_count");
  if (count > INT32_MAX) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "capsule_count", (double)count, (double)INT32_MAX);
  }
  sbs_status status = sbs_validate_vectors(capsules->heads, 0, SBS_FLOAT64, count, "heads", "heads", fault);
  if (status) return status;
  status = sbs_validate_vectors(capsules->tails, 0, SBS_FLOAT64, count, "tails", "tails", fault);
  if (status) return status;
  status = check_radii(capsules->inner_radii, capsules->outer_radii, count, fault);
  if (status) return status;
  if (capsules->multipliers) status = check_multipliers(capsules->multipliers, count, fault);
  if (!status && capsules->falloffs) status = check_falloffs(capsules->falloffs, count, fault);
  return status;
}

static sbs_status check_options(const sbs_capsules_options *options, sbs_fault *fault) {
  if (!options->allocator.allocate) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.allocate");
  if (!options->allocator.release) return sbs_fault_in(fault, SBS_ERROR_NULL, "allocator.release");
  if (!is_falloff((int)options->falloff)) {
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

/* --------------------------------------------------------------------------------------------------- preparation -- */

/* The coordinates of a point, times `scale`. */
static void load_point(const capsule_job *job, size_t i, double scale, double point[3]) {
  const void *numbers = (const char *)job->points->points + i * job->stride;
  for (size_t axis = 0; axis < 3; axis++) point[axis] = scale * sbs_scalar_get(numbers, job->points->scalar, axis);
}

static int is_enabled(const sbs_capsules *capsules, size_t j) {
  return (!capsules->enabled || capsules->enabled[j]) && (!capsules->multipliers || capsules->multipliers[j] > 0.0);
}

static double find_largest(const double *numbers, size_t count, double largest) {
  for (size_t i = 0; i < count; i++) largest = fabs(numbers[i]) > largest ? fabs(numbers[i]) : largest;
  return largest;
}

/* The power of two that makes every coordinate and radius at most 1. */
static double find_scale(const sbs_capsules *capsules, const capsule_job *job) {
  const size_t count = capsules->capsule_count;
  double largest = find_largest(capsules->heads, 3 * count, 0.0);
  largest = find_largest(capsules->tails, 3 * count, largest);
  largest = find_largest(capsules->outer_radii, 2 * count, largest);
  for (size_t i = 0; i < job->points->point_count; i++) {
    double point[3];
    load_point(job, i, 1.0, point);
    largest = find_largest(point, 3, largest);
  }
  int exponent;
  frexp(largest, &exponent);
  return ldexp(1.0, exponent > -1000 ? -exponent : 1000);
}

static capsule prepare_capsule(const sbs_capsules *capsules, size_t j, double scale, sbs_capsules_falloff falloff) {
  const double *inner = capsules->inner_radii + 2 * j, *outer = capsules->outer_radii + 2 * j;
  capsule made = {
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
    made.head[axis] = head;
    made.axis[axis] = tail - head;
    made.reach = fmax(made.reach, fmax(fabs(head), fabs(tail)));
    square += made.axis[axis] * made.axis[axis];
  }
  made.inverse_square = square > DBL_MIN ? 1.0 / square : 0.0;
  return made;
}

static void prepare_capsules(capsule_job *job, const sbs_capsules *capsules) {
  double largest = 0.0;
  job->scale = find_scale(capsules, job);
  job->capsule_count = 0;
  for (size_t j = 0; j < capsules->capsule_count; j++) {
    if (!is_enabled(capsules, j)) continue;
    const capsule made = prepare_capsule(capsules, j, job->scale, job->options->falloff);
    largest = fmax(largest, made.multiplier);
    job->capsules[job->capsule_count++] = made;
  }
  for (size_t c = 0; c < job->capsule_count; c++) job->capsules[c].multiplier /= largest;
}

/* ------------------------------------------------------------------------------------------------------- weights -- */

/* The distance d of a point to the segment of a capsule; receives where the nearest point is, from 0 (head) to 1. */
static double measure(const capsule *to, const double point[3], double *place) {
  const double px = point[0] - to->head[0], py = point[1] - to->head[1], pz = point[2] - to->head[2];
  double u = (px * to->axis[0] + py * to->axis[1] + pz * to->axis[2]) * to->inverse_square;
  u = u > 0.0 ? u : 0.0;
  u = u < 1.0 ? u : 1.0;
  const double dx = px - u * to->axis[0], dy = py - u * to->axis[1], dz = pz - u * to->axis[2];
  *place = u;
  return sqrt(dx * dx + dy * dy + dz * dz);
}

/* f at x = (d - r_inner) / (r_outer - r_inner) in [0, 1]. */
static double fall_off(sbs_capsules_falloff falloff, double x) {
  switch (falloff) {
    case SBS_CAPSULES_FALLOFF_SMOOTH: return (1.0 - x) * (1.0 - x) * (1.0 + 2.0 * x);
    case SBS_CAPSULES_FALLOFF_QUADRATIC: return (1.0 - x) * (1.0 - x);
    default: return 1.0 - x;
  }
}

/* Finds the capsules that a point is in, with m f and d. */
static void find_capsules(const capsule_job *job, const double point[3], weigher *at) {
  const double reach = find_largest(point, 3, 0.0);
  sbs_row *row = &at->row;
  row->count = 0;
  for (size_t c = 0; c < job->capsule_count; c++) {
    const capsule *in = job->capsules + c;
    double place;
    const double distance = measure(in, point, &place), r_outer = in->outer + place * in->outer_rise;
    const double r_inner = in->inner + place * in->inner_rise;
    double value = in->multiplier;
    if (distance > r_inner) {
      if (distance >= r_outer) continue;
      value *= fall_off(in->falloff, (distance - r_inner) / (r_outer - r_inner));
    }
    if (!(value > 0.0)) continue;
    const int on_axis = distance <= job->tolerance * (reach > in->reach ? reach : in->reach);
    at->distances[row->count] = on_axis ? 0.0 : distance;
    row->joints[row->count] = in->joint;
    row->weights[row->count++] = value;
  }
}

/* The joint of smallest d - r_outer. */
static int32_t find_nearest(const capsule_job *job, const double point[3]) {
  double smallest = INFINITY;
  int32_t joint = 0;
  for (size_t c = 0; c < job->capsule_count; c++) {
    const capsule *to = job->capsules + c;
    double place;
    const double gap = measure(to, point, &place) - (to->outer + place * to->outer_rise);
    if (gap >= smallest) continue;
    smallest = gap;
    joint = to->joint;
  }
  return joint;
}

/*
 * Makes weights, w = f(d) / d before they are normalized: divides each m f by d, times the smallest d so that nothing
 * overflows, and sorts them. If the smallest d is 0, only joints with d = 0 keep a weight: 0, or too small for float32
 * beside the first, counts as none.
 */
static void divide_by_distance(weigher *at) {
  sbs_row *row = &at->row;
  double smallest = INFINITY;
  for (size_t i = 0; i < row->count; i++) smallest = fmin(smallest, at->distances[i]);
  for (size_t i = 0; i < row->count; i++) {
    if (at->distances[i] > smallest) row->weights[i] *= smallest / at->distances[i];
  }
  sbs_row_sort(row);
  const double least = row->count ? (double)FLT_MIN * row->weights[0] : 0.0;
  while (row->count && (row->weights[row->count - 1] == 0.0 || row->weights[row->count - 1] < least)) row->count--;
}

static void write_weights(const capsule_job *job, size_t vertex, sbs_row *row) {
  const sbs_scalar scalar = job->points->scalar;
  if (row->count > job->limit) row->count = job->limit;
  const double sum = sbs_row_sum(row);
  for (size_t k = 0; k < row->count; k++) row->weights[k] /= sum;
  if (job->joint_indices) {
    sbs_row_write(row, job->columns, scalar, vertex, job->joint_indices, job->joint_weights);
    return;
  }
  const size_t first = vertex * job->columns;
  for (size_t j = 0; j < job->columns; j++) sbs_scalar_put(job->joint_weights, scalar, first + j, 0.0);
  for (size_t k = 0; k < row->count; k++) {
    sbs_scalar_put(job->joint_weights, scalar, first + (size_t)row->joints[k], row->weights[k]);
  }
}

static sbs_status weigh_chunk(void *context, sbs_share points, int worker) {
  const capsule_job *job = context;
  weigher *at = job->weighers + worker;
  for (size_t i = points.begin; i < points.end; i++) {
    double point[3];
    load_point(job, i, job->scale, point);
    find_capsules(job, point, at);
    if (at->row.count) {
      divide_by_distance(at);
    } else {
      at->outside++;
      if (i < at->first_outside) at->first_outside = i;
      if (job->options->outside == SBS_CAPSULES_OUTSIDE_NEAREST) {
        at->row.joints[0] = find_nearest(job, point);
        at->row.weights[0] = 1.0;
        at->row.count = 1;
      }
    }
    if (at->row.count > at->max_influences) at->max_influences = at->row.count;
    if (job->joint_weights) write_weights(job, i, &at->row);
  }
  return SBS_OK;
}

/* Finds weights of all points; a fault is the first point that must not be outside. */
static sbs_status weigh(capsule_job *job, int threads, sbs_capsules_report *report, sbs_fault *fault) {
  weigher total = {.first_outside = SIZE_MAX};
  const sbs_status status = sbs_share_work(threads, job->points->point_count, CHUNK, weigh_chunk, job);
  if (status) return sbs_fault_in(fault, status, NULL);
  for (int i = 0; i < threads; i++) {
    const weigher *counted = job->weighers + i;
    total.outside += counted->outside;
    if (counted->first_outside < total.first_outside) total.first_outside = counted->first_outside;
    if (counted->max_influences > total.max_influences) total.max_influences = counted->max_influences;
  }
  if (total.outside && job->options->outside == SBS_CAPSULES_OUTSIDE_ERROR) {
    return sbs_fault_row(fault, SBS_ERROR_UNWEIGHTED, "points", total.first_outside, (double)total.outside,
                         (double)job->points->point_count);
  }
  if (report) *report = (sbs_capsules_report){total.outside, total.max_influences};
  return SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- public -- */

static sbs_status weigh_points(capsule_job job, const sbs_capsules *capsules, sbs_capsules_report *report,
                               sbs_fault *fault) {
  const sbs_capsules_options defaults = sbs_default_capsules_options();
  const sbs_capsules_points *points = job.points;
  if (!job.options) job.options = &defaults;
  sbs_status status = check_options(job.options, fault);
  if (!status) status = sbs_capsules_check(capsules, fault);
  if (!status) status = check_points(points, fault);
  if (status) return status;
  const int is_dense = job.joint_weights && !job.joint_indices;
  if (is_dense) job.columns = capsules->capsule_count;
  if (!job.limit) job.limit = job.columns;
  const size_t most = SIZE_MAX / sizeof(double) / points->point_count;
  if (job.columns > most) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, is_dense ? "capsule_count" : "influences_per_vertex",
                            (double)job.columns, (double)most);
  }

  sbs_arena arena = sbs_arena_from(&job.options->allocator);
  job.stride = points->points_stride ? points->points_stride : 3 * sbs_scalar_size(points->scalar);
  job.tolerance = 4.0 * sbs_scalar_epsilon(points->scalar);
  job.capsules = sbs_arena_take(&arena, capsules->capsule_count, sizeof *job.capsules);
  if (job.capsules) prepare_capsules(&job, capsules);
  const double pairs = (double)points->point_count * (double)job.capsule_count;
  const int threads = sbs_choose_threads(job.options->threads, pairs * PAIR_TIME);
  job.weighers = sbs_arena_take(&arena, (size_t)threads, sizeof *job.weighers);
  for (int i = 0; i < threads && job.weighers; i++) {
    job.weighers[i] = (weigher){.row = sbs_row_new(&arena, job.capsule_count), .first_outside = SIZE_MAX};
    job.weighers[i].distances = sbs_arena_take(&arena, job.capsule_count, sizeof(double));
  }
  if (arena.failed) {
    status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  } else if (!job.capsule_count && job.options->outside == SBS_CAPSULES_OUTSIDE_NEAREST) {
    status = sbs_fault_in(fault, SBS_ERROR_EMPTY, "enabled");
  } else {
    status = weigh(&job, threads, report, fault);
  }
  sbs_arena_release(&arena);
  return status;
}

sbs_status sbs_capsules_weights(const sbs_capsules *capsules, const sbs_capsules_points *points,
                                const sbs_capsules_options *options, size_t influences_per_vertex,
                                int32_t *joint_indices, void *joint_weights, sbs_capsules_report *report,
                                sbs_fault *fault) {
  if (!joint_indices && joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (joint_indices && !joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (joint_weights && !influences_per_vertex) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "influences_per_vertex");
  const capsule_job job = {.points = points,
                           .options = options,
                           .joint_indices = joint_indices,
                           .joint_weights = joint_weights,
                           .columns = influences_per_vertex};
  return weigh_points(job, capsules, report, fault);
}

sbs_status sbs_capsules_weights_dense(const sbs_capsules *capsules, const sbs_capsules_points *points,
                                      const sbs_capsules_options *options, size_t limit, void *joint_weights,
                                      sbs_capsules_report *report, sbs_fault *fault) {
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  const capsule_job job = {.points = points, .options = options, .joint_weights = joint_weights, .limit = limit};
  return weigh_points(job, capsules, report, fault);
}
