/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/amounts.h"
#include "deform/options.h"
#include "gradient/run.h"
#include "gradient/shapes.h"
#include "gradient/twist.h"
#include "pose/batches.h"
#include "pose/center.h"
#include "pose/twist.h"

/* Chunks of work, and what a vertex and a joint set take one thread, about, in nanoseconds. */
enum {
  JOINTS_CHUNK = 64,
  SETS_CHUNK = 16,
  PARTS_CHUNK = 2,
  VERTEX_TIME = 8,
  SET_TIME = 1000
};

/* ------------------------------------------------------------------------------------------------- by one method -- */

sbs_status sbs_gradient_pose_joints(const sbs_gradient_run *run, const sbs_pose *pose, size_t begin, size_t end) {
  const sbs_joints_args args = {.matrices = pose->skinning_matrices,
                                .scalar = pose->scalar,
                                .rows = pose->rows,
                                .normal_tolerance = 2.0 * sbs_scalar_epsilon(run->skin->scalar),
                                .joints = run->joints,
                                .kinds = run->kinds};
  sbs_choose_joints_batch(run->skin->isa)(&args, begin, end);
  sbs_status status = SBS_OK;
  for (size_t j = begin; j < end && !status; j++) {
    status = sbs_decompose_joint(run->joints + j, run->kinds[j], run->stretches + j);
  }
  return status;
}

static sbs_status prepare_joints(void *context, sbs_share share, int worker) {
  (void)worker;
  return sbs_gradient_pose_joints(((void **)context)[0], ((void **)context)[1], share.begin, share.end);
}

static sbs_status pose_sets(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  (void)worker;
  sbs_choose_gradient_batches(run->skin->isa)->pose_sets(run, sets.begin, sets.end);
  return SBS_OK;
}

static size_t stride_or_default(size_t stride, sbs_scalar scalar) {
  return stride ? stride : 3 * sbs_scalar_size(scalar);
}

sbs_gradient_args sbs_gradient_part_args(const sbs_gradient_run *run, size_t number) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_gradient_part *part = gradient->parts + number;
  const sbs_skin *skin = run->skin;
  const size_t set = (size_t)part->set, size = sbs_set_size(skin, set), first = part->first_block * SBS_GRADIENT_LANES;
  const size_t bytes = sbs_scalar_size(gradient->scalar);
  double origin[3];
  sbs_gradient_origin(run, set, origin);
  return (sbs_gradient_args){
      .formula = sbs_choose_gradient_formula(run, set, part->own),
      .width = sbs_gradient_sums_per_joint(run, set, part->own),
      .stretched = sbs_gradient_is_stretched(run, set),
      .normals = run->upstream.normals != NULL,
      .one_joint = run->options->method == SBS_METHOD_RIGID,
      .constants = run->constants + set * SBS_GRADIENT_BASE + skin->set_offsets[set] * SBS_GRADIENT_ROW,
      .joint_count = size,
      .signs = run->signs[set],
      .damping = fmax(run->options->damping, SBS_WEIGHTED_DAMPING),
      .origin = {origin[0], origin[1], origin[2]},
      .scalar = gradient->scalar,
      .weights = (const char *)gradient->weights + part->weights * bytes,
      .places = part->placed ? gradient->places + part->weights : NULL,
      .scales = (const char *)gradient->scales + first * bytes,
      .heaviest = gradient->heaviest + first,
      .vertices = gradient->vertices + first,
      .vertex_count = (size_t)part->vertex_count,
      .mesh_vertex_count = gradient->vertex_count,
      .rest_positions = run->desc->rest_positions,
      .rest_positions_stride = stride_or_default(run->desc->rest_positions_stride, gradient->scalar),
      .rest_normals = run->desc->rest_normals,
      .rest_normals_stride = stride_or_default(run->desc->rest_normals_stride, gradient->scalar),
      .centers = run->desc->centers,
      .upstream = run->upstream,
      .result = run->result,
      .adds = run->adds,
      .slots = gradient->slots,
      .columns = gradient->columns,
  };
}

void sbs_gradient_differentiate(const sbs_gradient_run *run, size_t number, const sbs_gradient_args *args) {
  const int in_double = run->in_double[run->gradient->parts[number].set];
  sbs_choose_gradient_kernel(run->skin->isa, in_double ? SBS_FLOAT64 : SBS_FLOAT32)(args);
}

