/* SPDX-License-Identifier: MIT */
#include "sbs/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/arguments.h"
#include "base/fault.h"
#include "base/threads.h"
#include "fit/check.h"
#include "fit/descend.h"
#include "fit/hull.h"
#include "fit/joints.h"
#include "fit/spread.h"

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
  sbs_frame_joints joints;
  int32_t *joint_indices;
  double *joint_weights, *errors;
  char *work;  /* (threads, work_size) */
  double pull; /* times the number of frames */
  size_t most; /* joints that any step goes on with */
  size_t work_size;
} fit;

/* The memory of a thread. */
typedef struct workspace {
  double *points;                     /* (J, 3) from the example to where each joint takes the vertex, in a frame */
  double *gram;                       /* (J, J) */
  double *weights;                    /* (J) */
  double *by;                         /* (J, 3) */
  sbs_spread spread;                  /* of J joints */
  sbs_descent descent;                /* of `most` joints; its hull has room for J */
  double *all_weights, *best_weights; /* (most) */
  int32_t *indices, *all_indices, *best_indices, *order, *chosen; /* (most) */
  double *toward;       /* (J) what the weights of these joints are drawn to */
  double toward_square; /* of its length */
  int32_t *everyone;    /* (J) the joints that the vertex may use */
  size_t usable;        /* how many these are */
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

static workspace lay_out(const fit *of, sbs_arena *arena) {
  const size_t joints = of->desc->joint_count, most = of->most;
  workspace made = {0};
  made.points = sbs_arena_take(arena, joints, 3 * sizeof(double));
  made.gram = sbs_arena_take(arena, joints * joints, sizeof(double));
  made.weights = sbs_arena_take(arena, joints, sizeof(double));
  made.descent.hull = sbs_arena_take(arena, sbs_hull_work_size(joints), sizeof(double));
  made.by = sbs_arena_take(arena, joints, 3 * sizeof(double));
  made.spread = sbs_new_spread(arena, joints);
  made.toward = sbs_arena_take(arena, joints, sizeof(double));
  made.descent.squares = sbs_arena_take(arena, most * most, sizeof(double));
  made.descent.tried = sbs_arena_take(arena, most * most, sizeof(double));
  made.descent.damped = sbs_arena_take(arena, most * most, sizeof(double));
  double **const numbers[] = {&made.descent.now, &made.descent.next, &made.all_weights, &made.best_weights};
  int32_t **const integers[] = {&made.indices, &made.all_indices, &made.best_indices, &made.order, &made.chosen};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *numbers[i] = sbs_arena_take(arena, most, sizeof(double));
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    *integers[i] = sbs_arena_take(arena, most, sizeof(int32_t));
  }
  made.everyone = sbs_arena_take(arena, joints, sizeof(int32_t));
  return made;
}

/* ------------------------------------------------------------------------------------------------------- linear -- */

/* The joints that a vertex may use, and what the weights are drawn to. */
static void find_usable(const fit *of, size_t vertex, workspace *work) {
  const sbs_fit_desc *desc = of->desc;
  const size_t joints = desc->joint_count;
  work->usable = 0;
  for (size_t j = 0; j < joints; j++) {
    if (!desc->allowed || desc->allowed[vertex * joints + j]) work->everyone[work->usable++] = (int32_t)j;
  }
  work->toward_square = 0.0;
  for (size_t j = 0; j < joints; j++) {
    work->toward[j] = desc->toward ? desc->toward[vertex * joints + j] : 0.0;
    work->toward_square += work->toward[j] * work->toward[j];
  }
}

/* What the pull adds to the product of two corners: those of the simplex, from what the weights are drawn to. */
static double pull_product(const fit *of, const workspace *work, size_t i, size_t j) {
  if (of->pull == 0.0) return 0.0;
  return of->pull * ((double)(i == j) - work->toward[i] - work->toward[j] + work->toward_square);
}

