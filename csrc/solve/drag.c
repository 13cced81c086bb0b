/* SPDX-License-Identifier: MIT */
#include "sbs/drag.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fault.h"
#include "base/known_options.h"
#include "base/scalar.h"
#include "base/threads.h"
#include "pose/check.h"
#include "pose/twist.h"
#include "solve/check.h"
#include "solve/drag_vertex.h"
#include "twist/twist.h"
#include "weights/brush.h"

/* Vertices of a chunk, and the time of a vertex on one thread, about, in nanoseconds. */
enum {
  VERTICES_CHUNK = 16,
  VERTEX_TIME = 10000
};

sbs_drag_options sbs_default_drag_options(void) {
  return (sbs_drag_options){.falloff = SBS_BRUSH_FALLOFF_SMOOTH, .mirror_axis = -1};
}

/* A call: shared by the threads that work on it. */
typedef struct drag_call {
  sbs_drag drag;
  sbs_brush *brush;
  int32_t *allowed;       /* (2, J) */
  unsigned char *changed; /* (touched_count) whether there is a row in the dab */
  char *memory;           /* (threads, memory_size) */
  size_t memory_size;
  sbs_arena arena; /* of all these */
} drag_call;

/* ---------------------------------------------------------------------------------------------------------- options */

static sbs_fit_formula fit_formula(const sbs_deform_options *deform) {
  return (sbs_fit_formula){deform->method, deform->center, deform->damping, NULL};
}

static sbs_status check_deform_options(const sbs_deform_options *deform, int has_centers, sbs_fault *fault) {
  static const char *const known[] = {"method", "rotation", "center",        "damping",
                                      "rcond",  "amount",   "amount_scalar", "threads"};
  const sbs_fit_formula formula = fit_formula(deform);
  sbs_status status = sbs_refuse_options(deform, known, sizeof known / sizeof *known, fault);
  if (!status) status = sbs_check_formula(&formula, has_centers, fault);
  if (status || deform->method != SBS_METHOD_SPHERICAL) return status;
  if (deform->rotation != SBS_ROTATION_QLERP) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "rotation", deform->rotation, SBS_ROTATION_QLERP);
  }
  if (deform->rcond != 0.0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "rcond", deform->rcond, 0.0);
  return SBS_OK;
}

static sbs_status check_amount(const sbs_brush *brush, const sbs_deform_options *deform, sbs_fault *fault) {
  if (!sbs_scalar_is_valid(deform->amount_scalar)) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "amount_scalar", (double)deform->amount_scalar, 0.0);
  }
  for (size_t v = 0; v < brush->vertex_count; v++) {
    const double amount = sbs_scalar_get(deform->amount, deform->amount_scalar, v);
    if (!(amount >= 0.0 && amount <= 1.0)) return sbs_fault_row(fault, SBS_ERROR_OPTION, "amount", v, amount, 1.0);
  }
  return SBS_OK;
}

static sbs_status check_options(const sbs_brush *brush, const sbs_drag_options *options, const sbs_brush_options *reach,
                                sbs_fault *fault) {
  const sbs_deform_options *deform = options->deform;
  sbs_status status = sbs_brush_check(brush, reach, fault);
  if (!status) status = check_deform_options(deform, options->centers != NULL, fault);
  if (!status && deform->amount) status = check_amount(brush, deform, fault);
  if (!status && options->centers) {
    status = sbs_validate_numbers(options->centers, brush->vertex_count, 3, "centers", fault);
  }
  if (!status && options->twist_positions) {
    status = sbs_validate_numbers(options->twist_positions, brush->vertex_count, 3, "twist_positions", fault);
  }
  if (status) return status;
  if (options->twist && options->twist->joint_count != brush->joint_count) {
    return sbs_fault_number(fault, SBS_ERROR_OPTION, "twist", (double)options->twist->joint_count,
                            (double)brush->joint_count);
  }
  if (options->threads < 0) return sbs_fault_number(fault, SBS_ERROR_OPTION, "threads", options->threads, 0.0);
  return SBS_OK;
}

