/* SPDX-License-Identifier: MIT */
#include "muscles_type.h"

#include "definitions.h"
#include "pose.h"

#include <sbs/muscles.h>

typedef struct core_muscles {
  PyObject_HEAD
  sbs_muscles *muscles;
  size_t joint_count, vertex_count;
} core_muscles;

/* Columns of `numbers`, and of what `measure` returns. */
enum {
  RADIUS,
  ORIGIN_TENDON,
  INSERTION_TENDON,
  FLATTENING,
  CONTRACTION,
  MOST_GROWTH,
  REACH,
  NUMBER_COUNT,
  STATE_COUNT = 5
};

static size_t count_of(const core_muscles *self) {
  return sbs_muscles_count(self->muscles);
}

/* Memory that is released with the call; raises and returns NULL if there is none. */
static void *hold_memory(void *call, size_t size) {
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  return core_hold(call, bytes) ? PyBytes_AsString(bytes) : NULL;
}

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

/* What describes the muscles; each has its row. Profiles and covered joints of all are in one array each. */
typedef struct muscles_call {
  core_call call;
  size_t joint_count;
  PyArrayObject *joints, *points, *point_counts, *numbers, *thin_directions, *thin_joints;
  PyArrayObject *profiles, *profile_ends, *covered, *covered_ends;
  PyArrayObject *positions, *normals, *triangles, *joint_indices, *joint_weights;
  sbs_muscle *rows;
  sbs_muscles *muscles;
} muscles_call;

static const core_argument arguments[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(muscles_call, joint_count)},
    {"joints", CORE_INT32, .at = offsetof(muscles_call, joints), "(M, 4)"},
    {"points", CORE_DOUBLES, .at = offsetof(muscles_call, points), "(M, 4, 3)"},
    {"point_counts", CORE_INT32, .at = offsetof(muscles_call, point_counts), "(M,)"},
    {"numbers", CORE_DOUBLES, .at = offsetof(muscles_call, numbers), "(M, 7)"},
    {"thin_directions", CORE_DOUBLES, .at = offsetof(muscles_call, thin_directions), "(M, 3)"},
    {"thin_joints", CORE_INT32, .at = offsetof(muscles_call, thin_joints), "(M,)"},
    {"profiles", CORE_DOUBLES, .at = offsetof(muscles_call, profiles), "(P,)"},
    {"profile_ends", CORE_INT32, .at = offsetof(muscles_call, profile_ends), "(M,)"},
    {"covered", CORE_INT32, .at = offsetof(muscles_call, covered), "(C,)"},
    {"covered_ends", CORE_INT32, .at = offsetof(muscles_call, covered_ends), "(M,)"},
    {"rest_positions", CORE_REALS, .at = offsetof(muscles_call, positions), "(V, 3)", .optional = 1},
    {"rest_normals", CORE_SAME, .at = offsetof(muscles_call, normals), "(V, 3)", .optional = 1},
    {"triangles", CORE_INT32, .at = offsetof(muscles_call, triangles), "(T, 3)", .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(muscles_call, joint_indices), "(V, K)", .optional = 1},
    {"joint_weights", CORE_REALS, .at = offsetof(muscles_call, joint_weights), "(V, K)", .optional = 1},
};

/* Whether ends ascend to the length of what they divide; raises if not. */
static int check_ends(PyArrayObject *ends, const char *name, size_t length) {
  const int32_t *end = PyArray_DATA(ends);
  const npy_intp count = PyArray_DIM(ends, 0);
  npy_intp before = 0;

  for (npy_intp i = 0; i < count; before = end[i], i++) {
    if (end[i] < before || end[i] > (npy_intp)length) {
      PyErr_Format(PyExc_ValueError, "%s[%zd] = %d is out of range", name, (Py_ssize_t)i, (int)end[i]);
      return 0;
    }
  }
  return 1;
}

