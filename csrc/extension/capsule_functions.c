/* SPDX-License-Identifier: MIT */
#include "capsule_functions.h"

#include <limits.h>

#include <sbs/capsules.h>

#include "arguments.h"
#include "errors.h"
#include "interrupts.h"

/* ---------------------------------------------------------------------------------------------------- arguments -- */

/* In the order of sbs_capsules_falloff and sbs_capsules_outside. */
static const char *const falloff_words[] = {"linear", "smooth", "quadratic", NULL};
static const char *const outside_words[] = {"nearest", "unweighted", "error", NULL};

/* The arrays of capsules, in the order in which all functions here take them. */
enum {
  HEADS,
  TAILS,
  INNER_RADII,
  OUTER_RADII,
  MULTIPLIERS,
  ENABLED,
  FALLOFFS,
  CAPSULE_ARRAYS
};

typedef struct capsule_arguments {
  core_array arrays[CAPSULE_ARRAYS];
} capsule_arguments;

static capsule_arguments default_capsules(void) {
  return (capsule_arguments){{
      [HEADS] = {.name = "heads", .shape = "(J, 3)", .dimensions = 2},
      [TAILS] = {.name = "tails", .shape = "(J, 3)", .dimensions = 2},
      [INNER_RADII] = {.name = "inner_radii", .shape = "(J, 2)", .dimensions = 2},
      [OUTER_RADII] = {.name = "outer_radii", .shape = "(J, 2)", .dimensions = 2},
      [MULTIPLIERS] = {.name = "multipliers", .shape = "(J,)", .dimensions = 1, .optional = 1},
      [ENABLED] = {.name = "enabled", .shape = "(J,)", .dimensions = 1, .optional = 1},
      [FALLOFFS] = {.name = "falloffs", .shape = "(J,)", .dimensions = 1, .optional = 1},
  }};
}

static void release_capsules(capsule_arguments *capsules) {
  for (int i = 0; i < CAPSULE_ARRAYS; i++) core_release(&capsules->arrays[i]);
}

/* Converts the tuple of seven arrays; an "O&" converter. */
static int convert_capsules(PyObject *object, void *address) {
  static int (*const converters[CAPSULE_ARRAYS])(PyObject *, void *) = {
      core_convert_doubles, core_convert_doubles, core_convert_doubles, core_convert_doubles,
      core_convert_doubles, core_convert_flags,   core_convert_int32};
  capsule_arguments *capsules = address;

  if (!PyTuple_Check(object) || PyTuple_Size(object) != CAPSULE_ARRAYS) {
    PyErr_SetString(PyExc_TypeError, "capsules must be a tuple of seven arrays");
    return 0;
  }
  for (int i = 0; i < CAPSULE_ARRAYS; i++)
    if (!converters[i](PyTuple_GetItem(object, i), &capsules->arrays[i])) return 0;
  return 1;
}

/* Whether all shapes agree; raises if not. */
static int check_shapes(const capsule_arguments *capsules) {
  const core_array *arrays = capsules->arrays;
  const npy_intp columns[CAPSULE_ARRAYS] = {[HEADS] = 3, [TAILS] = 3, [INNER_RADII] = 2, [OUTER_RADII] = 2};

  for (int i = HEADS; i <= OUTER_RADII; i++)
    if (!core_check_length(&arrays[i], 1, columns[i])) return 0;
  for (int i = TAILS; i < CAPSULE_ARRAYS; i++)
    if (arrays[i].array != NULL && !core_check_agreement(&arrays[HEADS], &arrays[i], 0)) return 0;
  return 1;
}

static sbs_capsules describe_capsules(const capsule_arguments *capsules) {
  const core_array *arrays = capsules->arrays;

  return (sbs_capsules){
      .capsule_count = (size_t)PyArray_DIM(arrays[HEADS].array, 0),
      .heads = PyArray_DATA(arrays[HEADS].array),
      .tails = PyArray_DATA(arrays[TAILS].array),
      .inner_radii = PyArray_DATA(arrays[INNER_RADII].array),
      .outer_radii = PyArray_DATA(arrays[OUTER_RADII].array),
      .multipliers = arrays[MULTIPLIERS].array != NULL ? PyArray_DATA(arrays[MULTIPLIERS].array) : NULL,
      .enabled = arrays[ENABLED].array != NULL ? PyArray_DATA(arrays[ENABLED].array) : NULL,
      .falloffs = arrays[FALLOFFS].array != NULL ? PyArray_DATA(arrays[FALLOFFS].array) : NULL,
  };
}