static sbs_brush_options brush_options(const sbs_drag_options *options) {
  sbs_brush_options reach = sbs_default_brush_options();
  reach.mode = SBS_BRUSH_SMOOTH; /* the one that paints no joint */
  reach.radius = options->radius;
  reach.falloff = options->falloff;
  reach.distance = options->distance;
  reach.locked = options->locked;
  reach.mirror_axis = options->mirror_axis;
  reach.mirror_position = options->mirror_position;
  reach.mirror_joints = options->mirror_joints;
  return reach;
}

/* ----------------------------------------------------------------------------------------------------- the vertices */

/* The vertex that stands for all at the point of this one. */
static int32_t find_representative(const sbs_brush *brush, size_t vertex) {
  for (size_t v = 0; v < vertex; v++) {
    if (brush->places[v] < 0) continue;
    for (int32_t copy = (int32_t)v; copy >= 0; copy = brush->next[copy]) {
      if ((size_t)copy == vertex) return (int32_t)v;
    }
  }
  return (int32_t)vertex;
}

static sbs_dragged read_vertex(const sbs_brush *brush, int32_t vertex) {
  sbs_dragged read = {.vertex = (size_t)vertex, .shares = {brush->amounts[0][vertex], brush->amounts[1][vertex]}};
  memcpy(read.position, brush->points[brush->places[vertex]].position, sizeof read.position);
  return read;
}

static void mirror_point(const sbs_drag_options *options, const double from[3], double to[3]) {
  memcpy(to, from, 3 * sizeof *to);
  to[options->mirror_axis] = 2.0 * options->mirror_position - from[options->mirror_axis];
}

/* Lists the joints that may get weight in a view: of the options, or of the vertex; never locked ones. */
static void list_allowed(drag_call *call, int32_t vertex, size_t view) {
  const sbs_brush *brush = call->brush;
  const sbs_drag_options *options = call->drag.options;
  const sbs_row row = sbs_brush_row(brush, (size_t)vertex);
  int32_t *allowed = call->allowed + view * brush->joint_count;
  size_t count = 0;
  for (size_t j = 0; j < brush->joint_count; j++) {
    int found = options->joints && options->joints[j];
    for (size_t k = 0; k < row.count && !options->joints; k++) found |= row.joints[k] == (int32_t)j;
    const int32_t joint = view && options->mirror_joints ? options->mirror_joints[j] : (int32_t)j;
    if (found && !sbs_is_locked(options->locked, joint)) allowed[count++] = joint;
  }
  call->drag.allowed[view] = allowed;
  call->drag.allowed_counts[view] = count;
}

static sbs_status drag_vertices(void *context, sbs_share vertices, int worker) {
  const drag_call *call = context;
  sbs_brush *brush = call->brush;
  sbs_arena memory = sbs_arena_over(call->memory + (size_t)worker * call->memory_size);
  sbs_drag_work work = sbs_drag_lay_out(sbs_drag_most(&call->drag), &memory);
  for (size_t i = vertices.begin; i < vertices.end; i++) {
    const sbs_dragged dragged = read_vertex(brush, brush->touched[i]);
    call->changed[i] =
        (unsigned char)sbs_drag_solve(&call->drag, &dragged, sbs_brush_row(brush, dragged.vertex), &work);
    if (call->changed[i]) {
      sbs_row_write(&work.row, brush->limit, SBS_FLOAT64, i, brush->dab.joints, brush->dab.weights);
    }
  }
  return SBS_OK;
}

