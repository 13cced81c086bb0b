/* SPDX-License-Identifier: MIT */
#include "muscles_type.h"

#include <limits.h>

#include "arguments.h"
#include "errors.h"
#include "frames.h"

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

static const core_state *state_of(PyObject *object) {
  return PyType_GetModuleState(Py_TYPE(object));
}

static size_t count_of(const core_muscles *self) {
  return sbs_muscles_count(self->muscles);
}

static sbs_scalar scalar_of(PyArrayObject *array) {
  return PyArray_TYPE(array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
}

static void *data_or_null(const core_array *argument) {
  return argument->array != NULL ? PyArray_DATA(argument->array) : NULL;
}

/* ------------------------------------------------------------------------------------------ making and unmaking -- */

/* What describes the muscles; each has its row. Profiles and covered joints of all are in one array each. */
typedef struct arguments {
  core_count joint_count;
  core_array joints, points, point_counts, numbers, thin_directions, thin_joints;
  core_array profiles, profile_ends, covered, covered_ends;
  core_array positions, normals, triangles, joint_indices, joint_weights;
} arguments;

static arguments expected_arguments(void) {
  return (arguments){
      .joint_count = {.name = "joint_count", .largest = PY_SSIZE_T_MAX},
      .joints = {.name = "joints", .shape = "(M, 4)", .dimensions = 2},
      .points = {.name = "points", .shape = "(M, 4, 3)", .dimensions = 3},
      .point_counts = {.name = "point_counts", .shape = "(M,)", .dimensions = 1},
      .numbers = {.name = "numbers", .shape = "(M, 7)", .dimensions = 2},
      .thin_directions = {.name = "thin_directions", .shape = "(M, 3)", .dimensions = 2},
      .thin_joints = {.name = "thin_joints", .shape = "(M,)", .dimensions = 1},
      .profiles = {.name = "profiles", .shape = "(P,)", .dimensions = 1},
      .profile_ends = {.name = "profile_ends", .shape = "(M,)", .dimensions = 1},
      .covered = {.name = "covered", .shape = "(C,)", .dimensions = 1},
      .covered_ends = {.name = "covered_ends", .shape = "(M,)", .dimensions = 1},
      .positions = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2, .optional = 1},
      .normals = {.name = "rest_normals", .shape = "(V, 3)", .dimensions = 2, .optional = 1},
      .triangles = {.name = "triangles", .shape = "(T, 3)", .dimensions = 2, .optional = 1},
      .joint_indices = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2, .optional = 1},
      .joint_weights = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2, .optional = 1},
  };
}

static void release_arguments(arguments *given) {
  core_array *const all[] = {&given->joints,          &given->points,        &given->point_counts, &given->numbers,
                             &given->thin_directions, &given->thin_joints,   &given->profiles,     &given->profile_ends,
                             &given->covered,         &given->covered_ends,  &given->positions,    &given->normals,
                             &given->triangles,       &given->joint_indices, &given->joint_weights};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) core_release(all[i]);
}

/* Whether ends ascend to the length of what they divide; raises if not. */
static int check_ends(const core_array *ends, const core_array *divided) {
  const int32_t *end = PyArray_DATA(ends->array);
  const npy_intp count = PyArray_DIM(ends->array, 0);
  npy_intp before = 0;

  for (npy_intp i = 0; i < count; before = end[i], i++) {
    if (end[i] < before || end[i] > PyArray_DIM(divided->array, 0)) {
      PyErr_Format(PyExc_ValueError, "%s[%zd] = %d is out of range", ends->name, (Py_ssize_t)i, (int)end[i]);
      return 0;
    }
  }
  return 1;
}

static int check_muscles(const arguments *given) {
  const core_array *const rows[] = {&given->points,          &given->point_counts, &given->numbers,
                                    &given->thin_directions, &given->thin_joints,  &given->profile_ends,
                                    &given->covered_ends};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!core_check_agreement(&given->joints, rows[i], 0)) return 0;
  }
  return core_check_length(&given->joints, 1, SBS_MUSCLE_POINTS) &&
         core_check_length(&given->points, 1, SBS_MUSCLE_POINTS) && core_check_length(&given->points, 2, 3) &&
         core_check_length(&given->numbers, 1, NUMBER_COUNT) && core_check_length(&given->thin_directions, 1, 3) &&
         check_ends(&given->profile_ends, &given->profiles) && check_ends(&given->covered_ends, &given->covered);
}