static int prepare(void *address) {
  muscles_call *given = address;

  if (!check_ends(given->profile_ends, "profile_ends", core_length(address, 'P')) ||
      !check_ends(given->covered_ends, "covered_ends", core_length(address, 'C'))) {
    return 0;
  }
  if (given->positions == NULL &&
      (given->normals != NULL || given->triangles != NULL || given->joint_indices != NULL)) {
    PyErr_SetString(PyExc_ValueError, "rest_normals, triangles and joint_indices need rest_positions");
    return 0;
  }
  if ((given->joint_indices == NULL) != (given->joint_weights == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights belong together");
    return 0;
  }
  given->rows = hold_memory(given, core_length(address, 'M') * sizeof *given->rows);
  return given->rows != NULL;
}

/* Row `m` of the arguments. */
static sbs_muscle read_muscle(const muscles_call *given, npy_intp m) {
  const int32_t *joints = PyArray_DATA(given->joints), *counts = PyArray_DATA(given->point_counts);
  const int32_t *profile_ends = PyArray_DATA(given->profile_ends);
  const int32_t *covered_ends = PyArray_DATA(given->covered_ends);
  const double *points = PyArray_DATA(given->points);
  const double *numbers = (const double *)PyArray_DATA(given->numbers) + NUMBER_COUNT * m;
  const double *thin = (const double *)PyArray_DATA(given->thin_directions) + 3 * m;
  const int32_t profile = m ? profile_ends[m - 1] : 0, covered = m ? covered_ends[m - 1] : 0;
  sbs_muscle muscle = {
      .point_count = counts[m] > 0 ? (size_t)counts[m] : 0,
      .radius = numbers[RADIUS],
      .profile_count = (size_t)(profile_ends[m] - profile),
      .profile = (const double *)PyArray_DATA(given->profiles) + profile,
      .tendons = {numbers[ORIGIN_TENDON], numbers[INSERTION_TENDON]},
      .flattening = numbers[FLATTENING],
      .thin_direction = {thin[0], thin[1], thin[2]},
      .thin_joint = ((const int32_t *)PyArray_DATA(given->thin_joints))[m],
      .contraction = numbers[CONTRACTION],
      .most_growth = numbers[MOST_GROWTH],
      .reach = numbers[REACH],
      .covered_count = (size_t)(covered_ends[m] - covered),
      .covered = (const int32_t *)PyArray_DATA(given->covered) + covered,
  };

  for (npy_intp i = 0; i < SBS_MUSCLE_POINTS; i++) {
    muscle.joints[i] = joints[SBS_MUSCLE_POINTS * m + i];
    for (npy_intp axis = 0; axis < 3; axis++) {
      muscle.points[i][axis] = points[3 * (SBS_MUSCLE_POINTS * m + i) + axis];
    }
  }
  return muscle;
}

static sbs_status run(void *address, sbs_fault *fault) {
  muscles_call *given = address;
  sbs_muscles_desc desc = sbs_default_muscles_desc();

  desc.joint_count = given->joint_count;
  desc.muscle_count = core_length(address, 'M');
  desc.muscles = given->rows;
  for (size_t m = 0; m < desc.muscle_count; m++) given->rows[m] = read_muscle(given, (npy_intp)m);
  if (given->positions != NULL) {
    desc.vertex_count = core_length(address, 'V');
    desc.scalar = core_scalar(given->positions);
    desc.rest_positions = PyArray_DATA(given->positions);
    desc.rest_normals = core_data(given->normals);
  }
  if (given->triangles != NULL) {
    desc.triangle_count = core_length(address, 'T');
    desc.triangles = PyArray_DATA(given->triangles);
  }
  if (given->joint_indices != NULL) {
    desc.influences_per_vertex = core_length(address, 'K');
    desc.joint_indices = PyArray_DATA(given->joint_indices);
    desc.weight_scalar = core_scalar(given->joint_weights);
    desc.joint_weights = PyArray_DATA(given->joint_weights);
  }
  return sbs_muscles_new(&desc, NULL, &given->muscles, fault);
}

static PyObject *finish(void *address) {
  const muscles_call *given = address;
  core_muscles *self = core_allocate(given->call.self);

  if (self == NULL) {
    sbs_muscles_free(given->muscles);
    return NULL;
  }
  self->muscles = given->muscles;
  self->joint_count = given->joint_count;
  self->vertex_count = given->positions != NULL ? core_length(&given->call, 'V') : 0;
  return (PyObject *)self;
}

static const core_function new_muscles = {
    .name = "Muscles",
    .summary = "Muscles, one a row, and the skin that covers them. Nothing that is given is kept.",
    .parts = {CORE_PART(arguments)},
    .positional = 11,
    .size = sizeof(muscles_call),
    .prepare = prepare,
    .run = run,
    .finish = finish,
};

static PyObject *muscles_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  muscles_call call;
  return core_enter_new(&new_muscles, type, args, kwargs, &call);
}