/* Products, over all frames, of the ways from the example to where each usable joint takes a vertex. */
static void sum_products(const fit *of, size_t vertex, workspace *work) {
  const size_t usable = work->usable;
  const sbs_spread *spread = &work->spread;
  const double *v = of->desc->rest_positions + 3 * vertex;
  const sbs_vec4 at = {v[0], v[1], v[2], 0.0};
  sbs_spread_joints(of->desc->twist, work->everyone, usable, v, &work->spread);
  memset(work->gram, 0, usable * usable * sizeof *work->gram);
  for (size_t f = 0; f < of->desc->frame_count; f++) {
    const double *p = of->desc->posed + 3 * (f * of->desc->vertex_count + vertex);
    double *x = work->points, *y = x + usable, *z = y + usable;
    for (size_t j = 0; j < usable; j++) {
      x[j] = -p[0];
      y[j] = -p[1];
      z[j] = -p[2];
    }
    for (size_t e = 0; e < spread->count; e++) {
      const sbs_joint *joint = of->joints.joints + f * of->joints.count + (size_t)spread->frames[e];
      const sbs_vec4 to = sbs_vec4_apply(joint->given, at) + joint->translation;
      x[spread->owners[e]] += spread->shares[e] * to[0];
      y[spread->owners[e]] += spread->shares[e] * to[1];
      z[spread->owners[e]] += spread->shares[e] * to[2];
    }
    for (size_t i = 0; i < usable; i++) {
      double *row = work->gram + i * usable;
      for (size_t j = 0; j <= i; j++) row[j] += x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
    }
  }
  for (size_t i = 0; i < usable; i++) {
    for (size_t j = 0; j <= i; j++) {
      work->gram[i * usable + j] += pull_product(of, work, (size_t)work->everyone[i], (size_t)work->everyone[j]);
      work->gram[j * usable + i] = work->gram[i * usable + j];
    }
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

/* The linear weights of chosen joints alone, given by their places among the usable ones; then by their numbers. */
static sbs_status fit_chosen_linearly(workspace *work, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) {
      work->descent.damped[i * count + j] =
          work->gram[(size_t)work->indices[i] * work->usable + (size_t)work->indices[j]];
    }
  }
  for (size_t i = 0; i < count; i++) work->indices[i] = work->everyone[work->indices[i]];
  return sbs_nearest_in_hull(count, work->descent.damped, NULL, work->descent.now, work->descent.hull);
}

/* ------------------------------------------------------------------------------------------------ other methods -- */

/* A vertex, by a formula, in the memory of a thread. */
typedef struct vertex_fit {
  const fit *of;
  const sbs_fit_formula *formula;
  size_t vertex;
  const workspace *work;
} vertex_fit;

/* What is left in all frames together, and the pull: a sbs_left_over. */
static double evaluate(void *context, const double *w, size_t count, double *squares) {
  const vertex_fit *one = context;
  const fit *of = one->of;
  const workspace *work = one->work;
  const sbs_fit_desc *desc = of->desc;
  const double *v = desc->rest_positions + 3 * one->vertex;
  sbs_spread spread = work->spread;
  double error = 0.0;
  if (squares) memset(squares, 0, count * count * sizeof *squares);
  sbs_spread_joints(desc->twist, work->indices, count, v, &spread);
  for (size_t f = 0; f < desc->frame_count; f++) {
    const sbs_fit_joints joints = sbs_joints_of_frame(&of->joints, f);
    const double *p = desc->posed + 3 * (f * desc->vertex_count + one->vertex);
    double moved[3], left[3];
    sbs_move_spread(one->formula, &joints, &spread, v, desc->centers ? desc->centers + 3 * one->vertex : NULL, w, moved,
                    work->by);
    for (int k = 0; k < 3; k++) {
      left[k] = moved[k] - p[k];
      error += left[k] * left[k];
    }
    if (squares) sbs_add_corners(count, w, left, work->by, squares);
  }
  for (size_t i = 0; squares && i < count; i++) {
    for (size_t j = 0; j <= i; j++) {
      squares[i * count + j] += pull_product(of, work, (size_t)work->indices[i], (size_t)work->indices[j]);
      squares[j * count + i] = squares[i * count + j];
    }
  }
  if (of->pull == 0.0) return error;
  double apart = work->toward_square;
  for (size_t i = 0; i < count; i++) apart += w[i] * (w[i] - 2.0 * work->toward[work->indices[i]]);
  return error + of->pull * apart;
}

/* Gauss-Newton steps from the weights of now, at most so many. */
static double descend(const fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count, size_t steps,
                      workspace *work) {
  vertex_fit context = {of, formula, vertex, work};
  return sbs_descend(&work->descent, count, steps, evaluate, &context);
}

/* ----------------------------------------------------------------------------------------------------- a vertex -- */

static void write_vertex(const fit *of, const sbs_fit_formula *formula, size_t vertex, size_t count,
                         const workspace *work) {
  const size_t width = of->options->influences;
  int32_t *indices = of->joint_indices + vertex * width;
  double *weights = of->joint_weights + vertex * width;
  memset(indices, 0, width * sizeof *indices);
  memset(weights, 0, width * sizeof *weights);
  size_t put = 0;
  for (size_t i = 0; i < count; i++) {
    if (work->descent.now[i] <= 0.0) continue;
    size_t at = put++;
    for (; at > 0 && weights[at - 1] < work->descent.now[i]; at--) {
      weights[at] = weights[at - 1];
      indices[at] = indices[at - 1];
    }
    weights[at] = work->descent.now[i];
    indices[at] = work->indices[i];
  }
  fit examples_alone = *of;
  examples_alone.pull = 0.0;
  vertex_fit context = {&examples_alone, formula, vertex, work};
  const double error = evaluate(&context, work->descent.now, count, NULL);
  of->errors[vertex] = sqrt(error / (double)of->desc->frame_count);
}

