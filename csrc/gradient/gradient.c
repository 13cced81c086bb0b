/* SPDX-License-Identifier: MIT */
/*
 * The gradient of a deformation, by the chain rule from its end to its start. The pose is prepared (pose/posed.c). Then
 * gradients go from vertices to the rows of their joints (gradient/vertices.c) and to the centers of joint sets
 * (gradient/centers.c), from rows and centers to matrices (gradient/joints.c), from the frames of a twist to the
 * skeleton (gradient/twist.c), and from the shaped mesh to the mesh and the shapes (gradient/shapes.c).
 */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/known_options.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/options.h"
#include "gradient/run.h"
#include "gradient/shapes.h"
#include "gradient/twist.h"
#include "pose/twist.h"

enum {
  SETS_CHUNK = 16,
  /* Blocks of a chunk, at least; and the most chunks, for each has a row for every joint. */
  CHUNK_BLOCKS = 32,
  MOST_CHUNKS = 64,
  /* Nanoseconds that one thread takes for a vertex and a joint set, about. */
  VERTEX_TIME = 50,
  SET_TIME = 300
};

/* -------------------------------------------------------------------------------------------------------- checks -- */

/* Refuses methods and options without a gradient. */
static sbs_status check_method(const sbs_deform_options *options, sbs_fault *fault) {
  static const char *const known[] = {"method",
                                      "center",
                                      "damping",
                                      "amount",
                                      "amount_scalar",
                                      "rest_positions",
                                      "rest_positions_stride",
                                      "shapes",
                                      "shape_weights",
                                      "threads",
                                      "positions_stride",
                                      "normals_stride",
                                      "scratch",
                                      "scratch_size"};
  sbs_deform_options checked = *options;
  if (options->method != SBS_METHOD_SPHERICAL) checked.rotation = SBS_ROTATION_QLERP;
  if (!sbs_has_set_centers(options)) checked.rcond = 0.0;
  return sbs_refuse_options(&checked, known, sizeof known / sizeof *known, fault);
}

static sbs_status check_result(const sbs_skin *skin, const sbs_deform_options *options,
                               const sbs_gradient_result *result, sbs_fault *fault) {
  const int by_shapes = result->shape_weights || result->shaped_positions || result->shaped_normals;
  if (by_shapes && !options->shapes) return sbs_fault_in(fault, SBS_ERROR_OPTION, "shapes");
  if (!skin->twist && result->twist_angles) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist_angles");
  if (!skin->twist && result->twist_shares) return sbs_fault_in(fault, SBS_ERROR_OPTION, "twist_shares");
  if (result->amount && !options->amount) return sbs_fault_in(fault, SBS_ERROR_OPTION, "amount");
  return SBS_OK;
}

static sbs_status check_desc(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                             sbs_fault *fault) {
  if (skin->vertex_count != gradient->vertex_count || skin->set_count != gradient->set_count ||
      skin->joint_count != gradient->joint_count || skin->scalar != gradient->scalar) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "skin");
  }
  if (desc->vertex_count != skin->vertex_count) return sbs_fault_in(fault, SBS_ERROR_OPTION, "vertex_count");
  if (skin->twist && !desc->joint_weights) return sbs_fault_in(fault, SBS_ERROR_NULL, "joint_weights");
  if (skin->twist && !desc->rest_positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "rest_positions");
  if (skin->twist && 2 * desc->influences_per_vertex != gradient->columns) {
    return sbs_fault_in(fault, SBS_ERROR_OPTION, "influences_per_vertex");
  }
  return SBS_OK;
}

/* Checks all arguments but the upstream gradient. */
static sbs_status check(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                        const sbs_pose *pose, const sbs_deform_options *options, const sbs_gradient_result *result,
                        sbs_fault *fault) {
  sbs_status status = sbs_check_deform_options(skin, options, 1, fault);
  if (!status) status = check_method(options, fault);
  if (!status) status = check_desc(gradient, skin, desc, fault);
  if (!status) status = check_result(skin, options, result, fault);
  return status ? status : sbs_check_skin_poses(skin, pose, 1, fault);
}

/* ----------------------------------------------------------------------------------------------------------- run -- */

/* Where the numbers are that not all rows have. */
static sbs_gradient_rows arrange_rows(const sbs_gradient_run *run) {
  const sbs_posed *posed = &run->posed;
  const int turns = posed->request.rotations, stretches = turns && posed->is_taken_apart;
  const int is_spherical = run->options->method == SBS_METHOD_SPHERICAL, has_normals = run->upstream.normals != NULL;
  sbs_gradient_rows rows = {.width = turns ? SBS_BY_OTHERS : SBS_BY_QUATERNION};
  if (stretches && is_spherical) {
    rows.rotation = rows.width;
    rows.stretch = rows.rotation + 9;
    rows.width += 18;
  }
  if (has_normals && (stretches || !turns)) {
    rows.normal = rows.width;
    rows.width += 9;
  }
  if (has_normals && stretches) {
    rows.inverse = rows.width;
    rows.width += 9;
  }
  rows.unused = rows.width;
  rows.products = rows.width = (rows.width + 3) / 4 * 4;
  if (run->options->method == SBS_METHOD_DUAL_QUATERNION) rows.width += 16;
  return rows;
}

