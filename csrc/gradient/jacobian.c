/* SPDX-License-Identifier: MIT */
#include <stdalign.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/scalar.h"
#include "deform/amounts.h"
#include "gradient/run.h"
#include "gradient/twist.h"
#include "pose/twist.h"

enum {
  LANES = SBS_GRADIENT_LANES
};

/* Where a vertex is in the arrangement. */
typedef struct place {
  size_t part, block, lane; /* the block among all */
} place;

static place find_vertex(const sbs_gradient *gradient, size_t vertex) {
  size_t at = 0, part = 0;
  while (gradient->vertices[at] != (int32_t)vertex) at++;
  const size_t block = at / LANES;
  while (part + 1 < gradient->part_count && gradient->parts[part + 1].first_block <= block) part++;
  return (place){part, block, at % LANES};
}

/* A block of which the lanes are one vertex, with the three axes as the gradients by its deformed position. */
typedef struct buffers {
  alignas(64) double scales[LANES];        /* of the skin's type, as rest and upstream */
  double rest[9], centers[9], upstream[9]; /* (3, 3) */
  uint16_t heaviest[LANES];
  int32_t vertices[LANES];
  char *weights;   /* (n, LANES) of the skin's type, aligned */
  uint16_t *slots; /* (3, K) */
  char *found;     /* (3, K) of the skin's type */
} buffers;

static void fill(const sbs_gradient_run *run, place at, size_t vertex, buffers *of) {
  const sbs_gradient *gradient = run->gradient;
  const sbs_skin_desc *desc = run->desc;
  const sbs_scalar scalar = gradient->scalar;
  const size_t size = sbs_scalar_size(scalar), stride = desc->rest_positions_stride, columns = gradient->columns;
  const sbs_gradient_part *part = gradient->parts + at.part;
  const size_t n = sbs_set_size(run->skin, (size_t)part->set);
  const size_t weights = part->weights + (at.block - part->first_block) * n * LANES;
  const char *position = (const char *)desc->rest_positions + vertex * (stride ? stride : 3 * size);
  for (size_t copy = 0; copy < 3; copy++) {
    memcpy((char *)of->rest + 3 * copy * size, position, 3 * size);
    if (desc->centers) memcpy(of->centers + 3 * copy, desc->centers + 3 * vertex, 3 * sizeof(double));
    memcpy(of->slots + copy * columns, gradient->slots + vertex * columns, columns * sizeof *of->slots);
  }
  for (size_t lane = 0; lane < LANES; lane++) {
    of->vertices[lane] = lane < 3 ? (int32_t)lane : 2;
    of->heaviest[lane] = gradient->heaviest[at.block * LANES + at.lane];
    sbs_scalar_put(of->scales, scalar, lane, sbs_scalar_get(gradient->scales, scalar, at.block * LANES + at.lane));
    for (size_t i = 0; i < n; i++) {
      sbs_scalar_put(of->weights, scalar, i * LANES + lane,
                     sbs_scalar_get(gradient->weights, scalar, weights + i * LANES + at.lane));
    }
  }
}

/* By one method, times a factor; the second is added to the first. */
static void differentiate(sbs_gradient_run *run, place at, const sbs_deform_options *options, double factor, int adds,
                          buffers *of) {
  run->options = options;
  const sbs_gradient_batches *batches = sbs_choose_gradient_batches(run->skin->isa);
  const int32_t set = run->gradient->parts[at.part].set;
  if (sbs_choose_gradient_formula(run, (size_t)set, 0) == SBS_GRADIENT_JOINT_SET) {
    batches->find_centers(run, &set, 1);
  }
  batches->pose_sets(run, (size_t)set, (size_t)set + 1);
  for (size_t i = 0; i < 9; i++) sbs_scalar_put(of->upstream, run->gradient->scalar, i, i % 4 ? 0.0 : factor);
  sbs_gradient_args args = sbs_gradient_part_args(run, at.part);
  args.weights = of->weights;
  args.heaviest = of->heaviest;
  args.vertices = of->vertices;
  args.vertex_count = 3;
  args.rest_positions = of->rest;
  args.rest_positions_stride = 3 * sbs_scalar_size(run->gradient->scalar);
  args.centers = of->centers;
  args.upstream = (sbs_gradient_upstream){.positions = of->upstream};
  args.result = (sbs_gradient_result){.joint_weights = of->found};
  args.adds = adds;
  args.slots = of->slots;
  args.places = NULL;
  args.mesh_vertex_count = 3;
  args.scales = of->scales;
  args.work = run->work;
  sbs_gradient_differentiate(run, at.part, &args);
}

