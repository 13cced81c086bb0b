/* SPDX-License-Identifier: MIT */
/* _core.Muscles: a sbs_muscles, which never changes, so any number of threads may use it. */
#include <string.h>

#include "definitions.h"
#include "functions.h"
#include "geometry.h"
#include "pose.h"

#include <sbs/muscles.h>

/* Columns of `numbers`, and how many the result of `measure` has. */
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

/* Each muscle has its row. Profiles and covered joints of all are in one array each. */
typedef struct muscles_call {
  core_call call;
  const int32_t *joints, *point_counts, *thin_joints, *profile_ends, *covered, *covered_ends;
  const double *points, *numbers, *thin_directions, *profiles;
  sbs_muscles_desc desc;
  sbs_muscles *muscles;
} muscles_call;

#define AT(field) .at = offsetof(muscles_call, field)

static const core_row rows[] = {
    {"joint_count", CORE_COUNT, AT(desc.joint_count), "J"},
    {"joints", CORE_INT32, AT(joints), "(M, 4)"},
    {"points", CORE_DOUBLES, AT(points), "(M, 4, 3)"},
    {"point_counts", CORE_INT32, AT(point_counts), "(M,)"},
    {"numbers", CORE_DOUBLES, AT(numbers), "(M, 7)"},
    {"thin_directions", CORE_DOUBLES, AT(thin_directions), "(M, 3)"},
    {"thin_joints", CORE_INT32, AT(thin_joints), "(M,)"},
    {"profiles", CORE_DOUBLES, AT(profiles), "(P,)"},
    {"profile_ends", CORE_INT32, AT(profile_ends), "(M,)"},
    {"covered", CORE_INT32, AT(covered), "(C,)"},
    {"covered_ends", CORE_INT32, AT(covered_ends), "(M,)"},
    {"M", CORE_LENGTH, AT(desc.muscle_count)},
};

static const core_row skin_rows[] = {
    {"rest_positions", CORE_REALS, AT(desc.rest_positions), "(V, 3)", .scalar = offsetof(muscles_call, desc.scalar),
     .optional = 1},
    {"rest_normals", CORE_SAME, AT(desc.rest_normals), "(V, 3)", .optional = 1},
    {"triangles", CORE_INT32, AT(desc.triangles), "(T, 3)", .optional = 1},
    {"joint_indices", CORE_INT32, AT(desc.joint_indices), "(V, K)", .optional = 1},
    {"joint_weights", CORE_REALS, AT(desc.joint_weights), "(V, K)",
     .scalar = offsetof(muscles_call, desc.weight_scalar), .optional = 1},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"T", CORE_LENGTH, AT(desc.triangle_count)},
    {"K", CORE_LENGTH, AT(desc.influences_per_vertex)},
};

/* Row `m` of the arguments; profile, covered: the offsets of its own. */
static sbs_muscle read_muscle(const muscles_call *given, size_t m, const size_t *profile, const size_t *covered) {
  const double *numbers = given->numbers + NUMBER_COUNT * m, *thin = given->thin_directions + 3 * m;
  sbs_muscle muscle = {
      .point_count = given->point_counts[m] > 0 ? (size_t)given->point_counts[m] : 0,
      .radius = numbers[RADIUS],
      .profile_count = profile[1] - profile[0],
      .profile = given->profiles + profile[0],
      .tendons = {numbers[ORIGIN_TENDON], numbers[INSERTION_TENDON]},
      .flattening = numbers[FLATTENING],
      .thin_direction = {thin[0], thin[1], thin[2]},
      .thin_joint = given->thin_joints[m],
      .contraction = numbers[CONTRACTION],
      .most_growth = numbers[MOST_GROWTH],
      .reach = numbers[REACH],
      .covered_count = covered[1] - covered[0],
      .covered = given->covered + covered[0],
  };

  memcpy(muscle.joints, given->joints + SBS_MUSCLE_POINTS * m, sizeof muscle.joints);
  memcpy(muscle.points, given->points + 3 * SBS_MUSCLE_POINTS * m, sizeof muscle.points);
  return muscle;
}

