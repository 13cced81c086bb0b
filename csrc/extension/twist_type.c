/* SPDX-License-Identifier: MIT */
#include "twist_type.h"

#include <string.h>

#include "definitions.h"
#include "geometry.h"
#include "pose.h"

typedef struct core_twist {
  PyObject_HEAD
  sbs_twist *twist;
  size_t given_joint_count, bone_count;
} core_twist;

const sbs_twist *core_get_twist(PyObject *twist) {
  return twist == NULL ? NULL : ((const core_twist *)twist)->twist;
}

int core_convert_twist(core_call *call, PyObject *object, void *field) {
  const core_twist *twist = (const core_twist *)object;
  const npy_intp joint_count = call->lengths['J' - 'A'];

  if (object == Py_None) return 1;
  if (!PyObject_TypeCheck(object, (PyTypeObject *)core_get_state(call)->twist_type)) {
    PyErr_Format(PyExc_TypeError, "twist must be None or a Twist, not %R", (PyObject *)Py_TYPE(object));
    return 0;
  }
  if (joint_count >= 0 && (size_t)joint_count != twist->given_joint_count) {
    PyErr_Format(PyExc_ValueError, "twist is of %zu joints, where there are %zd", twist->given_joint_count,
                 (Py_ssize_t)joint_count);
    return 0;
  }
  core_set_length(call, 'J', twist->given_joint_count);
  core_set_length(call, 'B', twist->bone_count);
  *(PyObject **)field = object;
  return 1;
}

/* J, and B bones. */
static void begin_with_twist(void *call) {
  const core_twist *self = core_self(call);

  core_set_length(call, 'J', self->given_joint_count);
  core_set_length(call, 'B', self->bone_count);
}

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

typedef struct twist_call {
  core_call call;
  sbs_twist_desc desc;
  sbs_twist *twist;
} twist_call;

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(twist_call, desc.joint_count)},
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

static PyObject *finish(void *address) {
  const twist_call *given = address;
  core_twist *self = core_allocate(given->call.self);

  if (self == NULL) {
    sbs_twist_free(given->twist);
    return NULL;
  }
  self->twist = given->twist;
  self->given_joint_count = given->desc.joint_count;
  self->bone_count = given->desc.bone_count;
  return (PyObject *)self;
}

static const core_function new_twist = {
    .name = "Twist",
    .summary = "Bones along which a twist is spread. Nothing that is given is kept.",
    .parts = {CORE_PART(rows)},
    .positional = 6,
    .size = sizeof(twist_call),
    .set_defaults = set_defaults,
    .prepare = prepare,
    .run = run,
    .finish = finish,
};

static PyObject *twist_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  twist_call call;
  return core_enter_new(&new_twist, type, args, kwargs, &call);
}

static void twist_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  sbs_twist_free(((core_twist *)object)->twist);
  core_free_object(object);
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
  const core_twist *self = core_self(given);
  const sbs_influences_table *table = &given->table;

  return sbs_twist_influences(self->twist, table->vertex_count, given->scalar, given->rest_positions, 0,
                              table->influences_per_vertex, table->joint_indices, table->scalar, table->joint_weights,
                              given->shares, given->joint_indices, given->joint_weights, fault);
}

CORE_ENTRY(core_twist_influences, influences_call)

const core_function core_twist_influences = {
    .name = "influences",
    .summary = "Influences of all joints, the frames of bones among them.",
    .parts = {CORE_PART(positions_row), CORE_PART_AT(offsetof(influences_call, table), core_influences_rows),
              CORE_PART(influences_rows)},
    .positional = 4,
    .size = sizeof(influences_call),
    .run = run_influences,
    .entry = core_twist_influences_entry,
};

/* -------------------------------------------------------------------------------------------------- in each pose -- */

/* Of a call for the angles in each pose, or for the matrices of all joints. */
typedef struct poses_call {
  core_call call;
  sbs_pose poses;
  const double *given_angles;
  int follow;
  double *found;
} poses_call;