static int check_mesh(arguments *given) {
  core_array *positions = &given->positions, *normals = &given->normals;
  if (positions->array == NULL) {
    if (normals->array == NULL && given->triangles.array == NULL && given->joint_indices.array == NULL) return 1;
    PyErr_SetString(PyExc_ValueError, "rest_normals, triangles and joint_indices need rest_positions");
    return 0;
  }
  if (!core_check_length(positions, 1, 3)) return 0;
  if (normals->array != NULL) {
    if (!core_check_agreement(positions, normals, 0) || !core_check_length(normals, 1, 3)) return 0;
    if (core_cast(normals, PyArray_TYPE(positions->array)) < 0) return 0;
  }
  if (given->triangles.array != NULL && !core_check_length(&given->triangles, 1, 3)) return 0;
  if ((given->joint_indices.array == NULL) != (given->joint_weights.array == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights belong together");
    return 0;
  }
  return given->joint_indices.array == NULL || (core_check_agreement(&given->joint_indices, &given->joint_weights, 0) &&
                                                core_check_agreement(&given->joint_indices, &given->joint_weights, 1) &&
                                                core_check_agreement(positions, &given->joint_indices, 0));
}

/* Row `m` of the arguments. */
static sbs_muscle muscle_of(const arguments *given, npy_intp m) {
  const int32_t *joints = PyArray_DATA(given->joints.array), *counts = PyArray_DATA(given->point_counts.array);
  const int32_t *profile_ends = PyArray_DATA(given->profile_ends.array);
  const int32_t *covered_ends = PyArray_DATA(given->covered_ends.array);
  const double *points = PyArray_DATA(given->points.array);
  const double *numbers = (const double *)PyArray_DATA(given->numbers.array) + NUMBER_COUNT * m;
  const double *thin = (const double *)PyArray_DATA(given->thin_directions.array) + 3 * m;
  const int32_t profile = m ? profile_ends[m - 1] : 0, covered = m ? covered_ends[m - 1] : 0;
  sbs_muscle muscle = {
      .point_count = counts[m] > 0 ? (size_t)counts[m] : 0,
      .radius = numbers[RADIUS],
      .profile_count = (size_t)(profile_ends[m] - profile),
      .profile = (const double *)PyArray_DATA(given->profiles.array) + profile,
      .tendons = {numbers[ORIGIN_TENDON], numbers[INSERTION_TENDON]},
      .flattening = numbers[FLATTENING],
      .thin_direction = {thin[0], thin[1], thin[2]},
      .thin_joint = ((const int32_t *)PyArray_DATA(given->thin_joints.array))[m],
      .contraction = numbers[CONTRACTION],
      .most_growth = numbers[MOST_GROWTH],
      .reach = numbers[REACH],
      .covered_count = (size_t)(covered_ends[m] - covered),
      .covered = (const int32_t *)PyArray_DATA(given->covered.array) + covered,
  };

  for (npy_intp i = 0; i < SBS_MUSCLE_POINTS; i++) {
    muscle.joints[i] = joints[SBS_MUSCLE_POINTS * m + i];
    for (npy_intp axis = 0; axis < 3; axis++) {
      muscle.points[i][axis] = points[3 * (SBS_MUSCLE_POINTS * m + i) + axis];
    }
  }
  return muscle;
}

static sbs_status make_muscles(const arguments *given, sbs_muscle *rows, sbs_muscles **muscles, sbs_fault *fault) {
  sbs_muscles_desc desc = sbs_default_muscles_desc();
  sbs_status status;

  desc.joint_count = (size_t)given->joint_count.value;
  desc.muscle_count = (size_t)PyArray_DIM(given->joints.array, 0);
  desc.muscles = rows;
  for (size_t m = 0; m < desc.muscle_count; m++) rows[m] = muscle_of(given, (npy_intp)m);
  if (given->positions.array != NULL) {
    desc.vertex_count = (size_t)PyArray_DIM(given->positions.array, 0);
    desc.scalar = scalar_of(given->positions.array);
    desc.rest_positions = PyArray_DATA(given->positions.array);
    desc.rest_normals = data_or_null(&given->normals);
  }
  if (given->triangles.array != NULL) {
    desc.triangle_count = (size_t)PyArray_DIM(given->triangles.array, 0);
    desc.triangles = PyArray_DATA(given->triangles.array);
  }
  if (given->joint_indices.array != NULL) {
    desc.influences_per_vertex = (size_t)PyArray_DIM(given->joint_indices.array, 1);
    desc.joint_indices = PyArray_DATA(given->joint_indices.array);
    desc.weight_scalar = scalar_of(given->joint_weights.array);
    desc.joint_weights = PyArray_DATA(given->joint_weights.array);
  }
  Py_BEGIN_ALLOW_THREADS
  status = sbs_muscles_new(&desc, NULL, muscles, fault);
  Py_END_ALLOW_THREADS
  return status;
}

/* The object is made last, so that it is never seen without its muscles. */
static PyObject *make(PyTypeObject *type, const arguments *given) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  const size_t count = (size_t)PyArray_DIM(given->joints.array, 0);
  sbs_muscle *rows = PyMem_Malloc((count ? count : 1) * sizeof *rows);
  sbs_muscles *muscles = NULL;
  sbs_fault fault = {0};
  sbs_status status;
  core_muscles *self;

  if (rows == NULL) return PyErr_NoMemory();
  status = make_muscles(given, rows, &muscles, &fault);
  PyMem_Free(rows);
  if (status != SBS_OK) {
    core_raise(PyType_GetModuleState(type), status, &fault, NULL);
    return NULL;
  }
  self = (core_muscles *)allocate(type, 0);
  if (self == NULL) {
    sbs_muscles_free(muscles);
    return NULL;
  }
  self->muscles = muscles;
  self->joint_count = (size_t)given->joint_count.value;
  self->vertex_count = given->positions.array != NULL ? (size_t)PyArray_DIM(given->positions.array, 0) : 0;
  return (PyObject *)self;
}

