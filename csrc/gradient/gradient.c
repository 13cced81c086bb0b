/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/options.h"
#include "gradient/run.h"
#include "pose/batches.h"
#include "pose/check.h"

/* Chunks of work, and what a vertex and a joint set take one thread, about, in nanoseconds. */
enum {
  JOINTS_CHUNK = 64,
  SETS_CHUNK = 16,
  PARTS_CHUNK = 2,
  VERTEX_TIME = 8,
  SET_TIME = 1000
};

/* ------------------------------------------------------------------------------------------------- by one method -- */

static sbs_status prepare_joints(void *context, sbs_share share, int worker) {
  const sbs_gradient_run *run = ((void **)context)[0];
  const sbs_pose *pose = ((void **)context)[1];
  (void)worker;
  const sbs_joints_args args = {.matrices = pose->skinning_matrices,
                                .scalar = pose->scalar,
                                .rows = pose->rows,
                                .normal_tolerance = 2.0 * sbs_scalar_epsilon(run->skin->scalar),
                                .joints = run->joints,
                                .kinds = run->kinds};
  sbs_joints_batch_of(run->skin->isa)(&args, share.begin, share.end);
  sbs_status status = SBS_OK;
  for (size_t j = share.begin; j < share.end && !status; j++) {
    status = sbs_decompose_joint(run->joints + j, run->kinds[j], run->stretches + j);
  }
  return status;
}

static sbs_status pose_sets(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  (void)worker;
  for (size_t set = sets.begin; set < sets.end; set++) sbs_gradient_pose_set(run, set);
  return SBS_OK;
}

static size_t stride_of(size_t stride, sbs_scalar scalar) {
  return stride ? stride : 3 * sbs_scalar_size(scalar);
}

static void differentiate_part(const sbs_gradient_run *run, size_t number, char *work) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_gradient_part *part = gradient->parts + number;
  const sbs_skin *skin = run->skin;
  const size_t set = (size_t)part->set, size = sbs_set_size(skin, set), first = part->first_block * SBS_GRADIENT_LANES;
  double origin[3];
  sbs_gradient_origin(run, set, origin);
  const sbs_gradient_args args = {
      .formula = sbs_gradient_formula_of(run, set, part->own),
      .stretched = sbs_gradient_is_stretched(run, set),
      .normals = run->upstream.normals != NULL,
      .one_joint = run->options->method == SBS_METHOD_RIGID,
      .constants = run->constants + set * SBS_GRADIENT_BASE + skin->set_offsets[set] * SBS_GRADIENT_ROW,
      .joint_count = size,
      .signs = run->signs[set],
      .damping = fmax(run->options->damping, SBS_WEIGHTED_DAMPING),
      .origin = {origin[0], origin[1], origin[2]},
      .scalar = gradient->scalar,
      .weights = (const char *)gradient->weights + part->weights * sbs_scalar_size(gradient->scalar),
      .heaviest = gradient->heaviest + first,
      .vertices = gradient->vertices + first,
      .vertex_count = (size_t)part->vertex_count,
      .rest_positions = run->desc->rest_positions,
      .rest_positions_stride = stride_of(run->desc->rest_positions_stride, gradient->scalar),
      .rest_normals = run->desc->rest_normals,
      .rest_normals_stride = stride_of(run->desc->rest_normals_stride, gradient->scalar),
      .centers = run->desc->centers,
      .upstream = run->upstream,
      .result = run->result,
      .adds = run->adds,
      .slots = gradient->slots,
      .scales = gradient->scales + first,
      .columns = gradient->columns,
      .width = run->width,
      .totals = run->totals + run->totals_at[number],
      .work = work,
  };
  sbs_gradient_kernel_of(skin->isa, run->in_double[set] ? SBS_FLOAT64 : SBS_FLOAT32)(&args);
}

static sbs_status differentiate_parts(void *context, sbs_share parts, int worker) {
  const sbs_gradient_run *run = context;
  for (size_t i = parts.begin; i < parts.end; i++) {
    differentiate_part(run, i, run->work + (size_t)worker * run->work_size);
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
      float *rest = run->result.rest_positions;
      for (size_t k = 0; k < 3 * count; k++) rest[3 * (size_t)vertices[k / 3] + k % 3] += more[k % 3];
    } else {
      double *rest = run->result.rest_positions;
      for (size_t k = 0; k < 3 * count; k++) rest[3 * (size_t)vertices[k / 3] + k % 3] += by[k % 3];
    }
  }
}

static sbs_status finish_sets(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  (void)worker;
  for (size_t set = sets.begin; set < sets.end; set++) {
    double by[3];
    if (sbs_gradient_finish_set(run, set, by) && run->result.rest_positions) add_to_rest(run, set, by);
  }
  return SBS_OK;
}

static void add_joint_gradient(sbs_joint_gradient *to, const sbs_joint_gradient *from) {
  double *sums = (double *)to;
  const double *more = (const double *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *sums; i++) sums[i] += more[i];
}