static void muscles_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  sbs_muscles_free(((core_muscles *)object)->muscles);
  core_free_object(object);
}

/* ----------------------------------------------------------------------------------------------------- cover_of -- */

typedef struct cover_of_call {
  core_call call;
  Py_ssize_t muscle;
  PyArrayObject *vertices, *shares, *rest;
} cover_of_call;

static const core_argument cover_of_arguments[] = {
    {"muscle", CORE_INDEX, .at = offsetof(cover_of_call, muscle)},
};

static const core_argument cover_of_results[] = {
    {"vertices", CORE_INT32, .at = offsetof(cover_of_call, vertices), "(C,)"},
    {"shares", CORE_DOUBLES, .at = offsetof(cover_of_call, shares), "(C,)"},
    {"distances", CORE_DOUBLES, .at = offsetof(cover_of_call, rest), "(C,)"},
};

static int prepare_cover_of(void *address) {
  const cover_of_call *given = address;
  const core_muscles *self = core_self(given);
  size_t *counts;

  if (given->muscle < 0 || (size_t)given->muscle >= count_of(self)) {
    PyErr_Format(PyExc_IndexError, "there is no muscle %zd of %zu", given->muscle, count_of(self));
    return 0;
  }
  counts = hold_memory(address, count_of(self) * sizeof *counts);
  if (counts == NULL) return 0;
  sbs_muscles_covered(self->muscles, counts);
  core_set_length(address, 'C', counts[given->muscle]);
  return 1;
}

static sbs_status run_cover_of(void *address, sbs_fault *fault) {
  cover_of_call *given = address;
  const core_muscles *self = core_self(given);

  return sbs_muscles_cover_of(self->muscles, (size_t)given->muscle, PyArray_DATA(given->vertices),
                              PyArray_DATA(given->shares), PyArray_DATA(given->rest), fault);
}

static const core_function cover_of; /* defined below, as others are */

CORE_ENTRY(enter_cover_of, cover_of, cover_of_call)

static const core_function cover_of = {
    .name = "cover_of",
    .summary = "The skin that a muscle moves, and its distances at bind.",
    .parts = {CORE_PART(cover_of_arguments)},
    .positional = 1,
    CORE_RESULTS(cover_of_results),
    .size = sizeof(cover_of_call),
    .prepare = prepare_cover_of,
    .run = run_cover_of,
    .entry = enter_cover_of,
};

/* ----------------------------------------------------------------------------------------------------- in a pose -- */

/* How the structure of a call in several poses starts. */
typedef struct poses_call {
  core_call call;
  PyArrayObject *matrices, *activations;
} poses_call;

static const core_argument poses_arguments[] = {
    {"skinning_matrices", CORE_REALS, .at = offsetof(poses_call, matrices), "(F, J, 4, 4) or (F, J, 3, 4)"},
    {"activations", CORE_DOUBLES, .at = offsetof(poses_call, activations), "(F, M)", .none = 1},
};