static const core_row matrices_row[] = {
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(poses_call, poses), "(F, J, 4, 4) or (F, J, 3, 4)"},
};

/* ------------------------------------------------------------------------------------------------------- angles -- */

static const core_row angles_rows[] = {
    {"follow", CORE_FLAG, .at = offsetof(poses_call, follow)},
    {"previous", CORE_DOUBLES, .at = offsetof(poses_call, given_angles), "(B, 2)", .none = 1},
    {"twists", CORE_DOUBLES, .at = offsetof(poses_call, found), "(F, B, 2)", .result = 1},
};

static sbs_status find_angles(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const poses_call *given = address;
  const core_twist *self = core_self(given);
  double *found = given->found + 2 * frame * self->bone_count;
  const double *before = given->follow && frame > 0 ? found - 2 * self->bone_count : given->given_angles;

  return sbs_twist_angles(self->twist, pose, before, found, fault);
}

static sbs_status run_angles(void *address, sbs_fault *fault) {
  return core_go_through_frames(address, &((const poses_call *)address)->poses, find_angles, fault);
}

CORE_ENTRY(core_twist_angles, poses_call)

const core_function core_twist_angles = {
    .name = "angles",
    .summary = "Twists in frames, nearest to `previous` or, with `follow`, to those of the frame before.",
    .parts = {CORE_PART(matrices_row), CORE_PART(angles_rows)},
    .positional = 3,
    .size = sizeof(poses_call),
    .begin = begin_with_twist,
    .run = run_angles,
    .entry = core_twist_angles_entry,
};

/* --------------------------------------------------------------------------------------------------------- pose -- */

/* A: all joints. */
static const core_row pose_rows[] = {
    {"twists", CORE_DOUBLES, .at = offsetof(poses_call, given_angles), "(F, B, 2)", .none = 1},
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(poses_call, found), "(F, A, 3, 4)", .result = 1},
};

static void begin_pose(void *call) {
  const core_twist *self = core_self(call);

  begin_with_twist(call);
  core_set_length(call, 'A', sbs_twist_joint_count(self->twist));
}

static sbs_status pose_joints(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const poses_call *given = address;
  const core_twist *self = core_self(given);
  const double *angles = given->given_angles != NULL ? given->given_angles + 2 * frame * self->bone_count : NULL;
  double *matrices = given->found + 12 * frame * core_length(given, 'A');
  const sbs_status status = sbs_twist_pose(self->twist, pose, angles, matrices, fault);

  if (fault->argument != NULL && strcmp(fault->argument, "angles") == 0) fault->argument = "twists";
  return status;
}

static sbs_status run_pose(void *address, sbs_fault *fault) {
  return core_go_through_frames(address, &((const poses_call *)address)->poses, pose_joints, fault);
}

CORE_ENTRY(core_twist_pose, poses_call)

const core_function core_twist_pose = {
    .name = "pose",
    .summary = "Skinning matrices of all joints, the frames of bones among them.",
    .parts = {CORE_PART(matrices_row), CORE_PART(pose_rows)},
    .positional = 2,
    .size = sizeof(poses_call),
    .begin = begin_pose,
    .run = run_pose,
    .entry = core_twist_pose_entry,
};

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_joint_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_twist_joint_count(((const core_twist *)object)->twist));
}

static PyGetSetDef properties[] = {{"joint_count", get_joint_count, NULL, "int: joints with the frames.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_twist_influences, &core_twist_angles, &core_twist_pose};

PyObject *core_new_twist_type(PyObject *module) {
  static const core_class twist = {
      .name = "sbs._core.Twist",
      .make = &new_twist,
      .new = twist_new,
      .dealloc = twist_dealloc,
      .traverse = core_traverse_type,
      .methods = methods,
      .method_count = CORE_TABLE_LENGTH(methods),
      .properties = properties,
      .size = sizeof(core_twist),
  };
  return core_add_class(module, &twist);
}
