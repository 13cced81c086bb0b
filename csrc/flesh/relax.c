/* SPDX-License-Identifier: MIT */
/* Skin relaxed in a pose: a fixed number of steps from where it was deformed to. */
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/progress.h"
#include "base/scalar.h"
#include "flesh/step.h"
#include "pose/check.h"

/* The time of a triangle or a vertex in a step on one thread, about, in nanoseconds, and how many are done at once. */
#define ITEM_TIME 60.0
#define CHUNK 512

/* Steps without acceleration, and the spectral radius that it is for. */
#define PLAIN_STEPS 3
#define RADIUS 0.85f

void sbs_flesh_place_state(sbs_flesh_state *state, const sbs_flesh *flesh, sbs_arena *arena) {
  *state = (sbs_flesh_state){
      .flesh = flesh,
      .y = sbs_arena_take(arena, flesh->count, sizeof *state->y),
      .start = sbs_arena_take(arena, flesh->count, sizeof *state->start),
      .corners = sbs_arena_take(arena, 3 * flesh->triangle_count + 2 * flesh->cap_count, sizeof *state->corners),
      .bent = sbs_arena_take(arena, flesh->count, sizeof *state->bent),
      .residual = sbs_arena_take(arena, flesh->count, sizeof *state->residual),
      .right = sbs_arena_take(arena, flesh->free_count, sizeof *state->right),
      .before = sbs_arena_take(arena, flesh->free_count, sizeof *state->before),
      .top = sbs_arena_take(arena, flesh->panels.group_count, (flesh->panels.top_count + 1) * sizeof *state->top),
      .guard_strengths = sbs_arena_take(arena, flesh->guard_count, sizeof *state->guard_strengths),
      .bones = sbs_arena_take(arena, flesh->joint_count, sizeof *state->bones),
      .planes = sbs_arena_take(arena, flesh->hinge_count, sizeof *state->planes),
      .apexes = sbs_arena_take(arena, flesh->part_count, sizeof *state->apexes),
      .volumes = sbs_arena_take(arena, flesh->part_count, sizeof *state->volumes),
      .squares = sbs_arena_take(arena, flesh->part_count, sizeof *state->squares),
      .pressures = sbs_arena_take(arena, flesh->part_count, sizeof *state->pressures)};
}

typedef struct shared_work {
  const sbs_flesh_state *state;
  sbs_flesh_work *work;
} shared_work;

static sbs_status do_chunk(void *context, sbs_share things, int worker) {
  const shared_work *in = context;
  (void)worker;
  in->work(in->state, things.begin, things.end);
  return SBS_OK;
}

static sbs_status share(const sbs_flesh_state *state, sbs_flesh_work *work, size_t count, size_t chunk, int threads) {
  shared_work context = {state, work};
  return sbs_share_work(threads, count, chunk, do_chunk, &context);
}

/*
 * How far a step goes from the positions before the last one: Chebyshev's semi-iterative method, which lets eight steps
 * do the work of twelve. The first steps are plain, as forces change most there.
 *
 *   Wang, H. 2015. A Chebyshev Semi-Iterative Approach for Accelerating Projective and Position-Based Dynamics. ACM
 *   Transactions on Graphics 34(6).
 */
static float find_pace(size_t step, float last) {
  if (step < PLAIN_STEPS) return 1.0f;
  return step == PLAIN_STEPS ? 2.0f / (2.0f - RADIUS * RADIUS) : 4.0f / (4.0f - RADIUS * RADIUS * last);
}

static sbs_status take_steps(sbs_flesh_state *state, size_t steps, int threads) {
  const sbs_flesh *flesh = state->flesh;
  const sbs_flesh_functions functions = sbs_flesh_choose_functions(flesh->isa);
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < flesh->free_count; i++)
    memcpy(state->before[i], state->y[flesh->free_vertices[i]], sizeof *state->y);
  for (size_t step = 0; step < steps && !status; step++) {
    state->pace = find_pace(step, state->pace);
    status = sbs_tell((double)step / (double)steps);
    if (!status) status = share(state, functions.measure, flesh->part_count, 1, threads);
    if (!status) sbs_flesh_add_to_pressures(state);
    if (!status) status = share(state, functions.project, flesh->triangle_count, CHUNK, threads);
    if (!status) status = share(state, functions.close, flesh->rim_count, 1, threads);
    if (!status) status = share(state, functions.gather, flesh->count, CHUNK, threads);
    if (!status) status = share(state, functions.finish, flesh->free_count, CHUNK, threads);
    if (!status) status = sbs_flesh_solve(state, threads);
    if (!status) status = share(state, functions.go, flesh->free_count, CHUNK, threads);
  }
  return status;
}