static PyObject *muscles_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {
      "joint_count",   "joints",        "points",  "point_counts", "numbers",        "thin_directions", "thin_joints",
      "profiles",      "profile_ends",  "covered", "covered_ends", "rest_positions", "rest_normals",    "triangles",
      "joint_indices", "joint_weights", NULL};
  arguments given = expected_arguments();
  PyObject *self = NULL;

  if (PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&O&O&O&O&O&O&O&O&O&|$O&O&O&O&O&:Muscles", keywords, core_convert_count, &given.joint_count,
          core_convert_int32, &given.joints, core_convert_doubles, &given.points, core_convert_int32,
          &given.point_counts, core_convert_doubles, &given.numbers, core_convert_doubles, &given.thin_directions,
          core_convert_int32, &given.thin_joints, core_convert_doubles, &given.profiles, core_convert_int32,
          &given.profile_ends, core_convert_int32, &given.covered, core_convert_int32, &given.covered_ends,
          core_convert_reals, &given.positions, core_convert_reals, &given.normals, core_convert_int32,
          &given.triangles, core_convert_int32, &given.joint_indices, core_convert_reals, &given.joint_weights) &&
      check_muscles(&given) && check_mesh(&given)) {
    self = make(type, &given);
  }
  release_arguments(&given);
  return self;
}

/* An instance refers to its type, and so to the module. The collector must know, or the module is never freed. */
static int muscles_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  return 0;
}

static void muscles_dealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

  PyObject_GC_UnTrack(object);
  sbs_muscles_free(((core_muscles *)object)->muscles);
  release(object);
  Py_DECREF(type);
}

/* ----------------------------------------------------------------------------------------------------- the cover -- */

