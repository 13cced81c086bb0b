/* SPDX-License-Identifier: MIT */
#include "sbs/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "fit/hull.h"
#include "fit/vertex.h"
#include "pose/batches.h"
#include "pose/check.h"

/* Joints with which other methods than the linear one begin, beyond those that are kept. */
#define MORE_CANDIDATES 4

/* How often joints are added to them that would lower the error. */
#define MORE_TURNS 4

/* Steps with them, before the heaviest are chosen. */
#define FIRST_STEPS 6

/* Vertices of a chunk, and about what a product of a vertex takes, in nanoseconds. */
enum {
  VERTICES_CHUNK = 8,
  PRODUCT_TIME = 1
};

sbs_fit_desc sbs_default_fit_desc(void) {
  return (sbs_fit_desc){0};
}

sbs_fit_options sbs_default_fit_options(void) {
  return (sbs_fit_options){.method = SBS_METHOD_SPHERICAL,
                           .center = SBS_CENTER_WEIGHTED,
                           .damping = 1e-8,
                           .influences = 4,
                           .iterations = 30,
                           .allocator = sbs_default_allocator()};
}

/* A call: shared by the threads that work on it. */
typedef struct fit {
  const sbs_fit_desc *desc;
  const sbs_fit_options *options;
  sbs_joint *joints; /* (F, J), as are the following two */
  unsigned char *kinds;
  sbs_stretch *stretches;
  int32_t *joint_indices;
  double *joint_weights, *errors;
  double *work; /* (threads, work_size) */
  size_t most;  /* joints that any step goes on with */
  size_t work_size;
} fit;

/* The memory of a thread. */
typedef struct workspace {
  double *points;                     /* (J, 3) from the example to where each joint takes the vertex, in a frame */
  double *gram;                       /* (J, J) */
  double *weights;                    /* (J) */
  double *hull;                       /* (sbs_hull_work_size(J)) */
  double *by;                         /* (J, 3) */
  double *squares;                    /* (most, most) products of derivatives, at the weights `now` */
  double *tried;                      /* (most, most) the same at `next` */
  double *small;                      /* (most, most) a gram matrix */
  double *now, *next;                 /* (most) weights */
  double *all_weights, *best_weights; /* (most) */
  int32_t *indices, *all_indices, *best_indices, *order, *chosen; /* (most) */
  int32_t *everyone;                                              /* (J) */
} workspace;

/* Joints of which some are to stay, with the weights that all of them have. */
typedef struct candidates {
  size_t count;
  const int32_t *indices;
  const double *weights;
} candidates;

/* The best that has been found of them. */
typedef struct choice {
  size_t count;
  int32_t *indices;
  double *weights;
  double error;
} choice;

static workspace lay_out(const fit *of, double *memory, size_t *size) {
  const size_t joints = of->desc->joint_count, most = of->most;
  double *at = memory;
  workspace made;
  made.points = at, at += 3 * joints;
  made.gram = at, at += joints * joints;
  made.weights = at, at += joints;
  made.hull = at, at += sbs_hull_work_size(joints);
  made.by = at, at += 3 * joints;
  made.squares = at, at += most * most;
  made.tried = at, at += most * most;
  made.small = at, at += most * most;
  made.now = at, at += most;
  made.next = at, at += most;
  made.all_weights = at, at += most;
  made.best_weights = at, at += most;
  int32_t **const integers[] = {&made.indices, &made.all_indices, &made.best_indices, &made.order, &made.chosen};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    *integers[i] = (int32_t *)(void *)at, at += (most + 1) / 2;
  }
  made.everyone = (int32_t *)(void *)at, at += (joints + 1) / 2;
  if (size) *size = (size_t)(at - memory);
  return made;
}

/* ------------------------------------------------------------------------------------------------------- linear -- */