static sbs_status pose_set_joints(const sbs_gradient_run *run, const sbs_pose *pose, size_t set) {
  const sbs_skin *skin = run->skin;
  const int32_t *joints = skin->set_joints + skin->set_offsets[set];
  sbs_status status = SBS_OK;
  for (size_t k = 0; k < sbs_set_size(skin, set) && !status; k++) {
    status = sbs_gradient_pose_joints(run, pose, (size_t)joints[k], (size_t)joints[k] + 1);
  }
  return status;
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
  const sbs_gradient_upstream upstream = {0};
  const sbs_gradient_result result = {0};
  sbs_methods methods;
  sbs_status status = sbs_choose_methods(skin, options ? options : &defaults, 1, &methods, fault);
  if (!status) status = sbs_gradient_check(gradient, skin, desc, &methods, &upstream, &result, fault);
  if (!status && methods.options->shapes) status = sbs_fault_in(fault, SBS_ERROR_OPTION, "shapes");
  if (!status) status = sbs_check_skin_poses(skin, pose, 1, fault);
  if (!status && vertex >= skin->vertex_count) {
    status = sbs_fault_number(fault, SBS_ERROR_OPTION, "vertex", (double)vertex, (double)skin->vertex_count);
  }
  if (!status && methods.base) status = sbs_check_amounts(sbs_amounts_in(methods.options), vertex, vertex + 1, fault);
  if (status) return status;

  const sbs_allocator *allocator = &gradient->allocator;
  const size_t columns = gradient->columns;
  const place at = find_vertex(gradient, vertex);
  const size_t set = (size_t)gradient->parts[at.part].set;
  sbs_gradient_run run = {.gradient = gradient, .skin = skin, .desc = desc, .options = methods.options};
  buffers of;
  memset(&of, 0, sizeof of);
  status = sbs_gradient_allocate_run(&run, 1, allocator);
  of.weights = sbs_arena_take(&run.arena, sbs_set_size(skin, set) + 1, LANES * sizeof(double));
  of.slots = sbs_arena_take(&run.arena, columns, 3 * sizeof *of.slots);
  of.found = sbs_arena_take(&run.arena, columns, 3 * sizeof(double));
  double *spread = sbs_arena_take(&run.arena, columns, 3 * sizeof *spread);
  sbs_gradient_twist twist;
  if (run.arena.failed) status = SBS_ERROR_OUT_OF_MEMORY;
  const sbs_status posed = sbs_gradient_begin_twist(gradient, skin, pose, &result, &twist);
  if (!status) status = posed;
  if (!status) status = pose_set_joints(&run, &twist.pose, set);
  if (status) {
    sbs_fault_in(fault, status, status == SBS_ERROR_OUT_OF_MEMORY ? NULL : "skinning_matrices");
  } else {
    fill(&run, at, vertex, &of);
    const double amount =
        methods.base ? sbs_scalar_get(methods.options->amount, methods.options->amount_scalar, vertex) : 1.0;
    differentiate(&run, at, methods.options, amount, 0, &of);
    if (methods.base) differentiate(&run, at, methods.base, 1.0 - amount, 1, &of);
    for (size_t i = 0; i < 3 * columns; i++) spread[i] = sbs_scalar_get(of.found, gradient->scalar, i);
    sbs_gradient_gather_jacobian(gradient, skin, vertex, spread, jacobian);
  }
  sbs_gradient_release_twist(gradient, &twist);
  sbs_arena_release(&run.arena);
  return status;
}
