/* SPDX-License-Identifier: MIT */
#include "deform/plan.h"

#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/options.h"
#include "deform/palette.h"
#include "pose/twist.h"

/* ------------------------------------------------------------------------------------------------------- memory -- */

/* Lays out the scratch of a frame over memory, and the memory that frames of a call share. Returns its size. */
static size_t lay_out(const sbs_skin *skin, void *memory, sbs_frame *frame, void **amounts, int32_t **solved_sets) {
  const size_t size = sbs_scalar_size(skin->scalar), joints = skin->joint_count;
  sbs_arena arena = sbs_arena_over(memory);
  sbs_frame_tables *tables = &frame->tables;
  sbs_place_posed(&frame->posed, skin, &arena);
  tables->joints = sbs_arena_take(&arena, joints, SBS_ROW * size);
  tables->stretches = sbs_arena_take(&arena, joints, SBS_ROW * size);
  tables->normals = sbs_arena_take(&arena, joints, SBS_ROW * size);
  tables->dual = sbs_arena_take(&arena, joints, SBS_HALF_ROW * size);
  tables->centers = sbs_arena_take(&arena, skin->set_count, 4 * size);
  tables->arms = sbs_arena_take(&arena, skin->set_count, 4 * size);
  tables->arcs = sbs_arena_take(&arena, skin->set_count, 4 * size);
  tables->sets = sbs_arena_take(&arena, skin->set_offsets[skin->set_count] + 1, SBS_HALF_ROW * size);
  frame->exact = sbs_arena_take(&arena, skin->block_count, sizeof *frame->exact);
  frame->exact_work = sbs_arena_take(&arena, sbs_exact_work_size(skin->max_influences), sizeof(double));
  *amounts = sbs_arena_take(&arena, skin->block_count, SBS_BLOCK * size);
  *solved_sets = sbs_arena_take(&arena, skin->solve_count, sizeof **solved_sets);
  return arena.used;
}

size_t sbs_skin_scratch_size(const sbs_skin *skin) {
  sbs_frame frame;
  void *amounts;
  int32_t *solved_sets;
  return skin ? lay_out(skin, NULL, &frame, &amounts, &solved_sets) : 0;
}