size_t sbs_gradient_work_size(const sbs_skin *skin) {
  const size_t influences = skin->max_influences + SBS_MORE_JOINTS + 1;
  return influences * (SBS_BY_MOST + 5) * 8; /* as begin_vertices places them, of eight lanes at most */
}

/* Completes a run by its pose and its memory. */
static void begin_run(sbs_gradient_run *run, const sbs_pose *pose, sbs_arena *arena, int threads) {
  const sbs_skin *skin = run->skin;
  const sbs_shapes *shapes = run->options->shapes;
  sbs_place_posed(&run->posed, skin, arena);
  run->posed.skin = skin;
  run->posed.pose = *pose;
  run->posed.request.rotations = sbs_has_rotations(run->options);
  run->posed.request.normals = run->upstream.normals != NULL;
  run->posed.request.solves_all = 1;
  run->posed.request.damping = run->options->damping;
  if (sbs_has_set_centers(run->options)) {
    run->posed.request.sets = skin->solve_order;
    run->posed.request.set_count = skin->solve_count;
  }
  run->rest = (sbs_rest){.skin = skin,
                         .positions = run->options->rest_positions,
                         .stride = run->options->rest_positions_stride,
                         .shapes = shapes};
  if (!run->rest.stride) run->rest.stride = 3 * sbs_scalar_size(skin->scalar);
  void *sums = sbs_arena_take(arena, 1, sbs_shapes_scratch_size(shapes));
  if (shapes && sums) run->rest.sums = sbs_place_shape_sums(shapes, sums);
  run->work = sbs_arena_take(arena, (size_t)threads, sbs_gradient_work_size(skin) * sizeof *run->work);
}

/* Takes memory for the gradients by rows and by centers. */
static void take_sums(sbs_gradient_run *run, sbs_arena *arena) {
  const sbs_skin *skin = run->skin;
  const size_t least = (skin->block_count + MOST_CHUNKS - 1) / MOST_CHUNKS;
  run->chunk_blocks = least > CHUNK_BLOCKS ? least : CHUNK_BLOCKS;
  run->chunk_count = (skin->block_count + run->chunk_blocks - 1) / run->chunk_blocks;
  if (run->result.skinning_matrices) {
    run->by_rows = sbs_arena_take(arena, run->chunk_count, skin->joint_count * run->rows.width * sizeof *run->by_rows);
  }
  if (run->posed.request.set_count && (run->result.skinning_matrices || run->result.rest_positions)) {
    run->by_centers = sbs_arena_take(arena, skin->vertex_count, sizeof *run->by_centers);
    run->by_centroids = sbs_arena_take(arena, skin->set_count, sizeof *run->by_centroids);
    run->by_set_joints = sbs_arena_take(arena, skin->set_offsets[skin->set_count], sizeof *run->by_set_joints);
    if (!arena->failed) memset(run->by_centroids, 0, skin->set_count * sizeof *run->by_centroids);
  }
}

static sbs_status differentiate(void *context, sbs_share chunks, int worker) {
  const sbs_gradient_run *run = context;
  sbs_choose_gradient_steps(run->skin->isa)
      ->differentiate(run, run->work + (size_t)worker * sbs_gradient_work_size(run->skin), chunks.begin, chunks.end);
  return SBS_OK;
}

static sbs_status finish_centers(void *context, sbs_share sets, int worker) {
  const sbs_gradient_run *run = context;
  (void)worker;
  sbs_choose_gradient_steps(run->skin->isa)->finish_centers(run, sets.begin, sets.end);
  return SBS_OK;
}

static sbs_status run_back(sbs_gradient_run *run, sbs_joint_gradient *by_joints, int threads) {
  sbs_status status = sbs_share_work(threads, run->chunk_count, 1, differentiate, run);
  if (!status && run->by_centers) {
    status = sbs_share_work(threads, run->posed.request.set_count, SETS_CHUNK, finish_centers, run);
  }
  if (!status && run->result.skinning_matrices) sbs_gradient_finish_joints(run, by_joints);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- public -- */

/* The last steps of a run: to the skeleton, and to the mesh without shapes. */
typedef struct ends {
  sbs_gradient_twist twist;
  sbs_gradient_shapes shaped;
} ends;

static sbs_status pose_and_run(sbs_gradient_run *run, sbs_arena *arena, int threads) {
  sbs_status status = sbs_pose_skin(&run->posed, threads);
  if (status) return status;
  run->rows = arrange_rows(run);
  take_sums(run, arena);
  sbs_joint_gradient *by_joints = sbs_arena_take(arena, run->skin->joint_count, sizeof *by_joints);
  return arena->failed ? SBS_ERROR_OUT_OF_MEMORY : run_back(run, by_joints, threads);
}

static sbs_status run_deform(sbs_gradient_run *run, const sbs_pose *pose, const sbs_gradient_result *result, ends *made,
                             sbs_arena *arena, int threads) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_deform_options *options = run->options;
  begin_run(run, pose, arena, threads);
  sbs_status status = sbs_gradient_begin_twist(gradient, run->skin, result, &made->twist);
  run->result = made->twist.result;
  if (!status) status = sbs_gradient_begin_shapes(&run->rest, result, arena, &made->shaped);
  if (status || arena->failed) return SBS_ERROR_OUT_OF_MEMORY;
  run->result.rest_positions = made->shaped.by_positions;
  run->result.rest_normals = made->shaped.by_normals;
  if (options->shapes) sbs_sum_shapes(&run->rest, options->shape_weights, 0, options->shapes->changed_count);
  status = pose_and_run(run, arena, threads);
  if (status) return status;
  sbs_gradient_finish_rest(run, result, &made->shaped);
  const int moves_shares = !run->desc->twist_positions && !options->rest_positions;
  return sbs_gradient_finish_twist(gradient, run->skin, run->desc, moves_shares, pose, result, &made->twist);
}

