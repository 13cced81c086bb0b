/* SPDX-License-Identifier: MIT */
/* _core.Twist: a sbs_twist, which never changes, so any number of threads may use it. */
#include "definitions.h"
#include "functions.h"
#include "geometry.h"
#include "pose.h"

#include <sbs/twist.h>

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

typedef struct twist_call {
  core_call call;
  sbs_twist_desc desc;
  sbs_twist *twist;
} twist_call;

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(twist_call, desc.joint_count), "J"},
    {"joints", CORE_INT32, .at = offsetof(twist_call, desc.joints), "(B,)"},
    {"parents", CORE_INT32, .at = offsetof(twist_call, desc.parents), "(B,)"},
    {"children", CORE_INT32, .at = offsetof(twist_call, desc.children), "(B,)"},
    {"heads", CORE_DOUBLES, .at = offsetof(twist_call, desc.heads), "(B, 3)"},
    {"tails", CORE_DOUBLES, .at = offsetof(twist_call, desc.tails), "(B, 3)"},
    {"frames", CORE_COUNT, .at = offsetof(twist_call, desc.frames_per_bone), .optional = 1},
    {"smooth", CORE_FLAG, .at = offsetof(twist_call, desc.smooth), .optional = 1},
    {"B", CORE_LENGTH, .at = offsetof(twist_call, desc.bone_count)},
};

static void set_defaults(void *address) {
  ((twist_call *)address)->desc = sbs_default_twist_desc();
}

static int prepare(void *address) {
  if (((const twist_call *)address)->desc.frames_per_bone != 1) return 1;
  PyErr_SetString(PyExc_ValueError, "frames must be at least 2, not 1");
  return 0;
}

static sbs_status run(void *address, sbs_fault *fault) {
  twist_call *given = address;
  return sbs_twist_new(&given->desc, NULL, &given->twist, fault);
}

static void release(void *twist) {
  sbs_twist_free(twist);
}

/* --------------------------------------------------------------------------------------------------- influences -- */

typedef struct influences_call {
  core_call call;
  const void *rest_positions;
  sbs_scalar scalar;
  sbs_influences_table table;
  const double *shares;
  int32_t *joint_indices;
  double *joint_weights;
} influences_call;

static const core_row positions_row[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(influences_call, rest_positions), "(V, 3)",
     .scalar = offsetof(influences_call, scalar)},
};

static const core_row influences_rows[] = {
    {"shares", CORE_DOUBLES, .at = offsetof(influences_call, shares), "(V, K)", .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(influences_call, joint_indices), "(V, 2 K)", .result = 1},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(influences_call, joint_weights), "(V, 2 K)", .result = 1},
};

static sbs_status run_influences(void *address, sbs_fault *fault) {
  influences_call *given = address;
  const sbs_influences_table *table = &given->table;

  return sbs_twist_influences(core_made(given), table->vertex_count, given->scalar, given->rest_positions, 0,
                              table->influences_per_vertex, table->joint_indices, table->scalar, table->joint_weights,
                              given->shares, given->joint_indices, given->joint_weights, fault);
}

CORE_FUNCTION(core_twist_influences, influences_call, .name = "influences",
              .summary = "Influences of all joints, the frames of bones among them.",
              .parts = {CORE_PART(positions_row), CORE_PART_AT(offsetof(influences_call, table), core_influences_rows),
                        CORE_PART(influences_rows)},
              .positional = 4, .run = run_influences)

/* ---------------------------------------------------------------------------------------------- angles and pose -- */

typedef struct frames_call {
  core_pose_call in;
  const double *given_angles;
  int follow;
  double *found;
} frames_call;

static const core_row angles_rows[] = {
    {"follow", CORE_FLAG, .at = offsetof(frames_call, follow)},
    {"previous", CORE_DOUBLES, .at = offsetof(frames_call, given_angles), "(B, 2)", .none = 1},
    {"twists", CORE_DOUBLES, .at = offsetof(frames_call, found), "(F, B, 2)", .result = 1},
};

static sbs_status find_angles(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const frames_call *given = address;
  const size_t size = 2 * core_length(given, 'B');
  double *found = given->found + frame * size;
  const double *before = given->follow && frame > 0 ? found - size : given->given_angles;

  return sbs_twist_angles(core_made(given), pose, before, found, fault);
}

CORE_FUNCTION(core_twist_angles, frames_call, .name = "angles",
              .summary = "Twists in frames, nearest to `previous` or, with `follow`, to those of the frame before.",
              .parts = {CORE_PART(core_matrices_of_frames_row), CORE_PART(angles_rows)}, .positional = 3,
              .run_frame = find_angles)

/* A: all joints. */
static const core_row pose_rows[] = {
    {"twists", CORE_DOUBLES, .at = offsetof(frames_call, given_angles), "(F, B, 2)", .fault = "angles",
     .rows_in_faults = 1, .none = 1},
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(frames_call, found), "(F, A, 3, 4)", .result = 1},
};

static int prepare_pose(void *call) {
  core_set_length(call, 'A', sbs_twist_joint_count(core_made(call)));
  return 1;
}

static sbs_status pose_joints(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const frames_call *given = address;
  const size_t angle_count = 2 * core_length(given, 'B');
  const double *angles = given->given_angles != NULL ? given->given_angles + frame * angle_count : NULL;

  return sbs_twist_pose(core_made(given), pose, angles, given->found + 12 * frame * core_length(given, 'A'), fault);
}

CORE_FUNCTION(core_twist_pose, frames_call, .name = "pose",
              .summary = "Skinning matrices of all joints, the frames of bones among them.",
              .parts = {CORE_PART(core_matrices_of_frames_row), CORE_PART(pose_rows)}, .positional = 2,
              .prepare = prepare_pose, .run_frame = pose_joints)

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_joint_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_twist_joint_count(((const core_object *)object)->made));
}

static PyGetSetDef properties[] = {{"joint_count", get_joint_count, NULL, "int: joints with the frames.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_twist_influences, &core_twist_angles, &core_twist_pose, NULL};

CORE_CLASS(core_twist_class, twist_call, .number = CORE_TWIST, .type = "sbs._core.Twist",
           .made_at = offsetof(twist_call, twist), .release = release, .methods = methods, .properties = properties,
           .make.name = "Twist", .make.summary = "Bones along which a twist is spread. Nothing that is given is kept.",
           .make.parts = {CORE_PART(rows)}, .make.positional = 6, .make.set_defaults = set_defaults,
           .make.prepare = prepare, .make.run = run)