static sbs_status differentiate_parts(void *context, sbs_share parts, int worker) {
  const sbs_gradient_run *run = context;
  for (size_t i = parts.begin; i < parts.end; i++) {
    sbs_gradient_args args = sbs_gradient_part_args(run, i);
    args.totals = sbs_gradient_wants_sums(run, args.formula) ? run->totals + run->totals_at[i] : NULL;
    args.work = run->work + (size_t)worker * run->work_size;
    sbs_gradient_differentiate(run, i, &args);
  }
  return SBS_OK;
}

/* All vertices of a set, as they move its centroid. */
static void add_to_rest(const sbs_gradient_run *run, size_t set, const double by[3]) {
  const sbs_gradient *gradient = run->gradient;
  for (size_t i = gradient->set_parts[set]; i < gradient->set_parts[set + 1]; i++) {
    const sbs_gradient_part *part = gradient->parts + gradient->part_order[i];
    const int32_t *vertices = gradient->vertices + part->first_block * SBS_GRADIENT_LANES;
    const size_t count = (size_t)part->vertex_count;
    if (gradient->scalar == SBS_FLOAT32) {
      const float more[3] = {(float)by[0], (float)by[1], (float)by[2]};
      for (size_t k = 0; k < count; k++) {
        float *rest = (float *)run->by_centroids + 3 * (size_t)vertices[k];
        for (int axis = 0; axis < 3; axis++) rest[axis] += more[axis];
      }
    } else {
      for (size_t k = 0; k < count; k++) {
        double *rest = (double *)run->by_centroids + 3 * (size_t)vertices[k];
        for (int axis = 0; axis < 3; axis++) rest[axis] += by[axis];
      }
    }
  }
}

static sbs_status find_centers(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  const sbs_skin *skin = run->skin;
  (void)worker;
  sbs_choose_gradient_batches(skin->isa)->find_centers(run, skin->solve_order + sets.begin, sets.end - sets.begin);
  return SBS_OK;
}

static sbs_status finish_sets(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  (void)worker;
  sbs_choose_gradient_batches(run->skin->isa)->finish_sets(run, sets.begin, sets.end);
  return SBS_OK;
}

/*
 * All vertices of a set move its centroid, and so the center. Returns whether `rest` received what the rest position of
 * each of them is to get in addition.
 */
static int moves_centroid(const sbs_gradient_run *run, size_t set, double rest[3]) {
  const sbs_skin *skin = run->skin;
  const double *sums = run->sums[set], *by_point = run->by_points[set];
  if (!sums || (sbs_is_stretched(skin, set, run->kinds) && skin->joint_positions)) return 0;
  const size_t width = sbs_gradient_sums_per_joint(run, set, 0);
  size_t count = 0;
  for (size_t i = run->gradient->set_parts[set]; i < run->gradient->set_parts[set + 1]; i++) {
    count += (size_t)run->gradient->parts[run->gradient->part_order[i]].vertex_count;
  }
  /* all but nothing of it is left where joints turn against each other: less than rounding where nothing is */
  double most = 0.0;
  for (size_t k = 0; k < sbs_set_size(skin, set); k++) {
    for (size_t i = 0; i < 3; i++) most = fmax(most, fabs(sums[k * width + SBS_SUM_OFFSET + i]));
  }
  int moves = 0;
  for (int i = 0; i < 3; i++) {
    rest[i] = by_point[i] / (double)count;
    moves |= fabs(by_point[i]) > sbs_scalar_epsilon(skin->scalar) * most;
  }
  return moves;
}

static sbs_status finish_centers(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  const int32_t *order = run->skin->solve_order + sets.begin;
  const size_t count = sets.end - sets.begin;
  (void)worker;
  sbs_choose_gradient_batches(run->skin->isa)->finish_centers(run, order, count);
  for (size_t i = 0; i < count && run->by_centroids; i++) {
    double by[3];
    if (moves_centroid(run, (size_t)order[i], by)) add_to_rest(run, (size_t)order[i], by);
  }
  return SBS_OK;
}

/* Where the sums of each part are. Returns how many numbers there are. */
static size_t place_totals(sbs_gradient_run *run) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_skin *skin = run->skin;
  size_t at = 0;
  for (size_t i = 0; i < gradient->part_count; i++) {
    run->totals_at[i] = at;
    const sbs_gradient_part *part = gradient->parts + i;
    const size_t set = (size_t)part->set;
    at += sbs_set_size(skin, set) * sbs_gradient_sums_per_joint(run, set, part->own) +
          sbs_gradient_tail(sbs_choose_gradient_formula(run, set, part->own));
  }
  return at;
}

static int has_set_centers(const sbs_deform_options *options) {
  return options->method == SBS_METHOD_SPHERICAL && options->center == SBS_CENTER_JOINT_SET;
}