static sbs_status check(const sbs_flesh *flesh, const sbs_pose *pose, size_t steps, double amount, sbs_scalar scalar,
                        const void *positions, size_t stride, const void *normals, size_t normals_stride, int threads,
                        sbs_fault *fault) {
  if (!flesh) return sbs_fault_in(fault, SBS_ERROR_NULL, "flesh");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!positions) return sbs_fault_in(fault, SBS_ERROR_NULL, "positions");
  if (!sbs_scalar_is_valid(scalar)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "scalar", (double)scalar, 0.0);
  if (!steps || steps > SBS_FLESH_MOST_STEPS) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "steps", (double)steps, SBS_FLESH_MOST_STEPS);
  }
  if (!(amount >= 0.0 && amount <= 1.0)) return sbs_fault_number(fault, SBS_ERROR_OPTION, "amount", amount, 1.0);
  if (threads < 0) return sbs_fault_number(fault, SBS_ERROR_NEGATIVE, "threads", threads, 0.0);
  sbs_status status =
      sbs_validate_vectors(positions, stride, scalar, flesh->vertex_count, "positions", "positions_stride", fault);
  if (!status && normals) {
    status =
        sbs_validate_vectors(normals, normals_stride, scalar, flesh->vertex_count, "normals", "normals_stride", fault);
  }
  return status ? status : sbs_check_bounded_poses(pose, 1, flesh->joint_count, fault);
}

sbs_status sbs_flesh_relax(const sbs_flesh *flesh, const sbs_pose *pose, size_t steps, double amount, sbs_scalar scalar,
                           void *positions, size_t positions_stride, void *normals, size_t normals_stride, int threads,
                           sbs_fault *fault) {
  sbs_status status =
      check(flesh, pose, steps, amount, scalar, positions, positions_stride, normals, normals_stride, threads, fault);
  if (status || !flesh->free_count || !(amount > 0.0)) return status;
  const sbs_flesh_vectors to = sbs_flesh_make_vectors(positions, positions_stride, scalar);
  const sbs_flesh_vectors to_normals = sbs_flesh_make_vectors(normals, normals_stride, scalar);
  sbs_arena arena = sbs_arena_from(&flesh->allocator);
  sbs_flesh_state state;
  sbs_flesh_place_state(&state, flesh, &arena);
  double *scales = sbs_arena_take(&arena, flesh->joint_count, sizeof *scales);
  unsigned char *is_moved = sbs_arena_take(&arena, flesh->count, 1);
  if (arena.failed) {
    sbs_arena_release(&arena);
    return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  }
  sbs_flesh_posed in = {.pose = pose, .size = flesh->size * sbs_flesh_find_scale(flesh, pose, scales)};
  sbs_flesh_read_vector(&to, (size_t)flesh->kept[flesh->free_vertices[0]], in.middle);
  for (size_t w = 0; w < flesh->count; w++) {
    double at[3];
    sbs_flesh_read_vector(&to, (size_t)flesh->kept[w], at);
    for (size_t i = 0; i < 4; i++) state.start[w][i] = i < 3 ? (float)((at[i] - in.middle[i]) / in.size) : 0.0f;
    is_moved[w] = 0;
  }
  for (size_t i = 0; i < flesh->free_count; i++) is_moved[flesh->free_vertices[i]] = 1;
  memcpy(state.y, state.start, flesh->count * sizeof *state.y);
  memset(state.bent, 0, flesh->count * sizeof *state.bent);
  sbs_flesh_set_pose(&state, &in);
  threads = sbs_choose_threads(threads, ITEM_TIME * (double)(flesh->triangle_count + flesh->count) * (double)steps);
  status = take_steps(&state, steps, threads);
  if (!status) sbs_flesh_write_results(&state, in.size, amount, is_moved, &to, &to_normals);
  sbs_arena_release(&arena);
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}
