/* SPDX-License-Identifier: MIT */
#include "twist_type.h"

#include <string.h>

#include "definitions.h"
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
  if (!PyObject_TypeCheck(object, (PyTypeObject *)core_state_of(call)->twist_type)) {
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

int core_check_twist_positions(PyArrayObject *positions, PyObject *twist) {
  if (positions == NULL || twist != NULL) return 1;
  PyErr_SetString(PyExc_ValueError, "twist_positions has no effect without twist");
  return 0;
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
  size_t joint_count;
  PyArrayObject *joints, *parents, *children, *heads, *tails;
  sbs_twist_desc desc;
  sbs_twist *twist;
} twist_call;

static const core_argument arguments[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(twist_call, joint_count)},
    {"joints", CORE_INT32, .at = offsetof(twist_call, joints), "(B,)"},
    {"parents", CORE_INT32, .at = offsetof(twist_call, parents), "(B,)"},
    {"children", CORE_INT32, .at = offsetof(twist_call, children), "(B,)"},
    {"heads", CORE_DOUBLES, .at = offsetof(twist_call, heads), "(B, 3)"},
    {"tails", CORE_DOUBLES, .at = offsetof(twist_call, tails), "(B, 3)"},
    {"frames", CORE_COUNT, .at = offsetof(twist_call, desc.frames_per_bone), .optional = 1},
    {"smooth", CORE_FLAG, .at = offsetof(twist_call, desc.smooth), .optional = 1},
};

static void set_defaults(void *address) {
  ((twist_call *)address)->desc = sbs_default_twist_desc();
}

static int prepare(void *address) {
  twist_call *given = address;
  sbs_twist_desc *desc = &given->desc;

  if (desc->frames_per_bone == 1) {
    PyErr_SetString(PyExc_ValueError, "frames must be at least 2, not 1");
    return 0;
  }
  desc->joint_count = given->joint_count;
  desc->bone_count = core_length(&given->call, 'B');
  desc->joints = PyArray_DATA(given->joints);
  desc->parents = PyArray_DATA(given->parents);
  desc->children = PyArray_DATA(given->children);
  desc->heads = PyArray_DATA(given->heads);
  desc->tails = PyArray_DATA(given->tails);
  return 1;
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
    .parts = {CORE_PART(arguments)},
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
  PyArrayObject *rest_positions, *joint_indices, *joint_weights, *shares, *new_joint_indices, *new_joint_weights;
} influences_call;

static const core_argument influences_arguments[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(influences_call, rest_positions), "(V, 3)"},
    {"joint_indices", CORE_INT32, .at = offsetof(influences_call, joint_indices), "(V, K)"},
    {"joint_weights", CORE_REALS, .at = offsetof(influences_call, joint_weights), "(V, K)"},
    {"shares", CORE_DOUBLES, .at = offsetof(influences_call, shares), "(V, K)", .optional = 1},
};