static void begin_with_muscles(void *call) {
  const core_muscles *self = core_self(call);

  core_set_length(call, 'J', self->joint_count);
  core_set_length(call, 'M', count_of(self));
  core_set_length(call, 'V', self->vertex_count);
}

/* What a function does in one of the frames. */
typedef sbs_status in_frame(void *call, size_t frame, const sbs_pose *pose, const double *activations,
                            sbs_fault *fault);

static sbs_status go_through_frames(void *address, in_frame *step, sbs_fault *fault) {
  poses_call *given = address;
  const double *activations = core_data(given->activations);

  for (size_t f = 0; f < core_length(&given->call, 'F'); f++) {
    const sbs_pose pose = core_frame_pose(given->matrices, f);
    const double *of_frame = activations != NULL ? activations + f * core_length(&given->call, 'M') : NULL;
    const sbs_status status =
        core_is_cancelled(&given->call) ? SBS_ERROR_CANCELLED : step(address, f, &pose, of_frame, fault);
    if (status != SBS_OK) {
      core_place_in_frame(fault, given->matrices, f);
      return status;
    }
  }
  return SBS_OK;
}

/* ------------------------------------------------------------------------------------------------------ measure -- */

typedef struct measure_call {
  poses_call poses;
  PyArrayObject *measures;
  sbs_muscle_state *states;
} measure_call;

static const core_argument measure_results[] = {
    {"measures", CORE_DOUBLES, .at = offsetof(measure_call, measures), "(F, M, 5)"},
};

static int prepare_measure(void *address) {
  measure_call *given = address;

  given->states = hold_memory(given, core_length(address, 'M') * sizeof *given->states);
  return given->states != NULL;
}

static sbs_status measure_in_frame(void *address, size_t frame, const sbs_pose *pose, const double *activations,
                                   sbs_fault *fault) {
  measure_call *given = address;
  const core_muscles *self = core_self(given);
  const size_t count = core_length(address, 'M');
  double *to = (double *)PyArray_DATA(given->measures) + frame * count * STATE_COUNT;
  const sbs_status status = sbs_muscles_measure(self->muscles, pose, activations, given->states, fault);

  for (size_t m = 0; m < count && status == SBS_OK; m++) {
    *to++ = given->states[m].length;
    *to++ = given->states[m].belly_length;
    *to++ = given->states[m].growth;
    *to++ = given->states[m].volume;
    *to++ = given->states[m].is_limited;
  }
  return status;
}

static sbs_status run_measure(void *address, sbs_fault *fault) {
  return go_through_frames(address, measure_in_frame, fault);
}

static const core_function measure;

CORE_ENTRY(enter_measure, measure, measure_call)

static const core_function measure = {
    .name = "measure",
    .summary = "Length, belly's length, growth, volume and whether it is limited.",
    .parts = {CORE_PART(poses_arguments)},
    .positional = 2,
    CORE_RESULTS(measure_results),
    .size = sizeof(measure_call),
    .begin = begin_with_muscles,
    .prepare = prepare_measure,
    .run = run_measure,
    .entry = enter_measure,
};

/* -------------------------------------------------------------------------------------------------------- cover -- */

typedef struct cover_call {
  poses_call poses;
  PyArrayObject *positions, *normals;
  int threads;
} cover_call;

static const core_argument cover_arguments[] = {
    {"positions", CORE_OUTPUT, .at = offsetof(cover_call, positions), "(F, V, 3)"},
    {"normals", CORE_OUTPUT, .at = offsetof(cover_call, normals), "(F, V, 3)", .none = 1},
};

static const core_argument cover_options[] = {
    {"threads", CORE_THREADS, .at = offsetof(cover_call, threads), .optional = 1},
};