static PyObject *muscles_cover_of(PyObject *object, PyObject *args) {
  const core_muscles *self = (const core_muscles *)object;
  PyObject *vertices = NULL, *shares = NULL, *rest = NULL, *result = NULL;
  Py_ssize_t number;
  size_t *counts;
  npy_intp count;

  if (!PyArg_ParseTuple(args, "n:cover_of", &number)) return NULL;
  if (number < 0 || (size_t)number >= count_of(self)) {
    PyErr_Format(PyExc_IndexError, "there is no muscle %zd of %zu", number, count_of(self));
    return NULL;
  }
  counts = PyMem_Malloc(count_of(self) * sizeof *counts);
  if (counts == NULL) return PyErr_NoMemory();
  sbs_muscles_covered(self->muscles, counts);
  count = (npy_intp)counts[number];
  PyMem_Free(counts);
  vertices = PyArray_SimpleNew(1, &count, NPY_INT32);
  shares = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
  rest = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
  if (vertices != NULL && shares != NULL && rest != NULL) {
    sbs_muscles_cover_of(self->muscles, (size_t)number, PyArray_DATA((PyArrayObject *)vertices),
                         PyArray_DATA((PyArrayObject *)shares), PyArray_DATA((PyArrayObject *)rest), NULL);
    result = PyTuple_Pack(3, vertices, shares, rest);
  }
  Py_XDECREF(vertices);
  Py_XDECREF(shares);
  Py_XDECREF(rest);
  return result;
}

/* ----------------------------------------------------------------------------------------------------- in a pose -- */

/* "activations", (F, M) or None. */
static core_array activations_argument(void) {
  return (core_array){.name = "activations", .shape = "(F, M)", .dimensions = 2, .optional = 1};
}

static int check_pose(const core_muscles *self, const core_array *matrices, const core_array *activations) {
  char expected[80];

  if (!core_check_frames(matrices, self->joint_count)) return 0;
  if (activations->array == NULL) return 1;
  if (PyArray_DIM(activations->array, 0) == PyArray_DIM(matrices->array, 0) &&
      (size_t)PyArray_DIM(activations->array, 1) == count_of(self)) {
    return 1;
  }
  PyOS_snprintf(expected, sizeof expected, "(%zd, %zu): frames and muscles",
                (Py_ssize_t)PyArray_DIM(matrices->array, 0), count_of(self));
  core_raise_shape(activations, expected);
  return 0;
}

static const double *activations_of(const core_muscles *self, const core_array *activations, npy_intp frame) {
  const double *all = data_or_null(activations);
  return all != NULL ? all + (size_t)frame * count_of(self) : NULL;
}

static PyObject *muscles_measure(PyObject *object, PyObject *args) {
  const core_muscles *self = (const core_muscles *)object;
  core_array matrices = {.name = "skinning_matrices", .shape = "(F, J, 4, 4) or (F, J, 3, 4)", .dimensions = 4};
  core_array activations = activations_argument();
  PyArrayObject *measures = NULL;
  sbs_muscle_state *states = NULL;
  sbs_fault fault = {0};
  sbs_status status = SBS_OK;

  if (!PyArg_ParseTuple(args, "O&O&:measure", core_convert_reals, &matrices, core_convert_doubles, &activations) ||
      !check_pose(self, &matrices, &activations)) {
    goto exit;
  }
  const npy_intp shape[3] = {PyArray_DIM(matrices.array, 0), (npy_intp)count_of(self), STATE_COUNT};
  measures = (PyArrayObject *)PyArray_SimpleNew(3, shape, NPY_DOUBLE);
  states = PyMem_Malloc(count_of(self) * sizeof *states);
  if (measures == NULL || states == NULL) {
    if (states == NULL) PyErr_NoMemory();
    Py_CLEAR(measures);
    goto exit;
  }
  double *to = PyArray_DATA(measures);
  for (npy_intp f = 0; f < shape[0] && status == SBS_OK; f++) {
    const sbs_pose pose = core_pose_of_frame(&matrices, f);
    status = sbs_muscles_measure(self->muscles, &pose, activations_of(self, &activations, f), states, &fault);
    for (npy_intp m = 0; m < shape[1] && status == SBS_OK; m++) {
      *to++ = states[m].length;
      *to++ = states[m].belly_length;
      *to++ = states[m].growth;
      *to++ = states[m].volume;
      *to++ = states[m].is_limited;
    }
    if (status != SBS_OK) core_raise_in_frame(state_of(object), &matrices, f, status, &fault);
  }
  if (status != SBS_OK) Py_CLEAR(measures);

exit:
  PyMem_Free(states);
  core_release(&matrices);
  core_release(&activations);
  return (PyObject *)measures;
}