static const core_argument influences_results[] = {
    {"joint_indices", CORE_INT32, .at = offsetof(influences_call, new_joint_indices), "(V, 2 K)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(influences_call, new_joint_weights), "(V, 2 K)"},
};

static sbs_status run_influences(void *address, sbs_fault *fault) {
  influences_call *given = address;
  const core_twist *self = core_self(given);

  return sbs_twist_influences(self->twist, core_length(address, 'V'), core_scalar(given->rest_positions),
                              PyArray_DATA(given->rest_positions), 0, core_length(address, 'K'),
                              PyArray_DATA(given->joint_indices), core_scalar(given->joint_weights),
                              PyArray_DATA(given->joint_weights), core_data(given->shares),
                              PyArray_DATA(given->new_joint_indices), PyArray_DATA(given->new_joint_weights), fault);
}

static const core_function influences; /* defined below, as others are */

CORE_ENTRY(enter_influences, influences, influences_call)

static const core_function influences = {
    .name = "influences",
    .summary = "Influences of all joints, the frames of bones among them.",
    .parts = {CORE_PART(influences_arguments)},
    .positional = 4,
    CORE_RESULTS(influences_results),
    .size = sizeof(influences_call),
    .run = run_influences,
    .entry = enter_influences,
};

/* ------------------------------------------------------------------------------------------------------- angles -- */

typedef struct angles_call {
  core_call call;
  PyArrayObject *matrices, *previous, *angles;
  int follow;
} angles_call;

static const core_argument angles_arguments[] = {
    {"skinning_matrices", CORE_REALS, .at = offsetof(angles_call, matrices), "(F, J, 4, 4) or (F, J, 3, 4)"},
    {"follow", CORE_FLAG, .at = offsetof(angles_call, follow)},
    {"previous", CORE_DOUBLES, .at = offsetof(angles_call, previous), "(B, 2)", .none = 1},
};

static const core_argument angles_results[] = {
    {"twists", CORE_DOUBLES, .at = offsetof(angles_call, angles), "(F, B, 2)"},
};

static sbs_status run_angles(void *address, sbs_fault *fault) {
  angles_call *given = address;
  const core_twist *self = core_self(given);
  const double *before = core_data(given->previous);
  double *found = PyArray_DATA(given->angles);

  for (size_t f = 0; f < core_length(address, 'F'); f++, found += 2 * self->bone_count) {
    const sbs_pose pose = core_frame_pose(given->matrices, f);
    const sbs_status status =
        core_is_cancelled(address) ? SBS_ERROR_CANCELLED : sbs_twist_angles(self->twist, &pose, before, found, fault);
    if (status != SBS_OK) {
      core_place_in_frame(fault, given->matrices, f);
      return status;
    }
    if (given->follow) before = found;
  }
  return SBS_OK;
}

static const core_function angles;

CORE_ENTRY(enter_angles, angles, angles_call)

static const core_function angles = {
    .name = "angles",
    .summary = "Twists in frames, nearest to `previous` or, with `follow`, to those of the frame before.",
    .parts = {CORE_PART(angles_arguments)},
    .positional = 3,
    CORE_RESULTS(angles_results),
    .size = sizeof(angles_call),
    .begin = begin_with_twist,
    .run = run_angles,
    .entry = enter_angles,
};

/* --------------------------------------------------------------------------------------------------------- pose -- */

typedef struct pose_call {
  core_call call;
  PyArrayObject *matrices, *twists, *all;
} pose_call;

static const core_argument pose_arguments[] = {
    {"skinning_matrices", CORE_REALS, .at = offsetof(pose_call, matrices), "(F, J, 4, 4) or (F, J, 3, 4)"},
    {"twists", CORE_DOUBLES, .at = offsetof(pose_call, twists), "(F, B, 2)", .none = 1},
};

/* A: all joints. */
static const core_argument pose_results[] = {
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(pose_call, all), "(F, A, 3, 4)"},
};

static void begin_pose(void *call) {
  const core_twist *self = core_self(call);

  begin_with_twist(call);
  core_set_length(call, 'A', sbs_twist_joint_count(self->twist));
}

static sbs_status run_pose(void *address, sbs_fault *fault) {
  pose_call *given = address;
  const core_twist *self = core_self(given);
  const double *twists = core_data(given->twists);
  double *all = PyArray_DATA(given->all);

  for (size_t f = 0; f < core_length(address, 'F'); f++, all += 12 * core_length(address, 'A')) {
    const sbs_pose pose = core_frame_pose(given->matrices, f);
    const double *of_frame = twists != NULL ? twists + 2 * f * self->bone_count : NULL;
    const sbs_status status =
        core_is_cancelled(address) ? SBS_ERROR_CANCELLED : sbs_twist_pose(self->twist, &pose, of_frame, all, fault);
    if (status != SBS_OK) {
      if (fault->argument != NULL && strcmp(fault->argument, "angles") == 0) fault->argument = "twists";
      core_place_in_frame(fault, given->matrices, f);
      return status;
    }
  }
  return SBS_OK;
}

static const core_function pose;

CORE_ENTRY(enter_pose, pose, pose_call)

static const core_function pose = {
    .name = "pose",
    .summary = "Skinning matrices of all joints, the frames of bones among them.",
    .parts = {CORE_PART(pose_arguments)},
    .positional = 2,
    CORE_RESULTS(pose_results),
    .size = sizeof(pose_call),
    .begin = begin_pose,
    .run = run_pose,
    .entry = enter_pose,
};

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_joint_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_twist_joint_count(((const core_twist *)object)->twist));
}

static PyGetSetDef properties[] = {{"joint_count", get_joint_count, NULL, "int: joints with the frames.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&influences, &angles, &pose};

PyObject *core_new_twist_type(PyObject *module) {
  static const core_class twist = {
      .name = "sbs._core.Twist",
      .make = &new_twist,
      .new = twist_new,
      .dealloc = twist_dealloc,
      .traverse = core_traverse_type,
      .methods = methods,
      .method_count = CORE_COUNT_OF(methods),
      .properties = properties,
      .size = sizeof(core_twist),
  };
  return core_add_class(module, &twist);
}
