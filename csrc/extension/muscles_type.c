/* SPDX-License-Identifier: MIT */
#include "muscles_type.h"

#include <string.h>

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

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

/* What describes the muscles; each has its row. Profiles and covered joints of all are in one array each. */
typedef struct muscles_call {
  core_call call;
  const int32_t *joints, *point_counts, *thin_joints, *profile_ends, *covered, *covered_ends;
  const double *points, *numbers, *thin_directions, *profiles;
  sbs_muscles_desc desc;
  sbs_muscles *muscles;
} muscles_call;

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, .at = offsetof(muscles_call, desc.joint_count)},
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
    {"M", CORE_LENGTH, .at = offsetof(muscles_call, desc.muscle_count)},
};

static const core_row skin_rows[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(muscles_call, desc.rest_positions), "(V, 3)",
     .scalar = offsetof(muscles_call, desc.scalar), .optional = 1},
    {"rest_normals", CORE_SAME, .at = offsetof(muscles_call, desc.rest_normals), "(V, 3)", .optional = 1},
    {"triangles", CORE_INT32, .at = offsetof(muscles_call, desc.triangles), "(T, 3)", .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(muscles_call, desc.joint_indices), "(V, K)", .optional = 1},
    {"joint_weights", CORE_REALS, .at = offsetof(muscles_call, desc.joint_weights), "(V, K)",
     .scalar = offsetof(muscles_call, desc.weight_scalar), .optional = 1},
    {"V", CORE_LENGTH, .at = offsetof(muscles_call, desc.vertex_count)},
    {"T", CORE_LENGTH, .at = offsetof(muscles_call, desc.triangle_count)},
    {"K", CORE_LENGTH, .at = offsetof(muscles_call, desc.influences_per_vertex)},
};

/* Whether ends ascend to the length of what they divide; raises if not. */
static int check_ends(const muscles_call *given, const int32_t *ends, const char *name, size_t length) {
  int32_t before = 0;

  for (size_t i = 0; i < given->desc.muscle_count; before = ends[i], i++) {
    if (ends[i] < before || (size_t)ends[i] > length) {
      PyErr_Format(PyExc_ValueError, "%s[%zd] = %d is out of range", name, (Py_ssize_t)i, (int)ends[i]);
      return 0;
    }
  }
  return 1;
}

/* Row `m` of the arguments. */
static sbs_muscle read_muscle(const muscles_call *given, size_t m) {
  const double *numbers = given->numbers + NUMBER_COUNT * m, *thin = given->thin_directions + 3 * m;
  const int32_t profile = m > 0 ? given->profile_ends[m - 1] : 0, covered = m > 0 ? given->covered_ends[m - 1] : 0;
  sbs_muscle muscle = {
      .point_count = given->point_counts[m] > 0 ? (size_t)given->point_counts[m] : 0,
      .radius = numbers[RADIUS],
      .profile_count = (size_t)(given->profile_ends[m] - profile),
      .profile = given->profiles + profile,
      .tendons = {numbers[ORIGIN_TENDON], numbers[INSERTION_TENDON]},
      .flattening = numbers[FLATTENING],
      .thin_direction = {thin[0], thin[1], thin[2]},
      .thin_joint = given->thin_joints[m],
      .contraction = numbers[CONTRACTION],
      .most_growth = numbers[MOST_GROWTH],
      .reach = numbers[REACH],
      .covered_count = (size_t)(given->covered_ends[m] - covered),
      .covered = given->covered + covered,
  };

  memcpy(muscle.joints, given->joints + SBS_MUSCLE_POINTS * m, sizeof muscle.joints);
  memcpy(muscle.points, given->points + 3 * SBS_MUSCLE_POINTS * m, sizeof muscle.points);
  return muscle;
}

