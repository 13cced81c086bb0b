/* SPDX-License-Identifier: MIT */
/* _core.Drivers: a sbs_drivers, which never changes, so any number of threads may use it. */
#include <string.h>

#include "definitions.h"
#include "functions.h"
#include "geometry.h"
#include "pose.h"

#include <sbs/drivers.h>

typedef struct drivers_call {
  core_call call;
  const int32_t *ends, *parts;
  sbs_drivers_desc desc;
  sbs_drivers *drivers;
} drivers_call;

#define AT(field) .at = offsetof(drivers_call, field)

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, AT(desc.joint_count), "J"},
    {"ends", CORE_INT32, AT(ends), "(D,)"},
    {"joints", CORE_INT32, AT(desc.joints), "(N,)"},
    {"parents", CORE_INT32, AT(desc.parents), "(N,)"},
    {"axes", CORE_DOUBLES, AT(desc.axes), "(N, 3)"},
    {"parts", CORE_INT32, AT(parts), "(D,)"},
    {"pose_drivers", CORE_INT32, AT(desc.pose_drivers), "(P,)"},
    {"coordinates", CORE_DOUBLES, AT(desc.coordinates), "(C, 3)"},
    {"D", CORE_LENGTH, AT(desc.driver_count)},
    {"P", CORE_LENGTH, AT(desc.pose_count)},
};

/* The library is not told how many coordinates there are. */
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
  sbs_drivers_desc *desc = &given->desc;
  sbs_driver_part *parts = core_hold_memory(given, (desc->driver_count + 1) * sizeof *parts);

  if (parts == NULL) return 0;
  for (size_t d = 0; d < desc->driver_count; d++) parts[d] = (sbs_driver_part)given->parts[d];
  desc->parts = parts;
  desc->driver_offsets = core_new_offsets(given, given->ends, desc->driver_count, "ends", 1, 'N', "joints");
  return desc->driver_offsets != NULL && check_coordinates(given, desc->driver_offsets);
}

static sbs_status run(void *address, sbs_fault *fault) {
  drivers_call *given = address;
  return sbs_drivers_new(&given->desc, NULL, &given->drivers, fault);
}

static int raise(void *Py_UNUSED(address), sbs_status status, const sbs_fault *fault) {
  if (status == SBS_ERROR_TOO_LARGE && fault->argument != NULL && strcmp(fault->argument, "pose_drivers") == 0) {
    PyErr_Format(PyExc_ValueError, "driver %d has more than %d poses", (int)fault->value, SBS_DRIVER_MOST_POSES);
    return 1;
  }
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

static void release(void *drivers) {
  sbs_drivers_free(drivers);
}

/* -------------------------------------------------------------------------------------- coordinates and weights -- */

typedef struct frames_call {
  core_pose_call in;
  double *found;
} frames_call;

static const core_row coordinates_row[] = {
    {"coordinates", CORE_DOUBLES, .at = offsetof(frames_call, found), "(F, N, 3)", .result = 1},
};

static sbs_status find_coordinates(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const frames_call *given = address;
  return sbs_drivers_coordinates(core_made(given), pose, given->found + 3 * frame * core_length(given, 'N'), fault);
}

CORE_FUNCTION(core_drivers_coordinates, frames_call, .name = "coordinates",
              .summary = "Coordinates of all joints that drive, in frames.",
              .parts = {CORE_PART(core_matrices_of_frames_row), CORE_PART(coordinates_row)}, .positional = 1,
              .run_frame = find_coordinates)

static const core_row weights_row[] = {
    {"weights", CORE_DOUBLES, .at = offsetof(frames_call, found), "(F, P)", .result = 1},
};

static sbs_status run_weights(void *address, sbs_fault *fault) {
  frames_call *given = address;
  return sbs_drivers_weights(core_made(given), core_length(given, 'F'), &given->in.pose, given->found, fault);
}

CORE_FUNCTION(core_drivers_weights, frames_call, .name = "weights", .summary = "Weights of all poses, in frames.",
              .parts = {CORE_PART(core_matrices_of_frames_row), CORE_PART(weights_row)}, .positional = 1,
              .run = run_weights)

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyGetSetDef properties[] = {{"pose_count", core_get_length, NULL, "int: poses.", (void *)(Py_ssize_t)'P'},
                                   {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_drivers_coordinates, &core_drivers_weights, NULL};

CORE_CLASS(core_drivers_class, drivers_call, .number = CORE_DRIVERS, .type = "sbs._core.Drivers",
           .made_at = offsetof(drivers_call, drivers), .release = release, .methods = methods, .properties = properties,
           .make.name = "Drivers",
           .make.summary =
               "Joints that drive, and their poses; `ends` says where the joints of each driver end. Nothing that is "
               "given is kept.",
           .make.parts = {CORE_PART(rows)}, .make.positional = 8, .make.prepare = prepare, .make.run = run,
           .make.raise = raise)