/* Products, over all frames, of the ways from the example to where each joint takes a vertex. */
static void sum_products(const fit *of, size_t vertex, workspace *work) {
  const size_t joints = of->desc->joint_count;
  const double *v = of->desc->rest_positions + 3 * vertex;
  const sbs_vec4 at = {v[0], v[1], v[2], 0.0};
  memset(work->gram, 0, joints * joints * sizeof *work->gram);
  for (size_t f = 0; f < of->desc->frame_count; f++) {
    const double *p = of->desc->posed + 3 * (f * of->desc->vertex_count + vertex);
    double *x = work->points, *y = x + joints, *z = y + joints;
    for (size_t j = 0; j < joints; j++) {
      const sbs_joint *joint = of->joints + f * joints + j;
      const sbs_vec4 to = sbs_vec4_apply(joint->given, at) + joint->translation;
      x[j] = to[0] - p[0];
      y[j] = to[1] - p[1];
      z[j] = to[2] - p[2];
    }
    for (size_t i = 0; i < joints; i++) {
      double *row = work->gram + i * joints;
      for (size_t j = 0; j <= i; j++) row[j] += x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
    }
  }
  for (size_t i = 0; i < joints; i++) {
    for (size_t j = 0; j < i; j++) work->gram[j * joints + i] = work->gram[i * joints + j];
  }
}

static void sort_joints(int32_t *joints, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const int32_t joint = joints[i];
    size_t at = i;
    for (; at > 0 && joints[at - 1] > joint; at--) joints[at] = joints[at - 1];
    joints[at] = joint;
  }
}

/* The heaviest joints, at most so many, in ascending order; others are not. Returns how many. */
static size_t choose_heaviest(const double *weights, size_t count, size_t most, int32_t *chosen) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (weights[i] <= 0.0) continue;
    size_t at = found < most ? found++ : most;
    for (; at > 0 && weights[i] > weights[chosen[at - 1]]; at--) {
      if (at < most) chosen[at] = chosen[at - 1];
    }
    if (at < most) chosen[at] = (int32_t)i;
  }
  sort_joints(chosen, found);
  return found;
}

/* The linear weights of chosen joints alone. */
static void fit_chosen_linearly(const fit *of, workspace *work, size_t count) {
  const size_t joints = of->desc->joint_count;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      work->small[i * count + j] = work->gram[(size_t)work->indices[i] * joints + (size_t)work->indices[j]];
    }
  }
  sbs_nearest_in_hull(count, work->small, NULL, work->now, work->hull);
}

/* ------------------------------------------------------------------------------------------------ other methods -- */

/*
 * The sum of squares of what is left with some weights. Unless `squares` is NULL it receives the products, over all
 * frames, of where each weight alone would take what is left.
 */
static double evaluate(const fit *of, const sbs_fit_formula *formula, size_t vertex, const double *w, size_t count,
                       const workspace *work, double *squares) {
  const sbs_fit_desc *desc = of->desc;
  double error = 0.0;
  if (squares) memset(squares, 0, count * count * sizeof *squares);
  for (size_t f = 0; f < desc->frame_count; f++) {
    const size_t first = f * desc->joint_count;
    const sbs_fit_joints joints = {of->joints + first, of->kinds + first, of->stretches + first, work->indices, count};
    const double *p = desc->posed + 3 * (f * desc->vertex_count + vertex);
    double moved[3];
    sbs_move_with_derivatives(formula, &joints, desc->rest_positions + 3 * vertex,
                              desc->centers ? desc->centers + 3 * vertex : NULL, w, moved, work->by);
    double left[3], along[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) {
      left[k] = moved[k] - p[k];
      error += left[k] * left[k];
      for (size_t i = 0; i < count; i++) along[k] += w[i] * work->by[3 * i + (size_t)k];
    }
    if (!squares) continue;
    for (size_t i = 0; i < count; i++) {
      for (int k = 0; k < 3; k++) work->by[3 * i + (size_t)k] += left[k] - along[k];
    }
    for (size_t i = 0; i < count; i++) {
      const double *a = work->by + 3 * i;
      for (size_t j = 0; j <= i; j++) {
        const double *b = work->by + 3 * j;
        squares[i * count + j] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
      }
    }
  }
  for (size_t i = 0; squares && i < count; i++) {
    for (size_t j = 0; j < i; j++) squares[j * count + i] = squares[i * count + j];
  }
  return error;
}

