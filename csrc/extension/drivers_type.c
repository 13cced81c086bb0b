/* SPDX-License-Identifier: MIT */
#include "drivers_type.h"

#include <string.h>

#include "definitions.h"
#include "pose.h"

#include <sbs/drivers.h>

typedef struct core_drivers {
  PyObject_HEAD
  sbs_drivers *drivers;
  size_t joint_count, driving_joint_count;
} core_drivers;

/* J, N joints that drive, and P poses. */
static void begin_with_drivers(void *call) {
  const core_drivers *self = core_self(call);

  core_set_length(call, 'J', self->joint_count);
  core_set_length(call, 'N', self->driving_joint_count);
  core_set_length(call, 'P', sbs_drivers_pose_count(self->drivers));
}

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

typedef struct drivers_call {
  core_call call;
  const int32_t *ends, *parts;
  sbs_drivers_desc desc;
  sbs_drivers *drivers;
} drivers_call;

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(drivers_call, desc.joint_count)},
    {"ends", CORE_INT32, .at = offsetof(drivers_call, ends), "(D,)"},
    {"joints", CORE_INT32, .at = offsetof(drivers_call, desc.joints), "(N,)"},
    {"parents", CORE_INT32, .at = offsetof(drivers_call, desc.parents), "(N,)"},
    {"axes", CORE_DOUBLES, .at = offsetof(drivers_call, desc.axes), "(N, 3)"},
    {"parts", CORE_INT32, .at = offsetof(drivers_call, parts), "(D,)"},
    {"pose_drivers", CORE_INT32, .at = offsetof(drivers_call, desc.pose_drivers), "(P,)"},
    {"coordinates", CORE_DOUBLES, .at = offsetof(drivers_call, desc.coordinates), "(C, 3)"},
    {"D", CORE_LENGTH, .at = offsetof(drivers_call, desc.driver_count)},
    {"P", CORE_LENGTH, .at = offsetof(drivers_call, desc.pose_count)},
};

/* Where the joints of each driver start; the length of what follows is checked, of which the library is not told. */
static int find_offsets(drivers_call *given, size_t *offsets) {
  const size_t driver_count = given->desc.driver_count;

  offsets[0] = 0;
  for (size_t d = 0; d < driver_count; d++) {
    if (given->ends[d] <= (d > 0 ? given->ends[d - 1] : 0)) {
      PyErr_Format(PyExc_ValueError, "ends[%zu] = %d: a driver needs a joint", d, (int)given->ends[d]);
      return 0;
    }
    offsets[d + 1] = (size_t)given->ends[d];
  }
  if (offsets[driver_count] == core_length(given, 'N')) return 1;
  PyErr_Format(PyExc_ValueError, "ends ends at %zu, where there are %zu joints", offsets[driver_count],
               core_length(given, 'N'));
  return 0;
}

static int check_coordinates(const drivers_call *given, const size_t *offsets) {
  size_t count = 0;

  for (size_t k = 0; k < given->desc.pose_count; k++) {
    const int32_t driver = given->desc.pose_drivers[k];
    if (driver < 0 || (size_t)driver >= given->desc.driver_count) {
      PyErr_Format(PyExc_ValueError, "pose_drivers[%zu] = %d is out of range for %zu drivers", k, (int)driver,
                   given->desc.driver_count);
      return 0;
    }
    count += offsets[driver + 1] - offsets[driver];
  }
  if (count == core_length(given, 'C')) return 1;
  PyErr_Format(PyExc_ValueError, "coordinates has %zu rows, where the joints of all poses are %zu",
               core_length(given, 'C'), count);
  return 0;
}

static int prepare(void *address) {
  drivers_call *given = address;
  const size_t driver_count = given->desc.driver_count;
  size_t *offsets = core_hold_memory(given, (driver_count + 1) * sizeof *offsets);
  sbs_driver_part *parts = core_hold_memory(given, (driver_count + 1) * sizeof *parts);

  if (offsets == NULL || parts == NULL || !find_offsets(given, offsets) || !check_coordinates(given, offsets)) return 0;
  for (size_t d = 0; d < driver_count; d++) parts[d] = (sbs_driver_part)given->parts[d];
  given->desc.driver_offsets = offsets;
  given->desc.parts = parts;
  return 1;
}

static sbs_status run(void *address, sbs_fault *fault) {
  drivers_call *given = address;
  return sbs_drivers_new(&given->desc, NULL, &given->drivers, fault);
}