static sbs_capsules_points describe_points(const core_array *points) {
  return (sbs_capsules_points){
      .point_count = (size_t)PyArray_DIM(points->array, 0),
      .scalar = PyArray_TYPE(points->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64,
      .points = PyArray_DATA(points->array),
  };
}

/* -------------------------------------------------------------------------------------------------------- check -- */

const char core_check_capsules_doc[] = "check_capsules(capsules)\n--\n\n"
                                       "Checked copies of the arrays of capsules, read-only, with defaults filled in.";

/* A new read-only array of the values of an argument, or of their default. */
static PyObject *keep(const core_array *argument, npy_intp count, int type, long standard) {
  PyObject *kept =
      argument->array != NULL ? PyArray_NewCopy(argument->array, NPY_CORDER) : PyArray_SimpleNew(1, &count, type);

  if (kept == NULL) return NULL;
  if (argument->array == NULL) {
    PyObject *value = PyLong_FromLong(standard);
    const int filled = value != NULL ? PyArray_FillWithScalar((PyArrayObject *)kept, value) : -1;
    Py_XDECREF(value);
    if (filled < 0) {
      Py_DECREF(kept);
      return NULL;
    }
  }
  PyArray_CLEARFLAGS((PyArrayObject *)kept, NPY_ARRAY_WRITEABLE);
  return kept;
}

PyObject *core_check_capsules(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"capsules", NULL};
  capsule_arguments given = default_capsules();
  sbs_capsules capsules;
  sbs_fault fault = {0};
  sbs_status status;
  static const int types[CAPSULE_ARRAYS] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE,
                                            NPY_DOUBLE, NPY_BOOL,   NPY_INT32};
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&:check_capsules", keywords, convert_capsules, &given)) goto exit;
  if (!check_shapes(&given)) goto exit;
  capsules = describe_capsules(&given);
  status = sbs_capsules_check(&capsules, &fault);
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    goto exit;
  }
  result = PyTuple_New(CAPSULE_ARRAYS);
  for (int i = 0; result != NULL && i < CAPSULE_ARRAYS; i++) {
    PyObject *kept = keep(&given.arrays[i], (npy_intp)capsules.capsule_count, types[i], i == FALLOFFS ? -1 : 1);
    if (kept == NULL || PyTuple_SetItem(result, i, kept) < 0) Py_CLEAR(result);
  }

exit:
  release_capsules(&given);
  return result;
}

/* ------------------------------------------------------------------------------------------------------ weights -- */

const char core_capsule_weights_doc[] =
    "capsule_weights(points, capsules, *, falloff='linear', outside='nearest', limit=None, dense=False, "
    "threads=None)\n--\n\n"
    "Capsule weights: (joint_indices (V, K), joint_weights (V, K)), or a matrix (V, J).";

/* The arguments of a call, converted. */
typedef struct weighing {
  sbs_capsules capsules;
  sbs_capsules_points points;
  sbs_capsules_options options;
  size_t limit; /* 0: none */
} weighing;

/* A new pair of arrays. Without a limit they have room for the influences of the point with the most. */
static PyObject *weigh_sparse(PyObject *module, const weighing *what, int type) {
  PyArrayObject *joint_indices = NULL, *joint_weights = NULL;
  sbs_capsules_report report = {.max_influences = what->limit};
  sbs_fault fault = {0};
  sbs_status status = SBS_OK;
  npy_intp shape[2];
  PyObject *result = NULL;

  if (what->limit == 0) {
    CORE_BEGIN_CALL
    status = sbs_capsules_weights(&what->capsules, &what->points, &what->options, 0, NULL, NULL, &report, &fault);
    CORE_END_CALL
    if (report.max_influences == 0) report.max_influences = 1;
  }
  if (status == SBS_OK) {
    shape[0] = (npy_intp)what->points.point_count;
    shape[1] = (npy_intp)report.max_influences;
    joint_indices = (PyArrayObject *)PyArray_SimpleNew(2, shape, NPY_INT32);
    joint_weights = (PyArrayObject *)PyArray_SimpleNew(2, shape, type);
    if (joint_indices == NULL || joint_weights == NULL) goto exit;
    CORE_BEGIN_CALL
    status = sbs_capsules_weights(&what->capsules, &what->points, &what->options, report.max_influences,
                                  PyArray_DATA(joint_indices), PyArray_DATA(joint_weights), NULL, &fault);
    CORE_END_CALL
  }
  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = PyTuple_Pack(2, (PyObject *)joint_indices, (PyObject *)joint_weights);

exit:
  Py_XDECREF((PyObject *)joint_indices);
  Py_XDECREF((PyObject *)joint_weights);
  return result;
}