/* Whether an array that is to be changed is (F, V, 3) for these matrices; raises if not. */
static int check_changed(const core_muscles *self, const core_array *changed, const core_array *matrices) {
  char expected[80];

  if (PyArray_DIM(changed->array, 0) == PyArray_DIM(matrices->array, 0) &&
      (size_t)PyArray_DIM(changed->array, 1) == self->vertex_count && PyArray_DIM(changed->array, 2) == 3) {
    return 1;
  }
  PyOS_snprintf(expected, sizeof expected, "(%zd, %zu, 3)", (Py_ssize_t)PyArray_DIM(matrices->array, 0),
                self->vertex_count);
  core_raise_shape(changed, expected);
  return 0;
}

/* Both are of one type and shape. */
static sbs_status cover_frames(const core_muscles *self, const core_array *matrices, const core_array *activations,
                               PyArrayObject *positions, PyArrayObject *normals, int threads, npy_intp *frame,
                               sbs_fault *fault) {
  const npy_intp frame_count = PyArray_DIM(matrices->array, 0);
  const npy_intp size = frame_count > 0 ? PyArray_NBYTES(positions) / frame_count : 0;
  sbs_status status = SBS_OK;

  for (npy_intp f = 0; f < frame_count && status == SBS_OK; f++) {
    const sbs_pose pose = core_pose_of_frame(matrices, f);
    *frame = f;
    status = sbs_muscles_cover(self->muscles, &pose, activations_of(self, activations, f), scalar_of(positions),
                               PyArray_BYTES(positions) + f * size, 0,
                               normals != NULL ? PyArray_BYTES(normals) + f * size : NULL, 0, threads, fault);
  }
  return status;
}

static PyObject *muscles_cover(PyObject *object, PyObject *args) {
  const core_muscles *self = (const core_muscles *)object;
  core_array matrices = {.name = "skinning_matrices", .shape = "(F, J, 4, 4) or (F, J, 3, 4)", .dimensions = 4};
  core_array activations = activations_argument();
  core_array positions = {.name = "positions", .shape = "(F, V, 3)", .dimensions = 3};
  core_array normals = {.name = "normals", .shape = "(F, V, 3)", .dimensions = 3, .optional = 1};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  PyObject *result = NULL;
  npy_intp frame = 0;
  sbs_fault fault = {0};
  sbs_status status;

  if (!PyArg_ParseTuple(args, "O&O&O&O&O&:cover", core_convert_output, &positions, core_convert_output, &normals,
                        core_convert_reals, &matrices, core_convert_doubles, &activations, core_convert_count,
                        &threads) ||
      !check_pose(self, &matrices, &activations) || !check_changed(self, &positions, &matrices) ||
      (normals.array != NULL && !check_changed(self, &normals, &matrices))) {
    goto exit;
  }
  if (normals.array != NULL && PyArray_TYPE(normals.array) != PyArray_TYPE(positions.array)) {
    PyErr_SetString(PyExc_TypeError, "positions and normals must be of one type");
    goto exit;
  }
  Py_BEGIN_ALLOW_THREADS
  status =
      cover_frames(self, &matrices, &activations, positions.array, normals.array, (int)threads.value, &frame, &fault);
  Py_END_ALLOW_THREADS
  if (status == SBS_OK)
    result = Py_NewRef(Py_None);
  else
    core_raise_in_frame(state_of(object), &matrices, frame, status, &fault);

exit:
  core_release(&matrices);
  core_release(&activations);
  core_release(&positions);
  core_release(&normals);
  return result;
}