/* Every joint gets what each of its sets has for it, in their order. */
static sbs_status finish_joints(const sbs_gradient_run *run, const sbs_allocator *allocator) {
  const sbs_skin *skin = run->skin;
  sbs_joint_gradient *by = sbs_allocate(allocator, skin->joint_count, sizeof *by);
  if (!by) return SBS_ERROR_OUT_OF_MEMORY;
  memset(by, 0, skin->joint_count * sizeof *by);
  for (size_t k = 0; k < skin->set_offsets[skin->set_count]; k++) {
    add_joint_gradient(by + skin->set_joints[k], run->slots + k);
  }
  for (size_t j = 0; j < skin->joint_count; j++) {
    double *matrix = run->result.skinning_matrices + 12 * j;
    if (!run->adds) memset(matrix, 0, 12 * sizeof *matrix);
    sbs_gradient_finish_joint(run, j, by + j, matrix);
  }
  sbs_release(allocator, by);
  return SBS_OK;
}

/* How many numbers are summed up for each joint. */
static size_t choose_width(const sbs_gradient_run *run) {
  const sbs_deform_options *options = run->options;
  const int linear = sbs_gradient_moves_as_given(run);
  int stretched = 0;
  for (size_t j = 0; j < run->skin->joint_count; j++) stretched |= run->kinds[j] & SBS_JOINT_NONRIGID;
  size_t width = SBS_SUM_TURNING;
  if (options->method == SBS_METHOD_SPHERICAL && options->center == SBS_CENTER_WEIGHTED) width = SBS_SUM_STRETCH;
  if (stretched && !linear) width = SBS_SUM_NORMAL;
  return run->upstream.normals ? SBS_SUM_MOST : width;
}

/* Where the sums of each part are; then those of each set. Returns how many numbers there are. */
static size_t place_totals(sbs_gradient_run *run) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_skin *skin = run->skin;
  size_t at = 0;
  for (size_t i = 0; i < gradient->part_count; i++) {
    run->totals_at[i] = at;
    at += sbs_set_size(skin, (size_t)gradient->parts[i].set) * run->width + SBS_SUM_TAIL;
  }
  run->totals_at[gradient->part_count] = at;
  return at + skin->set_offsets[skin->set_count] * run->width + skin->set_count * SBS_SUM_TAIL;
}