/* Leaves out joints without weight, which would still count for the center of their set. Returns whether there are. */
static int drop_idle(workspace *work, size_t *count) {
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++) {
    if (work->descent.now[i] <= 0.0) continue;
    work->descent.now[kept] = work->descent.now[i];
    work->indices[kept++] = work->indices[i];
  }
  const int any = kept < *count;
  *count = kept;
  return any;
}

/* A sum of squares that counts as zero. */
static double exact_error(const workspace *work) {
  double most = 0.0;
  for (size_t j = 0; j < work->usable; j++) most = fmax(most, work->gram[j * work->usable + j]);
  return 1e-20 * most;
}

/*
 * Adds those joints without weight whose growth lowers the error most, as long as there is room; joints that were added
 * before and have gained no weight make room. Returns how many were added. Linear blending alone does not tell which
 * joints matter.
 */
static size_t add_promising(const fit *of, const sbs_fit_formula *formula, size_t vertex, size_t *count,
                            workspace *work) {
  const sbs_fit_desc *desc = of->desc;
  const size_t usable = work->usable;
  const int32_t *everyone = work->everyone;
  double *slopes = work->points, *w = work->weights, mean = 0.0;
  drop_idle(work, count);
  for (size_t j = 0; j < usable; j++) {
    slopes[j] = w[j] = 0.0;
    for (size_t i = 0; i < *count; i++) {
      if (work->indices[i] == everyone[j]) w[j] = work->descent.now[i];
    }
    if (of->pull != 0.0) slopes[j] = of->pull * (w[j] - work->toward[everyone[j]]);
  }
  const double *v = desc->rest_positions + 3 * vertex;
  sbs_spread_joints(desc->twist, everyone, usable, v, &work->spread);
  for (size_t f = 0; f < desc->frame_count; f++) {
    const sbs_fit_joints joints = sbs_joints_of_frame(&of->joints, f);
    const double *p = desc->posed + 3 * (f * desc->vertex_count + vertex);
    double moved[3];
    sbs_move_spread(formula, &joints, &work->spread, v, desc->centers ? desc->centers + 3 * vertex : NULL, w, moved,
                    work->by);
    for (size_t j = 0; j < usable; j++) {
      for (size_t k = 0; k < 3; k++) slopes[j] += (moved[k] - p[k]) * work->by[3 * j + k];
    }
  }
  for (size_t j = 0; j < usable; j++) mean += w[j] * slopes[j];
  size_t added = 0;
  while (*count < of->most) {
    size_t steepest = usable;
    for (size_t j = 0; j < usable; j++) {
      if (w[j] == 0.0 && (steepest == usable || slopes[j] < slopes[steepest])) steepest = j;
    }
    if (steepest == usable || !(slopes[steepest] < mean)) break;
    w[steepest] = -1.0; /* is among them now */
    work->indices[*count] = everyone[steepest];
    work->descent.now[(*count)++] = 0.0;
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
    work->descent.now[i] = sum > 0.0 ? all->weights[chosen[i]] / sum : 1.0 / (double)count;
  }
  double error = descend(of, formula, vertex, count, of->options->iterations, work);
  while (has_set_center(formula) && drop_idle(work, &count)) {
    error = descend(of, formula, vertex, count, of->options->iterations, work);
  }
  if (best->count && !(error < best->error)) return;
  best->error = error;
  best->count = count;
  memcpy(best->weights, work->descent.now, count * sizeof *work->descent.now);
  memcpy(best->indices, work->indices, count * sizeof *work->indices);
}

/*
 * Chooses among more candidates than may stay: the heaviest; then each of those that are not much lighter is tried in
 * place of the lightest, because weights alone do not tell which joints matter.
 */