/* Brings the rows of changed vertices together. */
static void close_gaps(const drag_call *call) {
  sbs_brush_rows *dab = &call->brush->dab;
  const size_t limit = call->brush->limit;
  for (size_t i = 0; i < call->brush->touched_count; i++) {
    if (!call->changed[i]) continue;
    memmove(dab->joints + dab->count * limit, dab->joints + i * limit, limit * sizeof *dab->joints);
    memmove(dab->weights + dab->count * limit, dab->weights + i * limit, limit * sizeof *dab->weights);
    dab->vertices[dab->count++] = call->brush->touched[i];
  }
}

/* -------------------------------------------------------------------------------------------------------- the views */

/* M C M of the joint on the other side, with M the reflection x -> S x + 2 position e. */
static void mirror_matrices(const sbs_drag_options *options, size_t joint_count, const double *from, double *to) {
  const size_t axis = (size_t)options->mirror_axis;
  for (size_t j = 0; j < joint_count; j++) {
    const size_t other = options->mirror_joints ? (size_t)options->mirror_joints[j] : j;
    for (size_t row = 0; row < 3; row++) {
      const double *c = from + 12 * other + 4 * row;
      double *made = to + 12 * j + 4 * row;
      const double sign = row == axis ? -1.0 : 1.0;
      for (size_t column = 0; column < 3; column++) made[column] = sign * (column == axis ? -1.0 : 1.0) * c[column];
      made[3] = sign * (c[3] + 2.0 * options->mirror_position * c[axis]);
      if (row == axis) made[3] += 2.0 * options->mirror_position;
    }
  }
}