static sbs_status run_back(sbs_gradient_run *run, int threads, const sbs_allocator *allocator) {
  const sbs_skin *skin = run->skin;
  run->width = choose_width(run);
  run->totals = sbs_allocate(allocator, place_totals(run), sizeof *run->totals);
  if (!run->totals) return SBS_ERROR_OUT_OF_MEMORY;
  sbs_status status = sbs_share_work(threads, skin->set_count, SETS_CHUNK, pose_sets, run);
  if (!status) {
    status = sbs_share_work(threads, run->gradient->part_count, PARTS_CHUNK, differentiate_parts, run);
  }
  if (!status) status = sbs_share_work(threads, skin->set_count, SETS_CHUNK, finish_sets, run);
  if (!status && run->result.skinning_matrices) status = finish_joints(run, allocator);
  sbs_release(allocator, run->totals);
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

static sbs_status check_amounts(const sbs_deform_options *options, size_t count, sbs_fault *fault) {
  for (size_t v = 0; v < count; v++) {
    const double amount = sbs_scalar_get(options->amount, options->amount_scalar, v);
    if (!isfinite(amount)) return sbs_fault_row(fault, SBS_ERROR_NOT_FINITE, "amount", v, amount, 1.0);
    if (amount < 0.0 || amount > 1.0) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}

static sbs_status run_blended(sbs_gradient_run *run, const sbs_pose *pose, const sbs_methods *methods, int threads,
                              const sbs_allocator *allocator, sbs_fault *fault) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_gradient_upstream upstream = run->upstream;
  const sbs_deform_options *const options[2] = {methods->base, methods->options};
  const size_t size = sbs_scalar_size(gradient->scalar), count = gradient->vertex_count;
  blended of = {{NULL}, {NULL}};
  sbs_status status = check_amounts(methods->options, count, fault);
  if (status) return status;
  for (int m = 0; m < 2; m++) {
    of.positions[m] = sbs_allocate(allocator, count, 3 * size);
    if (upstream.normals) of.normals[m] = sbs_allocate(allocator, count, 3 * size);
    if (!of.positions[m] || (upstream.normals && !of.normals[m])) status = SBS_ERROR_OUT_OF_MEMORY;
  }
  if (!status) status = deform_apart(run, pose, methods, &of, fault);
  for (size_t v = 0; v < count && !status; v++) {
    const double amount = sbs_scalar_get(methods->options->amount, methods->options->amount_scalar, v);
    double by_amount = split_position(run, &of, v, amount);
    if (upstream.normals) by_amount += split_normal(run, &of, v, amount);
    if (run->result.amount) sbs_scalar_put(run->result.amount, gradient->scalar, v, by_amount);
  }
  for (int m = 0; m < 2 && !status; m++) {
    run->options = options[m];
    run->upstream.positions = upstream.positions ? of.positions[m] : NULL;
    run->upstream.normals = of.normals[m];
    run->adds = m;
    status = run_back(run, threads, allocator);
  }
  for (int m = 0; m < 2; m++) {
    sbs_release(allocator, of.positions[m]);
    sbs_release(allocator, of.normals[m]);
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

static sbs_status check(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                        const sbs_methods *methods, const sbs_gradient_upstream *upstream,
                        const sbs_gradient_result *result, sbs_fault *fault) {
  if (skin->vertex_count != gradient->vertex_count || skin->set_count != gradient->set_count ||
      skin->joint_count != gradient->joint_count || skin->scalar != gradient->scalar) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "skin");
  }
  if (desc->vertex_count != skin->vertex_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "vertex_count");
  if (!desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (upstream->normals && !desc->rest_normals) return sbs_fault_in(fault, SBS_ERROR_OPTION, "normals");
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

/* The memory of a run, but for the sums. */
static sbs_status allocate_run(sbs_gradient_run *run, int threads, const sbs_allocator *allocator) {
  const sbs_skin *skin = run->skin;
  const size_t slots = skin->set_offsets[skin->set_count];
  run->work_size = sbs_aligned(sbs_gradient_work_size(skin->max_influences));
  run->joints = sbs_allocate(allocator, skin->joint_count, sizeof *run->joints);
  run->kinds = sbs_allocate(allocator, skin->joint_count, sizeof *run->kinds);
  run->stretches = sbs_allocate(allocator, skin->joint_count, sizeof *run->stretches);
  run->constants =
      sbs_allocate(allocator, skin->set_count * SBS_GRADIENT_BASE + slots * SBS_GRADIENT_ROW, sizeof *run->constants);
  run->in_double = sbs_allocate(allocator, skin->set_count, sizeof *run->in_double);
  run->signs = sbs_allocate(allocator, skin->set_count, sizeof *run->signs);
  run->sign_room = sbs_allocate(allocator, slots, skin->max_influences);
  run->centers = sbs_allocate(allocator, skin->set_count, sizeof *run->centers);
  run->totals_at = sbs_allocate(allocator, run->gradient->part_count + 1, sizeof *run->totals_at);
  run->slots = sbs_allocate(allocator, slots, sizeof *run->slots);
  run->work = sbs_allocate(allocator, (size_t)threads, run->work_size);
  const int has_all = run->joints && run->kinds && run->stretches && run->constants && run->in_double && run->signs &&
                      run->sign_room && run->centers && run->totals_at && run->slots && run->work;
  if (has_all) memset(run->signs, 0, skin->set_count * sizeof *run->signs);
  return has_all ? SBS_OK : SBS_ERROR_OUT_OF_MEMORY;
}

static void release_run(sbs_gradient_run *run, const sbs_allocator *allocator) {
  sbs_release(allocator, run->joints);
  sbs_release(allocator, run->kinds);
  sbs_release(allocator, run->stretches);
  sbs_release(allocator, run->constants);
  sbs_release(allocator, run->in_double);
  sbs_release(allocator, run->signs);
  sbs_release(allocator, run->sign_room);
  sbs_release(allocator, run->centers);
  sbs_release(allocator, run->totals_at);
  sbs_release(allocator, run->slots);
  sbs_release(allocator, run->work);
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
  sbs_status status = sbs_choose_methods(skin, options ? options : &defaults, &methods, fault);
  if (!status) status = check(gradient, skin, desc, &methods, upstream, result, fault);
  if (!status) status = sbs_check_poses(pose, 1, skin->joint_count, fault);
  if (status) return status;

  const sbs_allocator *allocator = &gradient->allocator;
  sbs_gradient_run run = {.gradient = gradient,
                          .skin = skin,
                          .desc = desc,
                          .options = methods.options,
                          .upstream = *upstream,
                          .result = *result};
  const double time = (double)skin->vertex_count * VERTEX_TIME + (double)skin->set_count * SET_TIME;
  const int threads = sbs_choose_threads(methods.options->threads, methods.base ? 2.0 * time : time);
  status = allocate_run(&run, threads, allocator);
  if (status) sbs_fault_in(fault, status, NULL);
  void *context[2] = {&run, (void *)(uintptr_t)pose};
  if (!status) {
    status = sbs_share_work(threads, skin->joint_count, JOINTS_CHUNK, prepare_joints, context);
    if (status) sbs_fault_in(fault, status, "skinning_matrices");
  }
  if (!status && methods.base) {
    status = run_blended(&run, pose, &methods, threads, allocator, fault);
  } else if (!status) {
    status = run_back(&run, threads, allocator);
    if (status) sbs_fault_in(fault, status, NULL);
  }
  release_run(&run, allocator);
  return status;
}