static void choose_joints(const fit *of, const sbs_fit_formula *formula, size_t vertex, const candidates *all,
                          workspace *work, choice *best) {
  const size_t width = of->options->influences;
  const double exact = exact_error(work);
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

static sbs_status fit_vertex(const fit *of, size_t vertex, workspace *work) {
  const size_t width = of->options->influences;
  const int linear = of->options->method == SBS_METHOD_LINEAR;
  sbs_fit_formula formula = {of->options->method, of->options->center, of->options->damping};
  find_usable(of, vertex, work);
  sum_products(of, vertex, work);
  sbs_status status = sbs_nearest_in_hull(work->usable, work->gram, NULL, work->weights, work->descent.hull);
  if (status) return status;
  size_t count = choose_heaviest(work->weights, work->usable, linear ? width : of->most, work->indices);
  status = fit_chosen_linearly(work, count);
  if (status || linear) {
    if (!status) write_vertex(of, &formula, vertex, count, work);
    return status;
  }
  /* the center of a joint set jumps where a joint comes or goes: which of them stay is found about weighted ones */
  sbs_fit_formula smooth = formula;
  if (formula.center == SBS_CENTER_JOINT_SET) smooth.center = SBS_CENTER_WEIGHTED;
  const size_t steps = of->options->iterations, first_steps = steps < FIRST_STEPS ? steps : FIRST_STEPS;
  double error = descend(of, &smooth, vertex, count, first_steps, work);
  for (int turn = 0; turn < MORE_TURNS && error > exact_error(work); turn++) {
    if (!add_promising(of, &smooth, vertex, &count, work)) break;
    error = descend(of, &smooth, vertex, count, first_steps, work);
  }
  const candidates all = {count, work->all_indices, work->all_weights};
  memcpy(work->all_indices, work->indices, count * sizeof *work->indices);
  memcpy(work->all_weights, work->descent.now, count * sizeof *work->descent.now);
  choice best = {.indices = work->best_indices, .weights = work->best_weights};
  choose_joints(of, &formula, vertex, &all, work, &best);
  memcpy(work->indices, best.indices, best.count * sizeof *work->indices);
  memcpy(work->descent.now, best.weights, best.count * sizeof *work->descent.now);
  write_vertex(of, &formula, vertex, best.count, work);
  return SBS_OK;
}

static sbs_status fit_vertices(void *context, sbs_share vertices, int worker) {
  const fit *of = context;
  sbs_arena memory = sbs_arena_over(of->work + (size_t)worker * of->work_size);
  workspace work = lay_out(of, &memory);
  sbs_status status = SBS_OK;
  for (size_t v = vertices.begin; v < vertices.end && !status; v++) status = fit_vertex(of, v, &work);
  return status;
}

/* ------------------------------------------------------------------------------------------------------- public -- */

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
  if (!(options->damping > 0.0 && options->damping <= SBS_LARGEST)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "damping", options->damping, 0.0);
  }
  if (!(options->pull >= 0.0 && options->pull <= SBS_LARGEST)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "pull", options->pull, 0.0);
  }
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

sbs_status sbs_fit_weights(const sbs_fit_desc *desc, const sbs_fit_options *given, int32_t *joint_indices,
                           double *joint_weights, double *errors, sbs_fault *fault) {
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!joint_indices) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_indices");
  if (!joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  sbs_fit_options options = given ? *given : sbs_default_fit_options();
  sbs_status status = sbs_choose_allocator(&options.allocator, &options.allocator, fault);
  if (!status) status = check_options(desc, &options, fault);
  if (!status) status = sbs_check_fit(desc, fault);
  if (!status) status = sbs_check_fit_width(desc, options.influences, fault);
  if (status) return status;

  const size_t all = desc->vertex_count * options.influences;
  const size_t joints = desc->joint_count;
  const size_t most = options.influences < joints ? options.influences + MORE_CANDIDATES : joints;
  sbs_arena arena = sbs_arena_from(&options.allocator), counted = sbs_arena_over(NULL);
  fit of = {.desc = desc,
            .options = &options,
            .joint_indices = sbs_arena_take(&arena, all, sizeof *joint_indices),
            .joint_weights = sbs_arena_take(&arena, all, sizeof *joint_weights),
            .errors = sbs_arena_take(&arena, desc->vertex_count, sizeof *errors),
            .pull = desc->toward ? options.pull * (double)desc->frame_count : 0.0,
            .most = most < joints ? most : joints};
  lay_out(&of, &counted);
  of.work_size = counted.used;
  const double frames = (double)desc->frame_count;
  const double products = frames * ((double)joints * (double)joints + 100.0 * (double)of.most * (double)of.most);
  const int threads = sbs_choose_threads(options.threads, (double)desc->vertex_count * products * PRODUCT_TIME);
  of.work = counted.failed ? NULL : sbs_arena_take(&arena, (size_t)threads, of.work_size);
  status = of.work ? sbs_frame_joints_new(desc, threads, &arena, &of.joints) : SBS_ERROR_OUT_OF_MEMORY;
  if (!status) status = sbs_share_work(threads, desc->vertex_count, VERTICES_CHUNK, fit_vertices, &of);
  if (!status) {
    memcpy(joint_indices, of.joint_indices, all * sizeof *joint_indices);
    memcpy(joint_weights, of.joint_weights, all * sizeof *joint_weights);
    if (errors) memcpy(errors, of.errors, desc->vertex_count * sizeof *errors);
  }
  sbs_arena_release(&arena);
  return sbs_end_fit(status, fault);
}