/* Takes the joints of a pose, or of its mirror image, apart, in memory of an arena. */
static sbs_status take_view(const sbs_drag_options *options, const sbs_pose *pose, size_t joint_count, int mirrored,
                            sbs_arena *arena, sbs_frame_joints *view, sbs_fault *fault) {
  *view = sbs_frame_joints_in(arena, joint_count, options->twist, 1);
  double *given = sbs_arena_take(arena, joint_count, 12 * sizeof *given);
  double *seen = sbs_arena_take(arena, joint_count, 12 * sizeof *seen);
  double *all = sbs_arena_take(arena, view->count, 12 * sizeof *all);
  if (arena->failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_read_matrices(pose, 0, joint_count, given);
  if (mirrored) mirror_matrices(options, joint_count, given, seen);
  const sbs_pose skeleton = {.skinning_matrices = mirrored ? seen : given,
                             .scalar = SBS_FLOAT64,
                             .rows = 3,
                             .twist_angles = mirrored ? NULL : pose->twist_angles};
  const sbs_status status = sbs_take_apart(view, 0, &skeleton, options->twist, all);
  return status ? sbs_fault_in(fault, status, "skinning_matrices") : SBS_OK;
}

/* -------------------------------------------------------------------------------------------------------- a drag -- */

/* Finds how far the vertex is dragged, and which vertices go along. */
static void measure(drag_call *call, const sbs_brush_options *reach, int32_t vertex, const double target[3],
                    sbs_drag_work *work) {
  sbs_brush *brush = call->brush;
  const sbs_drag_options *options = call->drag.options;
  const sbs_dragged dragged = read_vertex(brush, vertex);
  double at[3];
  sbs_drag_where(&call->drag, &dragged, 0, sbs_brush_row(brush, dragged.vertex), work, at);
  for (int k = 0; k < 3; k++) call->drag.ways[0][k] = target[k] - at[k];
  sbs_brush_measure(brush, reach, dragged.position, 0);
  if (call->drag.view_count < 2) return;
  double mirrored[3];
  mirror_point(options, dragged.position, mirrored);
  memcpy(call->drag.ways[1], call->drag.ways[0], sizeof call->drag.ways[1]);
  call->drag.ways[1][options->mirror_axis] *= -1.0;
  sbs_brush_measure(brush, reach, mirrored, 1);
}

static sbs_status drag(drag_call *call, const sbs_pose *pose, const sbs_brush_options *reach, int32_t vertex,
                       const double target[3], sbs_fault *fault) {
  sbs_brush *brush = call->brush;
  const sbs_drag_options *options = call->drag.options;
  sbs_status status = SBS_OK;
  call->allowed = sbs_arena_take(&call->arena, brush->joint_count, 2 * sizeof *call->allowed);
  if (!call->allowed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  for (size_t view = 0; view < call->drag.view_count && !status; view++) {
    list_allowed(call, vertex, view);
    status = take_view(options, pose, brush->joint_count, view == 1, &call->arena, call->drag.views + view, fault);
  }
  if (status) return status;
  sbs_drag_work work = sbs_drag_lay_out(sbs_drag_most(&call->drag), &call->arena);
  if (call->arena.failed) return sbs_fault_in(fault, SBS_ERROR_OUT_OF_MEMORY, NULL);
  sbs_brush_begin_dab(brush);
  measure(call, reach, vertex, target, &work);
  const int threads = sbs_choose_threads(options->threads, (double)brush->touched_count * VERTEX_TIME);
  sbs_arena counted = sbs_arena_over(NULL);
  sbs_drag_lay_out(sbs_drag_most(&call->drag), &counted);
  call->memory_size = counted.used;
  call->memory = sbs_arena_take(&call->arena, (size_t)threads, call->memory_size);
  call->changed = sbs_arena_take(&call->arena, brush->touched_count, 1);
  status = call->arena.failed ? SBS_ERROR_OUT_OF_MEMORY : sbs_brush_reserve(brush, &brush->dab, brush->touched_count);
  if (!status) status = sbs_share_work(threads, brush->touched_count, VERTICES_CHUNK, drag_vertices, call);
  if (!status) {
    close_gaps(call);
    status = sbs_brush_write(brush);
  }
  return status ? sbs_fault_in(fault, status, NULL) : SBS_OK;
}

sbs_status sbs_drag_vertex(sbs_brush *brush, const sbs_drag_options *given, const sbs_pose *pose, size_t vertex,
                           const double *target, sbs_brush_change *change, sbs_fault *fault) {
  if (!brush) return sbs_fault_in(fault, SBS_ERROR_NULL, "brush");
  if (!pose) return sbs_fault_in(fault, SBS_ERROR_NULL, "pose");
  if (!target) return sbs_fault_in(fault, SBS_ERROR_NULL, "target");
  const sbs_deform_options method = sbs_default_deform_options();
  sbs_drag_options options = given ? *given : sbs_default_drag_options();
  if (!options.deform) options.deform = &method;
  const sbs_brush_options reach = brush_options(&options);
  sbs_status status = check_options(brush, &options, &reach, fault);
  if (!status) status = sbs_check_bounded_poses(pose, 1, brush->joint_count, fault);
  if (!status) status = sbs_check_twist_angles(options.twist, pose, 1, fault);
  if (!status && vertex >= brush->vertex_count) {
    status = sbs_fault_number(fault, SBS_ERROR_VERTEX_INDEX, "vertex", (double)vertex, (double)brush->vertex_count);
  }
  for (size_t k = 0; k < 3 && !status; k++) {
    status = sbs_validate_number(target[k], SBS_LARGEST, "target", k, 0, fault);
    if (status && fault) fault->index_count = 1;
  }
  if (status) return status;

  drag_call call = {.brush = brush,
                    .arena = sbs_arena_from(&brush->allocator),
                    .drag = {.options = &options,
                             .method = fit_formula(options.deform),
                             .view_count = options.mirror_axis >= 0 ? 2 : 1,
                             .limit = brush->limit}};
  sbs_brush_begin_stroke(brush);
  sbs_fault own = {0};
  status = drag(&call, pose, &reach, find_representative(brush, vertex), target, &own);
  sbs_arena_release(&call.arena);
  status = sbs_brush_end_stroke(brush, status, change, fault);
  if (status && fault && own.argument) *fault = own;
  return status;
}
