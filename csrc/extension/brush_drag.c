/* SPDX-License-Identifier: MIT */
#include "brush_type.h"
#include "geometry.h"
#include "pose.h"
#include "twist_type.h"

#include <sbs/drag.h>

typedef struct drag_call {
  core_pose_call posed;
  Py_ssize_t vertex;
  const double *target;
  const int32_t *joints, *locked;
  PyObject *twist;
  sbs_drag_options options;
  sbs_brush_change change;
} drag_call;

static const core_row rows[] = {
    {"vertex", CORE_INDEX, .at = offsetof(drag_call, vertex)},
    {"target", CORE_DOUBLES, .at = offsetof(drag_call, target), "(3,)"},
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(drag_call, posed.pose), "(J, 4, 4) or (J, 3, 4)"},
    {"radius", CORE_REAL, .at = offsetof(drag_call, options.radius)},
};

static const core_row option_rows[] = {
    {"centers", CORE_DOUBLES, .at = offsetof(drag_call, options.centers), "(V, 3)", .optional = 1},
    {"twist", CORE_OBJECT, .at = offsetof(drag_call, twist), .type = "Twist | None", .optional = 1,
     .convert = core_convert_twist},
    {"twist_positions", CORE_DOUBLES, .at = offsetof(drag_call, options.twist_positions), "(V, 3)", .optional = 1},
    {"twists", CORE_DOUBLES, .at = offsetof(drag_call, posed.pose.twist_angles), "(B, 2)", .optional = 1},
    {"falloff", CORE_WORD, .at = offsetof(drag_call, options.falloff), .words = core_falloff_words, .optional = 1},
    {"distance", CORE_WORD, .at = offsetof(drag_call, options.distance), .words = core_distance_words, .optional = 1},
    {"joints", CORE_INT32, .at = offsetof(drag_call, joints), "(N,)", .optional = 1},
    {"locked", CORE_INT32, .at = offsetof(drag_call, locked), "(L,)", .optional = 1},
    {"mirror", CORE_WORD, .at = offsetof(drag_call, options.mirror_axis), .words = core_axis_words, .optional = 1,
     .none = 1},
    {"mirror_position", CORE_REAL, .at = offsetof(drag_call, options.mirror_position), .optional = 1},
    {"mirror_joints", CORE_INT32, .at = offsetof(drag_call, options.mirror_joints), "(J,)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(drag_call, options.threads), .optional = 1},
};

static void set_defaults(void *address) {
  core_set_method_defaults(address);
  ((drag_call *)address)->options = sbs_default_drag_options();
}

static int prepare(void *address) {
  drag_call *given = address;
  sbs_drag_options *options = &given->options;
  const size_t vertex_count = core_length(address, 'V'), joint_count = core_length(address, 'J');

  if (!core_check_twists(&given->posed.call, &given->posed.pose, given->twist)) return 0;
  if (given->vertex < 0 || (size_t)given->vertex >= vertex_count) {
    PyErr_Format(PyExc_ValueError, "vertex = %zd is out of range for %zu vertices", given->vertex, vertex_count);
    return 0;
  }
  options->deform = &given->posed.by.options;
  options->twist = core_get_twist(given->twist);
  return core_new_mask(given, given->joints, 'N', "joints", joint_count, &options->joints) &&
         core_new_mask(given, given->locked, 'L', "locked", joint_count, &options->locked);
}

static sbs_status run(void *address, sbs_fault *fault) {
  drag_call *given = address;
  const core_brush *self = core_self(given);
  const sbs_status status = sbs_drag_vertex(self->brush, &given->options, &given->posed.pose, (size_t)given->vertex,
                                            given->target, &given->change, fault);

  core_place_in_twists(fault, &given->posed.call);
  return status;
}

static PyObject *finish(void *address) {
  return core_copy_change(core_self(address), &((const drag_call *)address)->change);
}

CORE_ENTRY(core_drag, drag_call)

const core_function core_drag = {
    .name = "drag",
    .summary = "Drags a vertex of the posed mesh to a target. What changed, as of stroke.",
    .parts = {CORE_PART(rows), CORE_METHOD_PART(CORE_METHOD, CORE_METHOD), CORE_METHOD_PART(CORE_CENTER, CORE_DAMPING),
              CORE_METHOD_PART(CORE_AMOUNT, CORE_AMOUNT), CORE_PART(option_rows)},
    .positional = 3,
    .returns = CORE_CHANGE_TYPE,
    .size = sizeof(drag_call),
    .set_defaults = set_defaults,
    .busy_at = offsetof(core_brush, busy),
    .begin = core_begin_with_brush,
    .prepare = prepare,
    .run = run,
    .finish = finish,
    .entry = core_drag_entry,
};