static int raise(void *Py_UNUSED(address), sbs_status status, const sbs_fault *fault) {
  if (status != SBS_ERROR_OPTION || fault->argument == NULL || fault->index_count == 0) return 0;
  if (strcmp(fault->argument, "coordinates") == 0) {
    PyErr_Format(PyExc_ValueError, "coordinates of pose %zu: it is too near the rest pose, or another of its driver",
                 fault->index[0]);
    return 1;
  }
  if (strcmp(fault->argument, "axes") != 0) return 0;
  PyErr_Format(PyExc_ValueError, "axes[%zu] has no length", fault->index[0]);
  return 1;
}

static PyObject *finish(void *address) {
  const drivers_call *given = address;
  core_drivers *self = core_allocate(given->call.self);

  if (self == NULL) {
    sbs_drivers_free(given->drivers);
    return NULL;
  }
  self->drivers = given->drivers;
  self->joint_count = given->desc.joint_count;
  self->driving_joint_count = core_length(given, 'N');
  return (PyObject *)self;
}

static const core_function new_drivers = {
    .name = "Drivers",
    .summary = "Joints that drive, and their poses; `ends` says where the joints of each driver end. Nothing that is "
               "given is kept.",
    .parts = {CORE_PART(rows)},
    .positional = 8,
    .size = sizeof(drivers_call),
    .prepare = prepare,
    .run = run,
    .raise = raise,
    .finish = finish,
};

static PyObject *drivers_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  drivers_call call;
  return core_enter_new(&new_drivers, type, args, kwargs, &call);
}

static void drivers_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  sbs_drivers_free(((core_drivers *)object)->drivers);
  core_free_object(object);
}

/* -------------------------------------------------------------------------------------------------- in each pose -- */

typedef struct poses_call {
  core_call call;
  sbs_pose poses;
  double *found;
} poses_call;

static const core_row matrices_row[] = {
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(poses_call, poses), "(F, J, 4, 4) or (F, J, 3, 4)"},
};

static const core_row coordinates_row[] = {
    {"coordinates", CORE_DOUBLES, .at = offsetof(poses_call, found), "(F, N, 3)", .result = 1},
};

static sbs_status find_coordinates(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const poses_call *given = address;
  const core_drivers *self = core_self(given);

  return sbs_drivers_coordinates(self->drivers, pose, given->found + 3 * frame * self->driving_joint_count, fault);
}

static sbs_status run_coordinates(void *address, sbs_fault *fault) {
  return core_go_through_frames(address, &((const poses_call *)address)->poses, find_coordinates, fault);
}

CORE_ENTRY(core_drivers_coordinates, poses_call)

const core_function core_drivers_coordinates = {
    .name = "coordinates",
    .summary = "Coordinates of all joints that drive, in frames.",
    .parts = {CORE_PART(matrices_row), CORE_PART(coordinates_row)},
    .positional = 1,
    .size = sizeof(poses_call),
    .begin = begin_with_drivers,
    .run = run_coordinates,
    .entry = core_drivers_coordinates_entry,
};

static const core_row weights_row[] = {
    {"weights", CORE_DOUBLES, .at = offsetof(poses_call, found), "(F, P)", .result = 1},
};

static sbs_status run_weights(void *address, sbs_fault *fault) {
  poses_call *given = address;
  const core_drivers *self = core_self(given);

  return sbs_drivers_weights(self->drivers, core_length(given, 'F'), &given->poses, given->found, fault);
}

CORE_ENTRY(core_drivers_weights, poses_call)

const core_function core_drivers_weights = {
    .name = "weights",
    .summary = "Weights of all poses, in frames.",
    .parts = {CORE_PART(matrices_row), CORE_PART(weights_row)},
    .positional = 1,
    .size = sizeof(poses_call),
    .begin = begin_with_drivers,
    .run = run_weights,
    .entry = core_drivers_weights_entry,
};

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_pose_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_drivers_pose_count(((const core_drivers *)object)->drivers));
}

static PyGetSetDef properties[] = {{"pose_count", get_pose_count, NULL, "int: poses.", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_drivers_coordinates, &core_drivers_weights};

PyObject *core_new_drivers_type(PyObject *module) {
  static const core_class drivers = {
      .name = "sbs._core.Drivers",
      .make = &new_drivers,
      .new = drivers_new,
      .dealloc = drivers_dealloc,
      .traverse = core_traverse_type,
      .methods = methods,
      .method_count = CORE_TABLE_LENGTH(methods),
      .properties = properties,
      .size = sizeof(core_drivers),
  };
  return core_add_class(module, &drivers);
}