static PyObject *muscles_surface(PyObject *object, PyObject *args) {
  const core_muscles *self = (const core_muscles *)object;
  core_array matrices = {.name = "skinning_matrices", .shape = "(F, J, 4, 4) or (F, J, 3, 4)", .dimensions = 4};
  core_array activations = activations_argument();
  core_count rings = {.name = "rings", .largest = 1 << 15}, sides = {.name = "sides", .largest = 1 << 15};
  PyArrayObject *surface = NULL;
  Py_ssize_t number;
  sbs_fault fault = {0};
  sbs_status status = SBS_OK;

  if (!PyArg_ParseTuple(args, "O&O&nO&O&:surface", core_convert_reals, &matrices, core_convert_doubles, &activations,
                        &number, core_convert_count, &rings, core_convert_count, &sides) ||
      !check_pose(self, &matrices, &activations)) {
    goto exit;
  }
  const npy_intp shape[4] = {PyArray_DIM(matrices.array, 0), rings.value, sides.value, 3};
  surface = (PyArrayObject *)PyArray_SimpleNew(4, shape, NPY_DOUBLE);
  if (surface == NULL) goto exit;
  for (npy_intp f = 0; f < shape[0] && status == SBS_OK; f++) {
    const sbs_pose pose = core_pose_of_frame(&matrices, f);
    double *to = (double *)PyArray_DATA(surface) + f * rings.value * sides.value * 3;
    status = sbs_muscles_surface(self->muscles, &pose, activations_of(self, &activations, f), (size_t)number,
                                 (size_t)rings.value, (size_t)sides.value, to, &fault);
    if (status != SBS_OK) core_raise_in_frame(state_of(object), &matrices, f, status, &fault);
  }
  if (status != SBS_OK) Py_CLEAR(surface);

exit:
  core_release(&matrices);
  core_release(&activations);
  return (PyObject *)surface;
}

/* --------------------------------------------------------------------------------------------------------- type -- */

static PyObject *get_covered_count(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromSize_t(sbs_muscles_covered(((const core_muscles *)object)->muscles, NULL));
}

static PyGetSetDef properties[] = {
    {"covered_count", get_covered_count, NULL, "How many vertices all muscles move.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {{"cover_of", muscles_cover_of, METH_VARARGS,
                                 "cover_of($self, muscle, /)\n--\n\n"
                                 "Vertices, shares and distances at bind (C,) of the skin that a muscle moves."},
                                {"measure", muscles_measure, METH_VARARGS,
                                 "measure($self, skinning_matrices, activations, /)\n--\n\n"
                                 "Length, belly's length, growth, volume and whether it is limited (F, M, 5)."},
                                {"cover", muscles_cover, METH_VARARGS,
                                 "cover($self, positions, normals, skinning_matrices, activations, threads, /)\n--\n\n"
                                 "Change deformed positions (F, V, 3), and normals or None, in place."},
                                {"surface", muscles_surface, METH_VARARGS,
                                 "surface($self, skinning_matrices, activations, muscle, rings, sides, /)\n--\n\n"
                                 "Rings of the belly's surface (F, rings, sides, 3)."},
                                {NULL, NULL, 0, NULL}};

static const char muscles_doc[] =
    "Muscles(joint_count, joints, points, point_counts, numbers, thin_directions, thin_joints, profiles, profile_ends, "
    "covered, covered_ends, *, rest_positions=None, rest_normals=None, triangles=None, joint_indices=None, "
    "joint_weights=None)\n--\n\n"
    "Muscles, one a row, and the skin that covers them. Nothing that is given is kept.";

static PyType_Slot slots[] = {{Py_tp_doc, (void *)muscles_doc},
                              {Py_tp_new, muscles_new},
                              {Py_tp_dealloc, muscles_dealloc},
                              {Py_tp_traverse, muscles_traverse},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};

static PyType_Spec spec = {
    .name = "sbs._core.Muscles",
    .basicsize = sizeof(core_muscles),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *core_new_muscles_type(PyObject *module) {
  return PyType_FromModuleAndSpec(module, &spec, NULL);
}