/* All that a run by either method takes, before anything is written. */
static sbs_status allocate_sums(sbs_gradient_run *run, const sbs_methods *methods) {
  size_t most = place_totals(run);
  if (methods->base) {
    run->options = methods->base;
    const size_t of_base = place_totals(run);
    if (of_base > most) most = of_base;
    run->options = methods->options;
  }
  run->totals = sbs_arena_take(&run->arena, most, sizeof *run->totals);
  run->by_joints = sbs_arena_take(&run->arena, run->skin->joint_count, sizeof *run->by_joints);
  return run->arena.failed ? SBS_ERROR_OUT_OF_MEMORY : SBS_OK;
}

static sbs_status run_back(sbs_gradient_run *run, int threads) {
  const sbs_skin *skin = run->skin;
  place_totals(run);
  const size_t centers = has_set_centers(run->options) ? skin->solve_count : 0;
  sbs_status status = sbs_share_work(threads, centers, SETS_CHUNK, find_centers, run);
  if (!status) status = sbs_share_work(threads, skin->set_count, SETS_CHUNK, pose_sets, run);
  if (!status) {
    status = sbs_share_work(threads, run->gradient->part_count, PARTS_CHUNK, differentiate_parts, run);
  }
  if (!status && (run->result.skinning_matrices || run->result.rest_positions)) {
    status = sbs_share_work(threads, skin->set_count, SETS_CHUNK, finish_sets, run);
    if (!status) status = sbs_share_work(threads, centers, SETS_CHUNK, finish_centers, run);
  }
  if (!status && run->result.skinning_matrices)
    sbs_choose_gradient_batches(skin->isa)->finish_joints(run, run->by_joints);
  return status;
}

/* ------------------------------------------------------------------------------------------------ two methods -- */

/* What a loss is to each of two methods that amounts blend; base first. Of the skin's type. */
typedef struct blended {
  void *positions[2], *normals[2]; /* (V, 3) what each method makes; then the gradient by it */
} blended;

static sbs_status deform_apart(const sbs_gradient_run *run, const sbs_pose *pose, const sbs_methods *methods,
                               blended *of, sbs_fault *fault) {
  const sbs_deform_options *const options[2] = {methods->base, methods->options};
  sbs_status status = SBS_OK;
  for (int m = 0; m < 2 && !status; m++) {
    sbs_deform_options alone = sbs_default_deform_options();
    alone.method = options[m]->method;
    alone.rotation = options[m]->rotation;
    alone.center = options[m]->center;
    alone.damping = options[m]->damping;
    alone.rcond = options[m]->rcond;
    alone.threads = methods->options->threads;
    alone.shapes = methods->options->shapes;
    alone.shape_weights = methods->options->shape_weights;
    status = sbs_skin_deform(run->skin, pose, &alone, of->positions[m], of->normals[m], NULL, fault);
  }
  return status;
}

/* v' = (1 - a) v_0 + a v_1 */
static double split_position(const sbs_gradient_run *run, const blended *of, size_t vertex, double amount) {
  const sbs_scalar scalar = run->gradient->scalar;
  double by_amount = 0.0;
  for (size_t i = 3 * vertex; i < 3 * vertex + 3; i++) {
    const double g = run->upstream.positions ? sbs_scalar_get(run->upstream.positions, scalar, i) : 0.0;
    by_amount += g * (sbs_scalar_get(of->positions[1], scalar, i) - sbs_scalar_get(of->positions[0], scalar, i));
    sbs_scalar_put(of->positions[0], scalar, i, (1.0 - amount) * g);
    sbs_scalar_put(of->positions[1], scalar, i, amount * g);
  }
  return by_amount;
}

/* n' is the same of the normals, of unit length; where they cancel, it has no gradient. */
static double split_normal(const sbs_gradient_run *run, const blended *of, size_t vertex, double amount) {
  const sbs_scalar scalar = run->gradient->scalar;
  double n[2][3], g[3], sum[3], square = 0.0, along = 0.0, by_amount = 0.0;
  for (size_t i = 0; i < 3; i++) {
    for (int m = 0; m < 2; m++) n[m][i] = sbs_scalar_get(of->normals[m], scalar, 3 * vertex + i);
    g[i] = sbs_scalar_get(run->upstream.normals, scalar, 3 * vertex + i);
    sum[i] = (1.0 - amount) * n[0][i] + amount * n[1][i];
    square += sum[i] * sum[i];
    along += sum[i] * g[i];
  }
  const double per_length = square > 1e-24 ? 1.0 / sqrt(square) : 0.0;
  for (size_t i = 0; i < 3; i++) {
    g[i] = per_length * (g[i] - along * per_length * per_length * sum[i]);
    by_amount += g[i] * (n[1][i] - n[0][i]);
    sbs_scalar_put(of->normals[0], scalar, 3 * vertex + i, (1.0 - amount) * g[i]);
    sbs_scalar_put(of->normals[1], scalar, 3 * vertex + i, amount * g[i]);
  }
  return by_amount;
}