static sbs_status cover_in_frame(void *address, size_t frame, const sbs_pose *pose, const double *activations,
                                 sbs_fault *fault) {
  cover_call *given = address;
  const core_muscles *self = core_self(given);
  const size_t size = frame * (size_t)PyArray_STRIDE(given->positions, 0);
  char *normals = core_data(given->normals);

  return sbs_muscles_cover(self->muscles, pose, activations, core_scalar(given->positions),
                           PyArray_BYTES(given->positions) + size, 0, normals != NULL ? normals + size : NULL, 0,
                           given->threads, fault);
}

static sbs_status run_cover(void *address, sbs_fault *fault) {
  return go_through_frames(address, cover_in_frame, fault);
}

static const core_function cover;

CORE_ENTRY(enter_cover, cover, cover_call)

static const core_function cover = {
    .name = "cover",
    .summary = "Change deformed positions, and normals or None, in place.",
    .parts = {CORE_PART(cover_arguments), CORE_PART(poses_arguments), CORE_PART(cover_options)},
    .positional = 5,
    .size = sizeof(cover_call),
    .begin = begin_with_muscles,
    .run = run_cover,
    .entry = enter_cover,
};

/* ------------------------------------------------------------------------------------------------------ surface -- */

typedef struct surface_call {
  poses_call poses;
  PyArrayObject *surface;
  Py_ssize_t muscle;
  size_t rings, sides;
} surface_call;

static const core_argument surface_arguments[] = {
    {"muscle", CORE_INDEX, .at = offsetof(surface_call, muscle)},
    {"rings", CORE_COUNT, .at = offsetof(surface_call, rings), "R"},
    {"sides", CORE_COUNT, .at = offsetof(surface_call, sides), "S"},
};

static const core_argument surface_results[] = {
    {"surface", CORE_DOUBLES, .at = offsetof(surface_call, surface), "(F, R, S, 3)"},
};

enum {
  MOST_RINGS = 1 << 15
};

static int prepare_surface(void *address) {
  surface_call *given = address;

  if (given->rings > MOST_RINGS) given->rings = MOST_RINGS;
  if (given->sides > MOST_RINGS) given->sides = MOST_RINGS;
  core_set_length(address, 'R', given->rings);
  core_set_length(address, 'S', given->sides);
  return 1;
}

static sbs_status surface_in_frame(void *address, size_t frame, const sbs_pose *pose, const double *activations,
                                   sbs_fault *fault) {
  surface_call *given = address;
  const core_muscles *self = core_self(given);
  double *to = (double *)PyArray_DATA(given->surface) + frame * given->rings * given->sides * 3;

  return sbs_muscles_surface(self->muscles, pose, activations, (size_t)given->muscle, given->rings, given->sides, to,
                             fault);
}

static sbs_status run_surface(void *address, sbs_fault *fault) {
  return go_through_frames(address, surface_in_frame, fault);
}

static const core_function surface;

CORE_ENTRY(enter_surface, surface, surface_call)

static const core_function surface = {
    .name = "surface",
    .summary = "Rings of the belly's surface.",
    .parts = {CORE_PART(poses_arguments), CORE_PART(surface_arguments)},
    .positional = 5,
    CORE_RESULTS(surface_results),
    .size = sizeof(surface_call),
    .begin = begin_with_muscles,
    .prepare = prepare_surface,
    .run = run_surface,
    .entry = enter_surface,
};

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_covered_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_muscles_covered(((const core_muscles *)object)->muscles, NULL));
}

static PyGetSetDef properties[] = {
    {"covered_count", get_covered_count, NULL, "int: how many vertices all muscles move.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&cover_of, &measure, &cover, &surface};

PyObject *core_new_muscles_type(PyObject *module) {
  static const core_class muscles = {
      .name = "sbs._core.Muscles",
      .make = &new_muscles,
      .new = muscles_new,
      .dealloc = muscles_dealloc,
      .traverse = core_traverse_type,
      .methods = methods,
      .method_count = CORE_COUNT_OF(methods),
      .properties = properties,
      .size = sizeof(core_muscles),
  };
  return core_add_class(module, &muscles);
}