static int prepare(void *address) {
  muscles_call *given = address;
  sbs_muscles_desc *desc = &given->desc;
  const size_t count = desc->muscle_count;
  const size_t *profiles = core_new_offsets(given, given->profile_ends, count, "profile_ends", 0, 'P', "shares");
  const size_t *covered =
      profiles != NULL ? core_new_offsets(given, given->covered_ends, count, "covered_ends", 0, 'C', "joints") : NULL;
  sbs_muscle *muscles;

  if (covered == NULL) return 0;
  if (desc->rest_positions == NULL) {
    core_set_length(given, 'V', 0);
    if (desc->rest_normals != NULL || desc->triangles != NULL || desc->joint_indices != NULL) {
      PyErr_SetString(PyExc_ValueError, "rest_normals, triangles and joint_indices need rest_positions");
      return 0;
    }
  }
  if ((desc->joint_indices == NULL) != (desc->joint_weights == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights belong together");
    return 0;
  }
  muscles = core_hold_memory(given, count * sizeof *muscles);
  for (size_t m = 0; muscles != NULL && m < count; m++) muscles[m] = read_muscle(given, m, profiles + m, covered + m);
  desc->muscles = muscles;
  return muscles != NULL;
}

static sbs_status run(void *address, sbs_fault *fault) {
  muscles_call *given = address;
  return sbs_muscles_new(&given->desc, NULL, &given->muscles, fault);
}

static void release(void *muscles) {
  sbs_muscles_free(muscles);
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
  const size_t muscle_count = core_length(given, 'M');
  size_t *counts;

  if (given->muscle < 0 || (size_t)given->muscle >= muscle_count) {
    PyErr_Format(PyExc_IndexError, "there is no muscle %zd of %zu", given->muscle, muscle_count);
    return 0;
  }
  counts = core_hold_memory(address, muscle_count * sizeof *counts);
  if (counts == NULL) return 0;
  sbs_muscles_covered(core_made(given), counts);
  core_set_length(address, 'C', counts[given->muscle]);
  return 1;
}

static sbs_status run_cover_of(void *address, sbs_fault *fault) {
  cover_of_call *given = address;

  return sbs_muscles_cover_of(core_made(given), (size_t)given->muscle, given->vertices, given->shares, given->distances,
                              fault);
}

CORE_FUNCTION(core_cover_of, cover_of_call, .name = "cover_of",
              .summary = "The skin that a muscle moves, and its distances at bind.",
              .parts = {CORE_PART(cover_of_rows)}, .positional = 1, .prepare = prepare_cover_of, .run = run_cover_of)

/* ------------------------------------------------------------------------------------------------- in each frame -- */

/* A call of any method for frames: each uses some of the fields. */
typedef struct frames_call {
  core_pose_call posed;
  const double *activations;
  double *measures;
  sbs_muscle_state *states;
  char *positions, *normals;
  int threads;
  double *surface;
  Py_ssize_t muscle;
  size_t rings, sides;
} frames_call;

#undef AT
#define AT(field) .at = offsetof(frames_call, field)
#define FRAMES_PARTS CORE_PART(core_matrices_of_frames_row), CORE_PART(activations_row)

static const core_row activations_row[] = {{"activations", CORE_DOUBLES, AT(activations), "(F, M)", .none = 1}};

/* The activations in a frame, or NULL. */
static const double *find_activations(const frames_call *given, size_t frame) {
  return given->activations != NULL ? given->activations + frame * core_length(given, 'M') : NULL;
}

/* ------------------------------------------------------------------------------------------------------ measure -- */

static const core_row measure_results[] = {
    {"measures", CORE_DOUBLES, AT(measures), "(F, M, 5)", .result = 1},
};

static int prepare_measure(void *address) {
  frames_call *given = address;

  given->states = core_hold_memory(given, core_length(given, 'M') * sizeof *given->states);
  return given->states != NULL;
}

static sbs_status measure_in_pose(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  frames_call *given = address;
  const size_t count = core_length(given, 'M');
  const double *activations = find_activations(given, frame);
  double *to = given->measures + frame * count * STATE_COUNT;
  const sbs_status status = sbs_muscles_measure(core_made(given), pose, activations, given->states, fault);

  for (size_t m = 0; m < count && status == SBS_OK; m++) {
    *to++ = given->states[m].length;
    *to++ = given->states[m].belly_length;
    *to++ = given->states[m].growth;
    *to++ = given->states[m].volume;
    *to++ = given->states[m].is_limited;
  }
  return status;
}

CORE_FUNCTION(core_measure, frames_call, .name = "measure",
              .summary = "Length, belly's length, growth, volume and whether it is limited.",
              .parts = {FRAMES_PARTS, CORE_PART(measure_results)}, .positional = 2, .prepare = prepare_measure,
              .run_frame = measure_in_pose)

/* -------------------------------------------------------------------------------------------------------- cover -- */

static const core_row outputs_rows[] = {
    {"positions", CORE_OUTPUT, AT(positions), "(F, V, 3)"},
    {"normals", CORE_OUTPUT, AT(normals), "(F, V, 3)", .none = 1},
};

static const core_row threads_row[] = {
    {"threads", CORE_THREADS, AT(threads), .optional = 1},
};

static sbs_status cover_in_pose(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const frames_call *given = address;
  const int is_float = given->posed.call.type == NPY_FLOAT;
  const size_t start = frame * core_length(given, 'V') * 3 * (is_float ? sizeof(float) : sizeof(double));

  return sbs_muscles_cover(core_made(given), pose, find_activations(given, frame), is_float ? SBS_FLOAT32 : SBS_FLOAT64,
                           given->positions + start, 0, given->normals != NULL ? given->normals + start : NULL, 0,
                           given->threads, fault);
}

CORE_FUNCTION(core_cover, frames_call, .name = "cover",
              .summary = "Change deformed positions, and normals or None, in place.",
              .parts = {CORE_PART(outputs_rows), FRAMES_PARTS, CORE_PART(threads_row)}, .positional = 5,
              .run_frame = cover_in_pose)

/* ------------------------------------------------------------------------------------------------------ surface -- */

static const core_row surface_rows[] = {
    {"muscle", CORE_INDEX, AT(muscle)},
    {"rings", CORE_COUNT, AT(rings), "R"},
    {"sides", CORE_COUNT, AT(sides), "S"},
    {"surface", CORE_DOUBLES, AT(surface), "(F, R, S, 3)", .result = 1},
};

enum {
  MOST_RINGS = 1 << 15
};

static int prepare_surface(void *address) {
  frames_call *given = address;

  if (given->rings > MOST_RINGS) given->rings = MOST_RINGS;
  if (given->sides > MOST_RINGS) given->sides = MOST_RINGS;
  core_set_length(given, 'R', given->rings);
  core_set_length(given, 'S', given->sides);
  return 1;
}

static sbs_status find_surface(void *address, size_t frame, const sbs_pose *pose, sbs_fault *fault) {
  const frames_call *given = address;

  return sbs_muscles_surface(core_made(given), pose, find_activations(given, frame), (size_t)given->muscle,
                             given->rings, given->sides, given->surface + frame * given->rings * given->sides * 3,
                             fault);
}

CORE_FUNCTION(core_surface, frames_call, .name = "surface", .summary = "Rings of the belly's surface.",
              .parts = {FRAMES_PARTS, CORE_PART(surface_rows)}, .positional = 5, .prepare = prepare_surface,
              .run_frame = find_surface)

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_covered_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_muscles_covered(((const core_object *)object)->made, NULL));
}

static PyGetSetDef properties[] = {
    {"covered_count", get_covered_count, NULL, "int: how many vertices all muscles move.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static const core_function *const methods[] = {&core_cover_of, &core_measure, &core_cover, &core_surface, NULL};

CORE_CLASS(core_muscles_class, muscles_call, .number = CORE_MUSCLES, .type = "sbs._core.Muscles",
           .made_at = offsetof(muscles_call, muscles), .release = release, .methods = methods, .properties = properties,
           .make.name = "Muscles",
           .make.summary = "Muscles, one a row, and the skin that covers them. Nothing that is given is kept.",
           .make.parts = {CORE_PART(rows), CORE_PART(skin_rows)}, .make.positional = 11, .make.prepare = prepare,
           .make.run = run)