/* Names the argument that a fault is in. */
static sbs_status name_fault(sbs_status status, sbs_fault *fault) {
  const int is_pose = status == SBS_ERROR_NO_CONVERGENCE || status == SBS_ERROR_INTERNAL;
  return status ? sbs_fault_in(fault, status, is_pose ? "skinning_matrices" : NULL) : SBS_OK;
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
  if (!options) options = &defaults;
  sbs_status status = check(gradient, skin, desc, pose, options, result, fault);
  if (!status && (upstream->normals || result->rest_normals) && (!skin->normals || !desc->rest_normals)) {
    status = sbs_fault_in(fault, SBS_ERROR_OPTION, upstream->normals ? "normals" : "rest_normals");
  }
  if (!status && options->amount) status = sbs_check_amounts(options, 0, skin->vertex_count, fault);
  if (status) return status;
  const double time = (double)skin->vertex_count * VERTEX_TIME + (double)skin->set_count * SET_TIME;
  sbs_arena arena = sbs_arena_from(&gradient->allocator);
  sbs_gradient_run run = {.gradient = gradient, .skin = skin, .desc = desc, .options = options, .upstream = *upstream};
  ends made;
  status = run_deform(&run, pose, result, &made, &arena, sbs_choose_threads(options->threads, time));
  sbs_gradient_release_twist(gradient, &made.twist);
  sbs_arena_release(&arena);
  return name_fault(status, fault);
}

sbs_status sbs_gradient_weight_jacobian(const sbs_gradient *gradient, const sbs_skin *skin, const sbs_skin_desc *desc,
                                        const sbs_pose *pose, const sbs_deform_options *options, size_t vertex,
                                        double *jacobian, sbs_fault *fault) {
  if (!gradient) return sbs_fault_in(fault, SBS_ERROR_NULL, "gradient");
  if (!skin) return sbs_fault_in(fault, SBS_ERROR_NULL, "skin");
  if (!desc) return sbs_fault_in(fault, SBS_ERROR_NULL, "desc");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!jacobian) return sbs_fault_in(fault, SBS_ERROR_NULL, "jacobian");
  const sbs_deform_options defaults = sbs_default_deform_options();
  if (!options) options = &defaults;
  const sbs_gradient_result result = {0};
  sbs_status status = check(gradient, skin, desc, pose, options, &result, fault);
  if (!status && options->shapes) status = sbs_fault_in(fault, SBS_ERROR_OPTION, "shapes");
  if (!status && vertex >= skin->vertex_count) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex", (double)vertex, (double)skin->vertex_count);
  }
  if (!status && options->amount) status = sbs_check_amounts(options, vertex, vertex + 1, fault);
  if (status) return status;
  sbs_arena arena = sbs_arena_from(&gradient->allocator);
  sbs_gradient_run run = {.gradient = gradient, .skin = skin, .desc = desc, .options = options};
  begin_run(&run, pose, &arena, 1);
  double *by_columns = sbs_arena_take(&arena, gradient->columns, 3 * sizeof *by_columns);
  status = arena.failed ? SBS_ERROR_OUT_OF_MEMORY : sbs_pose_skin(&run.posed, 1);
  if (!status) {
    run.rows = arrange_rows(&run);
    sbs_choose_gradient_steps(skin->isa)->find_jacobian(&run, run.work, vertex, by_columns);
    sbs_gradient_gather_jacobian(gradient, skin, vertex, by_columns, jacobian);
  }
  sbs_arena_release(&arena);
  return name_fault(status, fault);
}

#define STEPS(constant, name) \
  {.differentiate = sbs_gradient_differentiate_##name, \
   .find_jacobian = sbs_gradient_find_jacobian_##name, \
   .finish_centers = sbs_gradient_finish_centers_##name},

const sbs_gradient_steps *sbs_choose_gradient_steps(sbs_isa isa) {
  static const sbs_gradient_steps steps[] = {SBS_EACH_ISA(STEPS)};
  return steps + isa;
}