/*
 * The weights of a damped Gauss-Newton step: the point of a hull that is nearest, but for what it takes to get there.
 */
static void find_step(const workspace *work, size_t count, double damping) {
  double trace = 0.0, square = 0.0;
  for (size_t i = 0; i < count; i++) {
    trace += work->squares[i * count + i];
    square += work->now[i] * work->now[i];
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      const double apart = (double)(i == j) - work->now[i] - work->now[j] + square;
      work->small[i * count + j] = work->squares[i * count + j] + damping * trace * apart;
    }
  }
  sbs_nearest_in_hull(count, work->small, NULL, work->next, work->hull);
}

static void swap(double **a, double **b) {
  double *kept = *a;
  *a = *b;
  *b = kept;
}

/* Gauss-Newton steps from the weights `now`, at most so many, each damped until the error falls. */
static double descend(const fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count, size_t steps,
                      workspace *work) {
  double damping = 1e-9, error = evaluate(of, formula, vertex, work->now, count, work, work->squares);
  for (size_t turn = 0; turn < steps && count > 1; turn++) {
    int better = 0;
    double tried = error, change = 0.0;
    for (int attempt = 0; attempt < 8 && !better; attempt++) {
      find_step(work, count, damping);
      tried = evaluate(of, formula, vertex, work->next, count, work, work->tried);
      better = tried < error;
      damping = better ? fmax(1e-12, 0.1 * damping) : fmax(1e-6, 30.0 * damping);
      change = 0.0;
      for (size_t i = 0; i < count; i++) change = fmax(change, fabs(work->next[i] - work->now[i]));
      if (change < 1e-12) break; /* there is nowhere to go */
    }
    if (!better) break;
    const int done = change < 1e-9 || error - tried <= 1e-12 * error;
    swap(&work->now, &work->next);
    swap(&work->squares, &work->tried);
    error = tried;
    if (done) break;
  }
  return error;
}

/* ----------------------------------------------------------------------------------------------------- a vertex -- */

static void write_vertex(const fit *of, size_t vertex, size_t count, const workspace *work, double error) {
  const size_t width = of->options->influences;
  int32_t *indices = of->joint_indices + vertex * width;
  double *weights = of->joint_weights + vertex * width;
  memset(indices, 0, width * sizeof *indices);
  memset(weights, 0, width * sizeof *weights);
  size_t put = 0;
  for (size_t i = 0; i < count; i++) {
    if (work->now[i] <= 0.0) continue;
    size_t at = put++;
    for (; at > 0 && weights[at - 1] < work->now[i]; at--) {
      weights[at] = weights[at - 1];
      indices[at] = indices[at - 1];
    }
    weights[at] = work->now[i];
    indices[at] = work->indices[i];
  }
  if (of->errors) of->errors[vertex] = sqrt(error / (double)of->desc->frame_count);
}

/* Leaves out joints without weight, which would still count for the center of their set. Returns whether there are. */
static int drop_idle(workspace *work, size_t *count) {
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++) {
    if (work->now[i] <= 0.0) continue;
    work->now[kept] = work->now[i];
    work->indices[kept++] = work->indices[i];
  }
  const int any = kept < *count;
  *count = kept;
  return any;
}

/* A sum of squares that is as good as none. */
static double exact_error(const fit *of, const workspace *work) {
  const size_t joints = of->desc->joint_count;
  double most = 0.0;
  for (size_t j = 0; j < joints; j++) most = fmax(most, work->gram[j * joints + j]);
  return 1e-20 * most;
}

/*
 * Adds those joints without weight whose growth lowers the error most, as long as there is room; those that have not
 * gained any make it. Returns how many were added. Linear blending alone does not tell which joints matter.
 */