/* Takes the caller's memory, and as many frames at once as fit in it; or allocates. */
static sbs_status take_memory(sbs_plan *plan, sbs_fault *fault) {
  const sbs_skin *skin = plan->common.skin;
  const sbs_deform_options *options = plan->common.options;
  plan->scratch_size = sbs_skin_scratch_size(skin) + sbs_shapes_scratch_size(options->shapes);
  if (!options->scratch) {
    plan->owned = sbs_allocate(&skin->allocator, (size_t)plan->frames_at_once, plan->scratch_size);
    plan->scratch = plan->owned;
    return plan->owned ? SBS_OK : sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  if (options->scratch_size < plan->scratch_size) {
    return sbs_fault_number(fault, SBS_ERROR_SCRATCH, "scratch_size", (double)options->scratch_size,
                            (double)plan->scratch_size);
  }
  if ((uintptr_t)options->scratch % SBS_ALIGNMENT) return sbs_fault_in(fault, SBS_ERROR_SCRATCH, "scratch");
  plan->scratch = options->scratch;
  const size_t room = options->scratch_size / plan->scratch_size;
  if ((size_t)plan->frames_at_once > room) plan->frames_at_once = plan->threads = (int)room;
  return SBS_OK;
}

void sbs_release_plan(sbs_plan *plan) {
  sbs_release(&plan->common.skin->allocator, plan->owned);
}

/* ------------------------------------------------------------------------------------------------------ threads -- */

/* Nanoseconds that one thread takes for a vertex, a joint and a joint set, about. */
enum {
  VERTEX_TIME = 2,
  EXACT_TIME = 20,
  JOINT_TIME = 40,
  SET_TIME = 30
};

static double vertex_time(const sbs_frame *frame) {
  if (!frame->positions) return 0.0;
  return frame->undone.positions || sbs_has_averages(frame->options) ? EXACT_TIME : VERTEX_TIME;
}

static void choose_threads(sbs_plan *plan) {
  const sbs_skin *skin = plan->common.skin;
  const int option = plan->common.options->threads;
  const double frame_time = (double)skin->vertex_count * vertex_time(&plan->common) +
                            (double)(skin->joint_count * JOINT_TIME + skin->set_count * SET_TIME);
  const int by_frames = sbs_choose_threads(option, frame_time * (double)plan->frame_count);
  const int has_enough = plan->frame_count >= (size_t)by_frames; /* else there would be threads with nothing to do */
  plan->threads = has_enough ? by_frames : sbs_choose_threads(option, frame_time);
  plan->frames_at_once = has_enough ? by_frames : 1;
}

/* -------------------------------------------------------------------------------------------------------- plan -- */

/* Copies the amounts, with 0 in the lanes past the last vertex. */
static sbs_status take_amounts(sbs_plan *plan, void *copies, sbs_fault *fault) {
  const sbs_skin *skin = plan->common.skin;
  const sbs_deform_options *options = plan->common.options;
  const sbs_kernels *kernels = sbs_choose_kernels(skin->isa, skin->scalar);
  if (!kernels->take_amounts(options->amount, options->amount_scalar, skin->vertex_count, copies)) {
    return sbs_check_amounts(options, 0, skin->vertex_count, fault);
  }
  for (size_t i = skin->vertex_count; i < skin->block_count * SBS_BLOCK; i++)
    sbs_scalar_put(copies, skin->scalar, i, 0.0);
  plan->common.amounts = copies;
  return SBS_OK;
}

/* Whether a vertex of a set has an amount. */
static int has_amount(const sbs_frame *frame, size_t set) {
  const sbs_skin *skin = frame->skin;
  for (size_t i = skin->set_starts[set]; i < skin->set_starts[set + 1]; i++) {
    if (sbs_scalar_get(frame->amounts, skin->scalar, (size_t)skin->set_vertices[i]) > 0.0) return 1;
  }
  return 0;
}

/* Chooses the sets whose centers are solved: at least one of their vertices turns about them. */
static void choose_sets(sbs_plan *plan, int32_t *sets) {
  const sbs_frame *common = &plan->common;
  const sbs_skin *skin = common->skin;
  plan->solved_sets = skin->solve_order;
  plan->solved_count = sbs_has_set_centers(common->options) ? skin->solve_count : 0;
  if (!plan->solved_count || !common->amounts) return;
  plan->solved_sets = sets;
  plan->solved_count = 0;
  for (size_t i = 0; i < skin->solve_count; i++) {
    if (has_amount(common, (size_t)skin->solve_order[i])) sets[plan->solved_count++] = skin->solve_order[i];
  }
}

sbs_status sbs_make_plan(sbs_plan *plan, sbs_fault *fault) {
  const sbs_deform_options *options = plan->common.options;
  choose_threads(plan);
  sbs_status status = take_memory(plan, fault);
  if (status) return status;
  sbs_frame unused;
  void *amounts;
  int32_t *sets;
  lay_out(plan->common.skin, plan->scratch, &unused, &amounts, &sets);
  if (options->amount) status = take_amounts(plan, amounts, fault);
  if (!status) choose_sets(plan, sets);
  return status;
}

void sbs_make_frame(const sbs_plan *plan, size_t number, int worker, sbs_frame *frame) {
  const sbs_skin *skin = plan->common.skin;
  const sbs_deform_options *options = plan->common.options;
  char *scratch = plan->scratch + (size_t)worker * plan->scratch_size;
  void *amounts; /* the plan has both */
  int32_t *sets;
  *frame = plan->common;
  const size_t used = lay_out(skin, scratch, frame, &amounts, &sets);
  if (frame->positions) {
    frame->positions = (char *)frame->positions + number * skin->vertex_count * frame->positions_stride;
  }
  if (frame->normals) frame->normals = (char *)frame->normals + number * skin->vertex_count * frame->normals_stride;
  if (frame->palette.joints) frame->palette.joints += number * skin->joint_count * SBS_PALETTE_ROW;
  if (frame->palette.centers) frame->palette.centers += number * skin->set_count * 4;
  if (options->shapes) {
    frame->shape_weights = options->shape_weights + number * sbs_shapes_count(options->shapes);
    frame->rest.sums = sbs_place_shape_sums(options->shapes, scratch + used);
  }
  frame->posed.skin = skin;
  frame->posed.pose = sbs_pose_number(&plan->poses, skin->skeleton_joint_count, skin->twist, number);
  frame->posed.request = (sbs_pose_request){.rotations = sbs_has_rotations(options),
                                            .normals = frame->normals != NULL,
                                            .sets = plan->solved_sets,
                                            .set_count = plan->solved_count,
                                            .damping = options->damping,
                                            .rcond = options->rcond};
}
