/* SPDX-License-Identifier: MIT */
#include "brush_type.h"
#include "geometry.h"
#include "pose.h"

#include <sbs/drag.h>

typedef struct drag_call {
  core_pose_call posed;
  Py_ssize_t vertex;
  const double *target;
  const int32_t *joints, *locked;
  const core_object *twist;
  sbs_drag_options options;
  sbs_brush_change change;
} drag_call;

#define AT(field) .at = offsetof(drag_call, field)

static const core_row rows[] = {
    {"vertex", CORE_INDEX, AT(vertex)},
    {"target", CORE_DOUBLES, AT(target), "(3,)"},
    {"skinning_matrices", CORE_MATRICES, AT(posed.pose), "(J, 4, 4) or (J, 3, 4)"},
    {"radius", CORE_REAL, AT(options.radius)},
};

static const core_row option_rows[] = {
    {"centers", CORE_DOUBLES, AT(options.centers), "(V, 3)", .optional = 1},
    {"twist", CORE_INSTANCE, AT(twist), "JB", .type = "Twist", .type_number = CORE_TWIST, .optional = 1},
    {"twist_positions", CORE_DOUBLES, AT(options.twist_positions), "(V, 3)", .optional = 1},
    {"twists", CORE_DOUBLES, AT(posed.pose.twist_angles), "(B, 2)", .fault = "twist_angles", .rows_in_faults = 1,
     .optional = 1},
    {"falloff", CORE_WORD, AT(options.falloff), .words = core_falloff_words, .optional = 1},
    {"distance", CORE_WORD, AT(options.distance), .words = core_distance_words, .optional = 1},
    {"joints", CORE_INT32, AT(joints), "(N,)", .optional = 1},
    {"locked", CORE_INT32, AT(locked), "(L,)", .optional = 1},
    {"mirror", CORE_WORD, AT(options.mirror_axis), .words = core_axis_words, .optional = 1, .none = 1},
    {"mirror_position", CORE_REAL, AT(options.mirror_position), .optional = 1},
    {"mirror_joints", CORE_INT32, AT(options.mirror_joints), "(J,)", .optional = 1},
    {"threads", CORE_THREADS, AT(options.threads), .optional = 1},
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
  options->deform = &given->posed.options;
  options->twist = given->twist != NULL ? given->twist->made : NULL;
  return core_new_mask(given, given->joints, 'N', "joints", joint_count, &options->joints) &&
         core_new_mask(given, given->locked, 'L', "locked", joint_count, &options->locked);
}

static sbs_status run(void *address, sbs_fault *fault) {
  drag_call *given = address;

  return sbs_drag_vertex(core_made(given), &given->options, &given->posed.pose, (size_t)given->vertex, given->target,
                         &given->change, fault);
}

static PyObject *finish(void *address) {
  return core_copy_change(address, &((const drag_call *)address)->change);
}

CORE_FUNCTION(core_drag, drag_call, .name = "drag",
              .summary = "Drags a vertex of the posed mesh to a target. Returns the changes, as stroke does.",
              .parts = {CORE_PART(rows), CORE_METHOD_PART(CORE_METHOD, CORE_METHOD),
                        CORE_METHOD_PART(CORE_CENTER, CORE_DAMPING), CORE_METHOD_PART(CORE_AMOUNT, CORE_AMOUNT),
                        CORE_PART(option_rows)},
              .positional = 3, .returns = CORE_CHANGE_TYPE, .set_defaults = set_defaults, .prepare = prepare,
              .run = run, .finish = finish)