static size_t add_promising(const fit *of, const sbs_fit_formula *formula, size_t vertex, size_t *count,
                            workspace *work) {
  const sbs_fit_desc *desc = of->desc;
  const size_t joints = desc->joint_count;
  double *slopes = work->points, *w = work->weights, mean = 0.0;
  drop_idle(work, count);
  for (size_t j = 0; j < joints; j++) {
    slopes[j] = w[j] = 0.0;
    work->everyone[j] = (int32_t)j;
  }
  for (size_t i = 0; i < *count; i++) w[work->indices[i]] = work->now[i];
  for (size_t f = 0; f < desc->frame_count; f++) {
    const size_t first = f * joints;
    const sbs_fit_joints all = {of->joints + first, of->kinds + first, of->stretches + first, work->everyone, joints};
    const double *p = desc->posed + 3 * (f * desc->vertex_count + vertex);
    double moved[3];
    sbs_move_with_derivatives(formula, &all, desc->rest_positions + 3 * vertex,
                              desc->centers ? desc->centers + 3 * vertex : NULL, w, moved, work->by);
    for (size_t j = 0; j < joints; j++) {
      for (size_t k = 0; k < 3; k++) slopes[j] += (moved[k] - p[k]) * work->by[3 * j + k];
    }
  }
  for (size_t j = 0; j < joints; j++) mean += w[j] * slopes[j];
  size_t added = 0;
  while (*count < of->most) {
    size_t steepest = joints;
    for (size_t j = 0; j < joints; j++) {
      if (w[j] == 0.0 && (steepest == joints || slopes[j] < slopes[steepest])) steepest = j;
    }
    if (steepest == joints || !(slopes[steepest] < mean)) break;
    w[steepest] = -1.0; /* is among them now */
    work->indices[*count] = (int32_t)steepest;
    work->now[(*count)++] = 0.0;
    added++;
  }
  return added;
}

static int has_set_center(const sbs_fit_formula *formula) {
  return formula->method == SBS_METHOD_SPHERICAL && formula->center == SBS_CENTER_JOINT_SET;
}

/* Fits with some of the candidates alone, from given weights, and keeps the result if it is the best so far. */
static void try_choice(const fit *of, const sbs_fit_formula *formula, size_t vertex, const candidates *all,
                       const int32_t *chosen, size_t count, workspace *work, choice *best) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += all->weights[chosen[i]];
  for (size_t i = 0; i < count; i++) {
    work->indices[i] = all->indices[chosen[i]];
    work->now[i] = sum > 0.0 ? all->weights[chosen[i]] / sum : 1.0 / (double)count;
  }
  double error = descend(of, formula, vertex, count, of->options->iterations, work);
  while (has_set_center(formula) && drop_idle(work, &count)) {
    error = descend(of, formula, vertex, count, of->options->iterations, work);
  }
  if (best->count && !(error < best->error)) return;
  best->error = error;
  best->count = count;
  memcpy(best->weights, work->now, count * sizeof *work->now);
  memcpy(best->indices, work->indices, count * sizeof *work->indices);
}

/*
 * From more candidates than may stay, the heaviest; and the same with each of those that have not much less in place of
 * the lightest: which joints count is not told by weights alone.
 */
static void choose_joints(const fit *of, const sbs_fit_formula *formula, size_t vertex, const candidates *all,
                          workspace *work, choice *best) {
  const size_t width = of->options->influences;
  const double exact = exact_error(of, work);
  int32_t *order = work->order, *chosen = work->chosen;
  for (size_t i = 0; i < all->count; i++) { /* by decreasing weight; those without any stay in their order */
    size_t at = i;
    for (; at > 0 && all->weights[order[at - 1]] < all->weights[i]; at--) order[at] = order[at - 1];
    order[at] = (int32_t)i;
  }
  const size_t kept = all->count < width ? all->count : width;
  for (size_t fewer = 1; has_set_center(formula) && fewer < kept; fewer++) { /* each has another center */
    memcpy(chosen, order, fewer * sizeof *order);
    sort_joints(chosen, fewer);
    try_choice(of, formula, vertex, all, chosen, fewer, work, best);
    if (best->error <= exact) return;
  }
  for (size_t other = kept - 1; other < all->count; other++) {
    memcpy(chosen, order, kept * sizeof *order);
    chosen[kept - 1] = order[other];
    sort_joints(chosen, kept);
    try_choice(of, formula, vertex, all, chosen, kept, work, best);
    if (best->error <= exact) return;
  }
}

