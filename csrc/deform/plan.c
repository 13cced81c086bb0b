/* SPDX-License-Identifier: MIT */
#include "deform/plan.h"

#include "base/arena.h"
#include "base/fault.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "deform/palette.h"
#include "pose/center.h"
#include "pose/twist.h"

/* ------------------------------------------------------------------------------------------------------- memory -- */

/* Lays out the scratch of a frame by one method over memory, and the amounts'. Returns how much it takes. */
static size_t lay_out(const sbs_skin *skin, void *memory, sbs_scratch *scratch, sbs_amounts_use *use) {
  sbs_arena arena = sbs_arena_over(memory);
  scratch->matrices = sbs_arena_take(&arena, skin->twist ? skin->joint_count : 0, 12 * sizeof *scratch->matrices);
  scratch->joints = sbs_arena_take(&arena, skin->joint_count, sizeof *scratch->joints);
  scratch->kinds = sbs_arena_take(&arena, skin->joint_count, sizeof *scratch->kinds);
  scratch->stretches = sbs_arena_take(&arena, skin->joint_count, sizeof *scratch->stretches);
  scratch->centers = sbs_arena_take(&arena, skin->set_count, sizeof *scratch->centers);
  scratch->by_svd = sbs_arena_take(&arena, skin->set_count, sizeof *scratch->by_svd);
  scratch->center_work = sbs_arena_take(&arena, sbs_center_work_size(skin->max_influences), sizeof(double));
  scratch->slots = sbs_arena_take(&arena, sbs_slots_count(skin), sizeof *scratch->slots);
  scratch->constants = sbs_arena_take(&arena, sbs_constants_capacity(skin), sbs_scalar_size(skin->scalar));
  scratch->anchors = sbs_arena_take(&arena, skin->group_count, 4 * sbs_scalar_size(skin->scalar));
  scratch->ways = sbs_arena_take(&arena, skin->group_count, sizeof *scratch->ways);
  use->packed = sbs_arena_take(&arena, skin->block_count, SBS_BLOCK * sbs_scalar_size(skin->scalar));
  use->groups = sbs_arena_take(&arena, skin->group_count, sizeof *use->groups);
  for (int i = 0; i < 2; i++) {
    use->solve_orders[i] = sbs_arena_take(&arena, skin->solve_count, sizeof *use->solve_orders[i]);
  }
  return arena.used;
}

size_t sbs_skin_scratch_size(const sbs_skin *skin) {
  sbs_scratch scratch;
  sbs_amounts_use use;
  return skin ? lay_out(skin, NULL, &scratch, &use) : 0;
}

/* Takes the caller's memory, and works on as many frames at once as it is enough for; or allocates. */
static sbs_status take_memory(sbs_plan *plan, const sbs_deform_options *options, sbs_fault *fault) {
  const sbs_skin *skin = plan->common.skin;
  plan->scratch_size = sbs_skin_scratch_size(skin) * (plan->base ? 2 : 1) + sbs_shapes_scratch_size(options->shapes);
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

/* What a vertex, a joint and a joint set take one thread, about, in nanoseconds. */
enum {
  VERTEX_TIME = 2,
  INVERSE_TIME = 16,
  JOINT_TIME = 40,
  SET_TIME = 60
};

static double vertex_time(const sbs_frame *frame) {
  if (frame->posed.positions) return INVERSE_TIME;
  return frame->positions ? (double)VERTEX_TIME : 0.0;
}

static void choose_threads(sbs_plan *plan) {
  const sbs_skin *skin = plan->common.skin;
  const int option = plan->common.options->threads;
  const double method_time = (double)skin->vertex_count * vertex_time(&plan->common) +
                             (double)(skin->joint_count * JOINT_TIME + skin->set_count * SET_TIME);
  const double frame_time = method_time * (plan->base ? 2 : 1);
  const int by_frames = sbs_choose_threads(option, frame_time * (double)plan->frame_count);
  const int has_enough = plan->frame_count >= (size_t)by_frames; /* else there would be threads with nothing to do */
  plan->threads = has_enough ? by_frames : sbs_choose_threads(option, frame_time);
  plan->frames_at_once = has_enough ? by_frames : 1;
}

/* -------------------------------------------------------------------------------------------------------- plan -- */

/* Leaves out the method that no amount asks for. */
static sbs_status leave_out_methods(sbs_plan *plan, sbs_fault *fault) {
  unsigned needs;
  const sbs_status status =
      sbs_find_needs(plan->common.skin, sbs_amounts_in(plan->common.options), plan->threads, &needs, fault);
  if (status || needs == SBS_NEEDS_BOTH) return status;
  if (needs == SBS_NEEDS_BASE) plan->common.options = plan->base;
  plan->base = NULL;
  return status;
}

/* Packs the amounts, and finds what groups need. The inverse takes both methods everywhere. */
static sbs_status use_amounts(sbs_plan *plan) {
  sbs_frame *common = &plan->common;
  sbs_scratch scratch;
  lay_out(common->skin, plan->scratch, &scratch, &plan->use);
  common->amounts = plan->use.packed;
  common->use = common->posed.positions ? NULL : &plan->use;
  return sbs_pack_amounts(common->skin, sbs_amounts_in(common->options), plan->threads, &plan->use);
}

sbs_status sbs_make_plan(sbs_plan *plan, const sbs_methods *methods, sbs_fault *fault) {
  plan->common.options = methods->options;
  plan->base = methods->base;
  plan->common.shapes = methods->options->shapes;
  plan->common.shape_weights = methods->options->shape_weights;
  choose_threads(plan);
  sbs_status status = plan->base ? leave_out_methods(plan, fault) : SBS_OK;
  if (!status) status = take_memory(plan, methods->options, fault);
  if (!status && plan->base) status = use_amounts(plan);
  plan->common.formula = sbs_choose_formula(plan->common.options);
  return status;
}

void sbs_make_frame(const sbs_plan *plan, size_t number, int worker, sbs_frame frames[2]) {
  sbs_frame *frame = frames;
  *frame = plan->common;
  const sbs_skin *skin = frame->skin;
  char *scratch = plan->scratch + (size_t)worker * plan->scratch_size;
  sbs_amounts_use unused; /* the plan has it */
  frame->pose = sbs_pose_number(&plan->common.pose, skin->skeleton_joint_count, skin->twist, number);
  if (frame->positions) {
    frame->positions = (char *)frame->positions + number * skin->vertex_count * frame->positions_stride;
  }
  if (frame->normals) frame->normals = (char *)frame->normals + number * skin->vertex_count * frame->normals_stride;
  if (frame->palette.joints) frame->palette.joints += number * skin->joint_count * SBS_PALETTE_ROW;
  if (frame->palette.centers) frame->palette.centers += number * skin->set_count * 4;
  const size_t used = lay_out(skin, scratch, &frame->scratch, &unused);
  if (frame->shapes) {
    frame->shape_weights += number * sbs_shapes_count(frame->shapes);
    frame->shape_sums = sbs_place_shape_sums(frame->shapes, scratch + used * (plan->base ? 2 : 1));
  }
  if (!plan->base) return;
  sbs_frame *base = frames + 1;
  *base = *frame;
  base->options = plan->base;
  base->formula = sbs_choose_formula(plan->base);
  lay_out(skin, scratch + used, &base->scratch, &unused);
  base->scratch.joints = frame->scratch.joints;
  base->scratch.kinds = frame->scratch.kinds;
  base->scratch.stretches = frame->scratch.stretches;
  base->method = frame;
  frame->base = base;
}