static sbs_status run_blended(sbs_gradient_run *run, const sbs_pose *pose, const sbs_methods *methods, int threads,
                              sbs_fault *fault) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_gradient_upstream upstream = run->upstream;
  const sbs_deform_options *const options[2] = {methods->base, methods->options};
  const size_t size = sbs_scalar_size(gradient->scalar), count = gradient->vertex_count;
  blended of = {{NULL}, {NULL}};
  const sbs_amounts amounts = sbs_amounts_in(methods->options);
  sbs_status status = sbs_check_amounts(amounts, 0, count, fault);
  if (status) return status;
  for (int m = 0; m < 2; m++) {
    of.positions[m] = sbs_arena_take(&run->arena, count, 3 * size);
    if (upstream.normals) of.normals[m] = sbs_arena_take(&run->arena, count, 3 * size);
  }
  if (run->arena.failed) status = sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  if (!status) status = deform_apart(run, pose, methods, &of, fault);
  for (size_t v = 0; v < count && !status; v++) {
    const double amount = sbs_scalar_get(amounts.numbers, amounts.scalar, v);
    double by_amount = split_position(run, &of, v, amount);
    if (upstream.normals) by_amount += split_normal(run, &of, v, amount);
    if (run->result.amount) sbs_scalar_put(run->result.amount, gradient->scalar, v, by_amount);
  }
  for (int m = 0; m < 2 && !status; m++) {
    run->options = options[m];
    run->upstream.positions = upstream.positions ? of.positions[m] : NULL;
    run->upstream.normals = of.normals[m];
    run->adds = m;
    status = run_back(run, threads);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------------- public -- */

/* What has no gradient. */
static sbs_status check_method(const sbs_deform_options *options, int is_base, sbs_fault *fault) {
  if (options->method != SBS_METHOD_SPHERICAL) return SBS_OK;
  if (options->rotation == SBS_ROTATION_AVERAGE) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, is_base ? "base.rotation" : "rotation");
  }
  if (options->center == SBS_CENTER_JOINT_SET && options->rcond > 0.0) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, is_base ? "base.rcond" : "rcond", options->rcond, 0.0);
  }
  return SBS_OK;
}

sbs_status sbs_gradient_check(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                              const sbs_methods *methods, const sbs_gradient_upstream *upstream,
                              const sbs_gradient_result *result, sbs_fault *fault) {
  if (skin->vertex_count != gradient->vertex_count || skin->set_count != gradient->set_count ||
      skin->joint_count != gradient->joint_count || skin->scalar != gradient->scalar) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "skin");
  }
  const int by_shapes = result->shape_weights || result->shaped_positions || result->shaped_normals;
  if (by_shapes && !methods->options->shapes) return sbs_fault_in(fault, SBS_ERROR_OPTION, "shapes");
  if (desc->vertex_count != skin->vertex_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "vertex_count");
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (upstream->normals && !desc->rest_normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normals");
  if (!skin->twist && result->twist_angles) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist_angles");
  if (!skin->twist && result->twist_shares) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist_shares");
  if (skin->twist && !desc->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (skin->twist && 2 * desc->influences_per_vertex != gradient->columns) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "influences_per_vertex");
  }
  if (result->amount && !methods->base) return sbs_fault_in(fault, SBS_ERROR_OPTION, "amount");
  const sbs_deform_options *const options[2] = {methods->options, methods->base};
  for (int m = 0; m < 2; m++) {
    const sbs_status status = options[m] ? check_method(options[m], m, fault) : SBS_OK;
    if (status) return status;
    if (options[m] && options[m]->center == SBS_CENTER_OPTIMIZED && options[m]->method == SBS_METHOD_SPHERICAL &&
        !desc->centers) {
      return sbs_fault_in(fault, SBS_ERROR_OPTION, "centers");
    }
  }
  return SBS_OK;
}