static void fit_vertex(const fit *of, size_t vertex, workspace *work) {
  const size_t joints = of->desc->joint_count, width = of->options->influences;
  const int linear = of->options->method == SBS_METHOD_LINEAR;
  sbs_fit_formula formula = {of->options->method, of->options->center, of->options->damping};
  sum_products(of, vertex, work);
  sbs_nearest_in_hull(joints, work->gram, NULL, work->weights, work->hull);
  size_t count = choose_heaviest(work->weights, joints, linear ? width : of->most, work->indices);
  fit_chosen_linearly(of, work, count);
  if (linear) {
    write_vertex(of, vertex, count, work, evaluate(of, &formula, vertex, work->now, count, work, NULL));
    return;
  }
  /* the center of a joint set jumps where a joint comes or goes: which of them stay is found about weighted ones */
  sbs_fit_formula smooth = formula;
  if (formula.center == SBS_CENTER_JOINT_SET) smooth.center = SBS_CENTER_WEIGHTED;
  const size_t steps = of->options->iterations, first_steps = steps < FIRST_STEPS ? steps : FIRST_STEPS;
  double error = descend(of, &smooth, vertex, count, first_steps, work);
  for (int turn = 0; turn < MORE_TURNS && error > exact_error(of, work); turn++) {
    if (!add_promising(of, &smooth, vertex, &count, work)) break;
    error = descend(of, &smooth, vertex, count, first_steps, work);
  }
  const candidates all = {count, work->all_indices, work->all_weights};
  memcpy(work->all_indices, work->indices, count * sizeof *work->indices);
  memcpy(work->all_weights, work->now, count * sizeof *work->now);
  choice best = {.indices = work->best_indices, .weights = work->best_weights};
  choose_joints(of, &formula, vertex, &all, work, &best);
  memcpy(work->indices, best.indices, best.count * sizeof *work->indices);
  memcpy(work->now, best.weights, best.count * sizeof *work->now);
  write_vertex(of, vertex, best.count, work, best.error);
}

static sbs_status fit_vertices(void *context, sbs_share vertices, int worker) {
  const fit *of = context;
  workspace work = lay_out(of, of->work + (size_t)worker * of->work_size, NULL);
  for (size_t v = vertices.begin; v < vertices.end; v++) fit_vertex(of, v, &work);
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------- public -- */

static sbs_status prepare_joints(void *context, sbs_share frames, int worker) {
  const fit *of = context;
  const sbs_fit_desc *desc = of->desc;
  const size_t numbers = desc->joint_count * 4 * desc->poses.rows * sbs_scalar_size(desc->poses.scalar);
  sbs_status status = SBS_OK;
  (void)worker;
  for (size_t f = frames.begin; f < frames.end && !status; f++) {
    const size_t first = f * desc->joint_count;
    const sbs_joints_args args = {.matrices = (const char *)desc->poses.skinning_matrices + f * numbers,
                                  .scalar = desc->poses.scalar,
                                  .rows = desc->poses.rows,
                                  .normal_tolerance = 2.0 * DBL_EPSILON,
                                  .joints = of->joints + first,
                                  .kinds = of->kinds + first};
    sbs_joints_batch_of(sbs_choose_isa())(&args, 0, desc->joint_count);
    for (size_t j = first; j < first + desc->joint_count && !status; j++) {
      status = sbs_decompose_joint(of->joints + j, of->kinds[j], of->stretches + j);
    }
  }
  return status;
}

static sbs_status check_options(const sbs_fit_desc *desc, const sbs_fit_options *options, sbs_fault *fault) {
  if (options->method != SBS_METHOD_LINEAR && options->method != SBS_METHOD_SPHERICAL &&
      options->method != SBS_METHOD_DUAL_QUATERNION) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "method", options->method, SBS_METHOD_DUAL_QUATERNION);
  }
  if ((int)options->center < SBS_CENTER_JOINT_SET || options->center > SBS_CENTER_OPTIMIZED) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "center", options->center, SBS_CENTER_OPTIMIZED);
  }
  if (options->method == SBS_METHOD_SPHERICAL && options->center == SBS_CENTER_OPTIMIZED && !desc->centers) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
  }
  if (!(options->damping > 0.0) || isinf(options->damping)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "damping", options->damping, 0.0);
  }
  if (!options->influences) return sbs_fault_number(fault, SBS_ERROR_OPTION, "influences", 0.0, 1.0);
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