static int prepare(void *address) {
  muscles_call *given = address;
  sbs_muscles_desc *desc = &given->desc;
  sbs_muscle *muscles;

  if (!check_ends(given, given->profile_ends, "profile_ends", core_length(given, 'P')) ||
      !check_ends(given, given->covered_ends, "covered_ends", core_length(given, 'C'))) {
    return 0;
  }
  if (desc->rest_positions == NULL &&
      (desc->rest_normals != NULL || desc->triangles != NULL || desc->joint_indices != NULL)) {
    PyErr_SetString(PyExc_ValueError, "rest_normals, triangles and joint_indices need rest_positions");
    return 0;
  }
  if ((desc->joint_indices == NULL) != (desc->joint_weights == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights belong together");
    return 0;
  }
  muscles = core_hold_memory(given, desc->muscle_count * sizeof *muscles);
  for (size_t m = 0; muscles != NULL && m < desc->muscle_count; m++) muscles[m] = read_muscle(given, m);
  desc->muscles = muscles;
  return muscles != NULL;
}

static sbs_status run(void *address, sbs_fault *fault) {
  muscles_call *given = address;
  return sbs_muscles_new(&given->desc, NULL, &given->muscles, fault);
}

static PyObject *finish(void *address) {
  const muscles_call *given = address;
  core_muscles *self = core_allocate(given->call.self);

  if (self == NULL) {
    sbs_muscles_free(given->muscles);
    return NULL;
  }
  self->muscles = given->muscles;
  self->joint_count = given->desc.joint_count;
  self->vertex_count = given->desc.vertex_count;
  return (PyObject *)self;
}

static const core_function new_muscles = {
    .name = "Muscles",
    .summary = "Muscles, one a row, and the skin that covers them. Nothing that is given is kept.",
    .parts = {CORE_PART(rows), CORE_PART(skin_rows)},
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
  int32_t *vertices;
  double *shares, *distances;
} cover_of_call;

static const core_row cover_of_rows[] = {
    {"muscle", CORE_INDEX, .at = offsetof(cover_of_call, muscle)},
    {"vertices", CORE_INT32, .at = offsetof(cover_of_call, vertices), "(C,)", .result = 1},
    {"shares", CORE_DOUBLES, .at = offsetof(cover_of_call, shares), "(C,)", .result = 1},
    {"distances", CORE_DOUBLES, .at = offsetof(cover_of_call, distances), "(C,)", .result = 1},
};

static int prepare_cover_of(void *address) {
  const cover_of_call *given = address;
  const core_muscles *self = core_self(given);
  const size_t muscle_count = sbs_muscles_count(self->muscles);
  size_t *counts;

  if (given->muscle < 0 || (size_t)given->muscle >= muscle_count) {
    PyErr_Format(PyExc_IndexError, "there is no muscle %zd of %zu", given->muscle, muscle_count);
    return 0;
  }
  counts = core_hold_memory(address, muscle_count * sizeof *counts);
  if (counts == NULL) return 0;
  sbs_muscles_covered(self->muscles, counts);
  core_set_length(address, 'C', counts[given->muscle]);
  return 1;
}

static sbs_status run_cover_of(void *address, sbs_fault *fault) {
  cover_of_call *given = address;
  const core_muscles *self = core_self(given);

  return sbs_muscles_cover_of(self->muscles, (size_t)given->muscle, given->vertices, given->shares, given->distances,
                              fault);
}

CORE_ENTRY(core_cover_of, cover_of_call)

const core_function core_cover_of = {
    .name = "cover_of",
    .summary = "The skin that a muscle moves, and its distances at bind.",
    .parts = {CORE_PART(cover_of_rows)},
    .positional = 1,
    .size = sizeof(cover_of_call),
    .prepare = prepare_cover_of,
    .run = run_cover_of,
    .entry = core_cover_of_entry,
};

/* ------------------------------------------------------------------------------------------------- in each pose -- */

/* How the structure of a call in several poses starts. */
typedef struct poses_call {
  core_call call;
  sbs_pose poses;
  const double *activations;
} poses_call;

static const core_row poses_rows[] = {
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(poses_call, poses), "(F, J, 4, 4) or (F, J, 3, 4)"},
    {"activations", CORE_DOUBLES, .at = offsetof(poses_call, activations), "(F, M)", .none = 1},
};

static void begin_with_muscles(void *call) {
  const core_muscles *self = core_self(call);

  core_set_length(call, 'J', self->joint_count);
  core_set_length(call, 'M', sbs_muscles_count(self->muscles));
  core_set_length(call, 'V', self->vertex_count);
}

/* The activations in a frame, or NULL. */
static const double *find_activations(const poses_call *given, size_t frame) {
  return given->activations != NULL ? given->activations + frame * core_length(given, 'M') : NULL;
}

/* ------------------------------------------------------------------------------------------------------ measure -- */

typedef struct measure_call {
  poses_call in;
  double *measures;
  sbs_muscle_state *states;
} measure_call;

static const core_row measure_results[] = {
    {"measures", CORE_DOUBLES, .at = offsetof(measure_call, measures), "(F, M, 5)", .result = 1},
};

static int prepare_measure(void *address) {
  measure_call *given = address;

  given->states = core_hold_memory(given, core_length(given, 'M') * sizeof *given->states);
  return given->states != NULL;
}

static sbs_status measure_in_pose(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  measure_call *given = address;
  const core_muscles *self = core_self(given);
  const size_t count = core_length(given, 'M');
  const double *activations = find_activations(&given->in, frame);
  double *to = given->measures + frame * count * STATE_COUNT;
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
  return core_go_through_frames(address, &((const poses_call *)address)->poses, measure_in_pose, fault);
}

CORE_ENTRY(core_measure, measure_call)