static PyObject *weigh_dense(PyObject *module, const weighing *what, int type) {
  const npy_intp shape[2] = {(npy_intp)what->points.point_count, (npy_intp)what->capsules.capsule_count};
  PyObject *joint_weights = PyArray_SimpleNew(2, shape, type);
  sbs_fault fault = {0};
  sbs_status status;

  if (joint_weights == NULL) return NULL;
  CORE_BEGIN_CALL
  status = sbs_capsules_weights_dense(&what->capsules, &what->points, &what->options, what->limit,
                                      PyArray_DATA((PyArrayObject *)joint_weights), NULL, &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    Py_CLEAR(joint_weights);
  }
  return joint_weights;
}

PyObject *core_capsule_weights(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"points", "capsules", "falloff", "outside", "limit", "dense", "threads", NULL};
  core_array points = {.name = "points", .shape = "(V, 3)", .dimensions = 2};
  capsule_arguments capsules = default_capsules();
  core_choice falloff = {"falloff", falloff_words, SBS_CAPSULES_FALLOFF_LINEAR};
  core_choice outside = {"outside", outside_words, SBS_CAPSULES_OUTSIDE_NEAREST};
  core_count limit = {.name = "limit", .largest = PY_SSIZE_T_MAX};
  core_count threads = {.name = "threads", .largest = INT_MAX};
  int dense = 0, type;
  weighing what;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O&O&O&pO&:capsule_weights", keywords, core_convert_reals,
                                   &points, convert_capsules, &capsules, core_convert_choice, &falloff,
                                   core_convert_choice, &outside, core_convert_count, &limit, &dense,
                                   core_convert_count, &threads)) {
    goto exit;
  }
  if (!check_shapes(&capsules) || !core_check_length(&points, 1, 3)) goto exit;
  type = PyArray_TYPE(points.array);
  what = (weighing){describe_capsules(&capsules), describe_points(&points), sbs_default_capsules_options(),
                    (size_t)limit.value};
  what.options.falloff = (sbs_capsules_falloff)falloff.value;
  what.options.outside = (sbs_capsules_outside)outside.value;
  what.options.threads = (int)threads.value;
  if (what.limit > what.capsules.capsule_count) what.limit = what.capsules.capsule_count;
  result = dense ? weigh_dense(module, &what, type) : weigh_sparse(module, &what, type);

exit:
  core_release(&points);
  release_capsules(&capsules);
  return result;
}

/* ------------------------------------------------------------------------------------------------------ outside -- */

const char core_count_outside_doc[] = "count_outside(points, capsules, *, threads=None)\n--\n\n"
                                      "How many points are outside of all outer capsules.";

PyObject *core_count_outside(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"points", "capsules", "threads", NULL};
  core_array points = {.name = "points", .shape = "(V, 3)", .dimensions = 2};
  capsule_arguments capsules = default_capsules();
  core_count threads = {.name = "threads", .largest = INT_MAX};
  sbs_capsules_options options = sbs_default_capsules_options();
  sbs_capsules_report report = {0};
  sbs_capsules described;
  sbs_capsules_points described_points;
  sbs_fault fault = {0};
  sbs_status status;
  PyObject *result = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&|$O&:count_outside", keywords, core_convert_reals, &points,
                                   convert_capsules, &capsules, core_convert_count, &threads)) {
    goto exit;
  }
  if (!check_shapes(&capsules) || !core_check_length(&points, 1, 3)) goto exit;
  described = describe_capsules(&capsules);
  described_points = describe_points(&points);
  options.outside = SBS_CAPSULES_OUTSIDE_UNWEIGHTED;
  options.threads = (int)threads.value;

  CORE_BEGIN_CALL
  status = sbs_capsules_weights(&described, &described_points, &options, 0, NULL, NULL, &report, &fault);
  CORE_END_CALL

  if (status != SBS_OK)
    core_raise(PyModule_GetState(module), status, &fault, NULL);
  else
    result = PyLong_FromSize_t(report.outside);

exit:
  core_release(&points);
  release_capsules(&capsules);
  return result;
}