static sbs_status check_desc(const sbs_fit_desc *desc, sbs_fault *fault) {
  if (!desc->vertex_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "vertex_count");
  if (!desc->joint_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "joint_count");
  if (!desc->frame_count) return sbs_fault_in(fault, SBS_ERROR_EMPTY, "frame_count");
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (!desc->posed) return sbs_fault_in(fault, SBS_ERROR_NULL, "posed");
  if (desc->vertex_count > INT32_MAX || desc->frame_count > SIZE_MAX / 64 / desc->vertex_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "frame_count", (double)desc->frame_count, 0.0);
  }
  if (desc->joint_count > UINT16_MAX || desc->frame_count > SIZE_MAX / 1024 / desc->joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_TOO_LARGE, "joint_count", (double)desc->joint_count, UINT16_MAX);
  }
  sbs_status status = sbs_validate_vectors(desc->rest_positions, 0, SBS_FLOAT64, desc->vertex_count, "rest_positions",
                                           "rest_positions", fault);
  if (!status) {
    status = sbs_validate_vectors(desc->posed, 0, SBS_FLOAT64, desc->frame_count * desc->vertex_count, "posed", "posed",
                                  fault);
  }
  if (!status && desc->centers) {
    status = sbs_validate_vectors(desc->centers, 0, SBS_FLOAT64, desc->vertex_count, "centers", "centers", fault);
  }
  return status ? status : sbs_check_poses(&desc->poses, desc->frame_count, desc->joint_count, fault);
}

sbs_status sbs_fit_weights(const sbs_fit_desc *desc, const sbs_fit_options *given, int32_t *joint_indices,
                           double *joint_weights, double *errors, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  sbs_fit_options options = given ? *given : sbs_default_fit_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (!status) status = check_options(desc, &options, fault);
  if (!status) status = check_desc(desc, fault);
  if (status) return status;

  const sbs_allocator *allocator = &options.allocator;
  const size_t joints = desc->joint_count, all = desc->frame_count * joints;
  const size_t most = options.influences < joints ? options.influences + MORE_CANDIDATES : joints;
  fit of = {.desc = desc,
            .options = &options,
            .joint_indices = joint_indices,
            .joint_weights = joint_weights,
            .errors = errors,
            .most = most < joints ? most : joints};
  lay_out(&of, NULL, &of.work_size);
  const double frames = (double)desc->frame_count;
  const double products = frames * ((double)joints * (double)joints + 100.0 * (double)of.most * (double)of.most);
  const int threads = sbs_choose_threads(options.threads, (double)desc->vertex_count * products * PRODUCT_TIME);
  of.joints = sbs_allocate(allocator, all, sizeof *of.joints);
  of.kinds = sbs_allocate(allocator, all, sizeof *of.kinds);
  of.stretches = sbs_allocate(allocator, all, sizeof *of.stretches);
  of.work = sbs_allocate(allocator, (size_t)threads * of.work_size, sizeof *of.work);
  if (!of.joints || !of.kinds || !of.stretches || !of.work) status = SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = sbs_share_work(threads, desc->frame_count, 1, prepare_joints, &of);
  if (!status) status = sbs_share_work(threads, desc->vertex_count, VERTICES_CHUNK, fit_vertices, &of);
  sbs_release(allocator, of.joints);
  sbs_release(allocator, of.kinds);
  sbs_release(allocator, of.stretches);
  sbs_release(allocator, of.work);
  return status ? sbs_fault_in(fault, status, status == SBS_ERROR_NO_CONVERGENCE ? "skinning_matrices" : NULL) : SBS_OK;
}