const core_function core_measure = {
    .name = "measure",
    .summary = "Length, belly's length, growth, volume and whether it is limited.",
    .parts = {CORE_PART(poses_rows), CORE_PART(measure_results)},
    .positional = 2,
    .size = sizeof(measure_call),
    .begin = begin_with_muscles,
    .prepare = prepare_measure,
    .run = run_measure,
    .entry = core_measure_entry,
};

/* -------------------------------------------------------------------------------------------------------- cover -- */

typedef struct cover_call {
  poses_call in;
  char *positions, *normals;
  int threads;
} cover_call;

static const core_row outputs_rows[] = {
    {"positions", CORE_OUTPUT, .at = offsetof(cover_call, positions), "(F, V, 3)"},
    {"normals", CORE_OUTPUT, .at = offsetof(cover_call, normals), "(F, V, 3)", .none = 1},
};

static const core_row threads_row[] = {
    {"threads", CORE_THREADS, .at = offsetof(cover_call, threads), .optional = 1},
};

static sbs_status cover_in_pose(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const cover_call *given = address;
  const core_muscles *self = core_self(given);
  const int is_float = given->in.call.type == NPY_FLOAT;
  const size_t start = frame * self->vertex_count * 3 * (is_float ? sizeof(float) : sizeof(double));

  return sbs_muscles_cover(self->muscles, pose, find_activations(&given->in, frame),
                           is_float ? SBS_FLOAT32 : SBS_FLOAT64, given->positions + start, 0,
                           given->normals != NULL ? given->normals + start : NULL, 0, given->threads, fault);
}

static sbs_status run_cover(void *address, sbs_fault *fault) {
  return core_go_through_frames(address, &((const poses_call *)address)->poses, cover_in_pose, fault);
}

CORE_ENTRY(core_cover, cover_call)

const core_function core_cover = {
    .name = "cover",
    .summary = "Change deformed positions, and normals or None, in place.",
    .parts = {CORE_PART(outputs_rows), CORE_PART(poses_rows), CORE_PART(threads_row)},
    .positional = 5,
    .size = sizeof(cover_call),
    .begin = begin_with_muscles,
    .run = run_cover,
    .entry = core_cover_entry,
};

/* ------------------------------------------------------------------------------------------------------ surface -- */

typedef struct surface_call {
  poses_call in;
  double *surface;
  Py_ssize_t muscle;
  size_t rings, sides;
} surface_call;

static const core_row surface_rows[] = {
    {"muscle", CORE_INDEX, .at = offsetof(surface_call, muscle)},
    {"rings", CORE_COUNT, .at = offsetof(surface_call, rings), "R"},
    {"sides", CORE_COUNT, .at = offsetof(surface_call, sides), "S"},
    {"surface", CORE_DOUBLES, .at = offsetof(surface_call, surface), "(F, R, S, 3)", .result = 1},
};

enum {
  MOST_RINGS = 1 << 15
};

static int prepare_surface(void *address) {
  surface_call *given = address;

  if (given->rings > MOST_RINGS) given->rings = MOST_RINGS;
  if (given->sides > MOST_RINGS) given->sides = MOST_RINGS;
  core_set_length(given, 'R', given->rings);
  core_set_length(given, 'S', given->sides);
  return 1;
}

static sbs_status find_surface(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const surface_call *given = address;
  const core_muscles *self = core_self(given);

  return sbs_muscles_surface(self->muscles, pose, find_activations(&given->in, frame), (size_t)given->muscle,
                             given->rings, given->sides, given->surface + frame * given->rings * given->sides * 3,
                             fault);
}

static sbs_status run_surface(void *address, sbs_fault *fault) {
  return core_go_through_frames(address, &((const poses_call *)address)->poses, find_surface, fault);
}

CORE_ENTRY(core_surface, surface_call)

const core_function core_surface = {
    .name = "surface",
    .summary = "Rings of the belly's surface.",
    .parts = {CORE_PART(poses_rows), CORE_PART(surface_rows)},
    .positional = 5,
    .size = sizeof(surface_call),
    .begin = begin_with_muscles,
    .prepare = prepare_surface,
    .run = run_surface,
    .entry = core_surface_entry,
};

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_covered_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_muscles_covered(((const core_muscles *)object)->muscles, NULL));
}

static PyGetSetDef properties[] = {
    {"covered_count", get_covered_count, NULL, "int: how many vertices all muscles move.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_cover_of, &core_measure, &core_cover, &core_surface};

PyObject *core_new_muscles_type(PyObject *module) {
  static const core_class muscles = {
      .name = "sbs._core.Muscles",
      .make = &new_muscles,
      .new = muscles_new,
      .dealloc = muscles_dealloc,
      .traverse = core_traverse_type,
      .methods = methods,
      .method_count = CORE_TABLE_LENGTH(methods),
      .properties = properties,
      .size = sizeof(core_muscles),
  };
  return core_add_class(module, &muscles);
}