sbs_status sbs_gradient_allocate_run(sbs_gradient_run *run, int threads, const sbs_allocator *allocator) {
  const sbs_skin *skin = run->skin;
  const size_t slots = skin->set_offsets[skin->set_count];
  sbs_arena *arena = &run->arena;
  *arena = sbs_arena_from(allocator);
  run->work_size = sbs_aligned(sbs_gradient_work_size(skin->max_influences));
  run->joints = sbs_arena_take(arena, skin->joint_count, sizeof *run->joints);
  run->kinds = sbs_arena_take(arena, skin->joint_count, sizeof *run->kinds);
  run->stretches = sbs_arena_take(arena, skin->joint_count, sizeof *run->stretches);
  run->constants =
      sbs_arena_take(arena, skin->set_count * SBS_GRADIENT_BASE + slots * SBS_GRADIENT_ROW, sizeof *run->constants);
  run->in_double = sbs_arena_take(arena, skin->set_count, sizeof *run->in_double);
  run->signs = sbs_arena_take(arena, skin->set_count, sizeof *run->signs);
  run->sign_room = sbs_arena_take(arena, slots, skin->max_influences);
  run->centers = sbs_arena_take(arena, skin->set_count, sizeof *run->centers);
  run->sums = sbs_arena_take(arena, skin->set_count, sizeof *run->sums);
  run->by_points = sbs_arena_take(arena, skin->set_count, sizeof *run->by_points);
  run->totals_at = sbs_arena_take(arena, run->gradient->part_count + 1, sizeof *run->totals_at);
  run->slots = sbs_arena_take(arena, slots, sizeof *run->slots);
  run->work = sbs_arena_take(arena, (size_t)threads, run->work_size);
  if (arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  memset((void *)run->signs, 0, skin->set_count * sizeof *run->signs);
  return SBS_OK;
}

sbs_status sbs_gradient_deform(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                               const sbs_pose *pose, const sbs_deform_options *options,
                               const sbs_gradient_upstream *upstream, const sbs_gradient_result *result,
                               sbs_fault *fault) {
  if (!gradient) return sbs_fault_in(fault, SBS_ERROR_NULL, "gradient");
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!upstream) return sbs_fault_in(fault, SBS_ERROR_NULL, "upstream");
  if (!result) return sbs_fault_in(fault, SBS_ERROR_NULL, "result");
  const sbs_deform_options defaults = sbs_default_deform_options();
  sbs_methods methods;
  sbs_status status = sbs_choose_methods(skin, options ? options : &defaults, 1, &methods, fault);
  if (!status) status = sbs_gradient_check(gradient, skin, desc, &methods, upstream, result, fault);
  if (!status) status = sbs_check_skin_poses(skin, pose, 1, fault);
  if (status) return status;

  const sbs_allocator *allocator = &gradient->allocator;
  sbs_gradient_twist twist;
  const sbs_status posed = sbs_gradient_begin_twist(gradient, skin, pose, result, &twist);
  sbs_gradient_shapes shaped;
  sbs_gradient_run run = {.gradient = gradient,
                          .skin = skin,
                          .desc = &shaped.desc,
                          .options = methods.options,
                          .upstream = *upstream,
                          .result = twist.result};
  const double time = (double)skin->vertex_count * VERTEX_TIME + (double)skin->set_count * SET_TIME;
  const int threads = sbs_choose_threads(methods.options->threads, methods.base ? 2.0 * time : time);
  status = sbs_gradient_allocate_run(&run, threads, allocator);
  if (!status) status = sbs_gradient_begin_shapes(skin, desc, methods.options, result, &run.arena, &shaped);
  if (status) sbs_fault_in(fault, status, NULL);
  if (!status) {
    run.result.rest_positions = shaped.by_positions;
    run.result.rest_normals = shaped.by_normals;
    run.by_centroids = shaped.by_centroids;
  }
  if (!status && posed) {
    status = sbs_fault_in(fault, posed, posed == SBS_ERROR_OUT_OF_MEMORY ? NULL : "skinning_matrices");
  }
  void *context[2] = {&run, &twist.pose};
  if (!status) {
    status = sbs_share_work(threads, skin->joint_count, JOINTS_CHUNK, prepare_joints, context);
    if (status) sbs_fault_in(fault, status, "skinning_matrices");
  }
  if (!status) {
    status = allocate_sums(&run, &methods);
    if (status) sbs_fault_in(fault, status, NULL);
  }
  if (!status && methods.base) {
    status = run_blended(&run, pose, &methods, threads, fault);
  } else if (!status) {
    status = run_back(&run, threads);
    if (status) sbs_fault_in(fault, status, NULL);
  }
  if (!status) {
    sbs_gradient_finish_shapes(skin, desc, methods.options, result, &shaped);
    status = sbs_gradient_finish_twist(gradient, skin, desc, pose, result, &twist);
    if (status) sbs_fault_in(fault, status, "skinning_matrices");
  }
  sbs_arena_release(&run.arena);
  sbs_gradient_release_twist(gradient, &twist);
  return status;
}
