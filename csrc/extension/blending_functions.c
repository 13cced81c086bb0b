/* SPDX-License-Identifier: MIT */
#include "blending_functions.h"

#include <string.h>

#include <sbs/blending.h>

#include "arguments.h"
#include "errors.h"
#include "interrupts.h"

/* -------------------------------------------------------------------------------------------------------- bones -- */

const char core_bone_tails_doc[] = "bone_tails(parents, joint_positions)\n--\n\n"
                                   "Where the bone of each joint ends: (J, 3) float64.";

PyObject *core_bone_tails(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {"parents", "joint_positions", NULL};
  core_array parents = {.name = "parents", .shape = "(J,)", .dimensions = 1};
  core_array positions = {.name = "joint_positions", .shape = "(J, 3)", .dimensions = 2};
  sbs_fault fault = {0};
  sbs_status status;
  PyArrayObject *tails = NULL;

  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&O&:bone_tails", keywords, core_convert_int32, &parents,
                                   core_convert_doubles, &positions)) {
    goto exit;
  }
  if (!core_check_length(&positions, 1, 3) || !core_check_agreement(&parents, &positions, 0)) goto exit;
  tails = (PyArrayObject *)PyArray_SimpleNew(2, PyArray_DIMS(positions.array), NPY_DOUBLE);
  if (tails == NULL) goto exit;
  CORE_BEGIN_CALL
  status = sbs_bones_tails((size_t)PyArray_DIM(parents.array, 0), PyArray_DATA(parents.array),
                           PyArray_DATA(positions.array), NULL, PyArray_DATA(tails), &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    core_raise(PyModule_GetState(module), status, &fault, NULL);
    Py_CLEAR(tails);
  }

exit:
  core_release(&parents);
  core_release(&positions);
  return (PyObject *)tails;
}

/* --------------------------------------------------------------------------------------------------------- bind -- */

const char core_blend_bones_doc[] =
    "blend_bones(rest_positions, parents, joint_positions, inverse_bind_matrices, names, *, tails=None, t_min=None,\n"
    "    t_max=None, blended=None, attachment=None, joint_indices=None, joint_weights=None)\n--\n\n"
    "Bones blending: (attachment (V,), t (V,), t_min (J,), t_max (J,), joint_indices (V, W), joint_weights (V, W),\n"
    "centers (V, 3), keeps (V,)). Matrices are (J, 3, 4); names, (J), are for errors.";

/* The arguments, in the order in which the function takes them. */
enum {
  REST_POSITIONS,
  PARENTS,
  JOINT_POSITIONS,
  INVERSE_BIND_MATRICES,
  TAILS,
  T_MIN,
  T_MAX,
  BLENDED,
  ATTACHMENT,
  JOINT_INDICES,
  JOINT_WEIGHTS,
  ARGUMENTS
};

/* The results, in the order of the fields of sbs_blending. */
enum {
  NEW_ATTACHMENT,
  NEW_T,
  NEW_T_MIN,
  NEW_T_MAX,
  NEW_JOINT_INDICES,
  NEW_JOINT_WEIGHTS,
  NEW_CENTERS,
  NEW_KEEPS,
  RESULTS
};

static void *data_or_null(const core_array *argument) {
  return argument->array != NULL ? PyArray_DATA(argument->array) : NULL;
}

/* Whether all shapes agree; raises if not. */
static int check_shapes(const core_array *given) {
  if (!core_check_length(&given[REST_POSITIONS], 1, 3) || !core_check_length(&given[JOINT_POSITIONS], 1, 3) ||
      !core_check_length(&given[INVERSE_BIND_MATRICES], 1, 3) ||
      !core_check_length(&given[INVERSE_BIND_MATRICES], 2, 4)) {
    return 0;
  }
  if (given[TAILS].array != NULL && !core_check_length(&given[TAILS], 1, 3)) return 0;
  for (int i = JOINT_POSITIONS; i <= BLENDED; i++)
    if (given[i].array != NULL && !core_check_agreement(&given[PARENTS], &given[i], 0)) return 0;
  for (int i = ATTACHMENT; i <= JOINT_WEIGHTS; i++)
    if (given[i].array != NULL && !core_check_agreement(&given[REST_POSITIONS], &given[i], 0)) return 0;
  if ((given[JOINT_INDICES].array == NULL) != (given[JOINT_WEIGHTS].array == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights go together");
    return 0;
  }
  return given[JOINT_INDICES].array == NULL || core_check_agreement(&given[JOINT_INDICES], &given[JOINT_WEIGHTS], 1);
}

static sbs_scalar scalar_of(const core_array *argument) {
  return PyArray_TYPE(argument->array) == NPY_FLOAT ? SBS_FLOAT32 : SBS_FLOAT64;
}

/* Describes arguments whose shapes agree; `table` is for the influences. */
static sbs_blending_desc describe(const core_array *given, sbs_influences_table *table) {
  sbs_blending_desc desc = sbs_default_blending_desc();

  desc.vertex_count = (size_t)PyArray_DIM(given[REST_POSITIONS].array, 0);
  desc.joint_count = (size_t)PyArray_DIM(given[PARENTS].array, 0);
  desc.scalar = scalar_of(&given[REST_POSITIONS]);
  desc.rest_positions = PyArray_DATA(given[REST_POSITIONS].array);
  desc.parents = PyArray_DATA(given[PARENTS].array);
  desc.joint_positions = PyArray_DATA(given[JOINT_POSITIONS].array);
  desc.inverse_bind_matrices = PyArray_DATA(given[INVERSE_BIND_MATRICES].array);
  desc.tails = data_or_null(&given[TAILS]);
  desc.t_min = data_or_null(&given[T_MIN]);
  desc.t_max = data_or_null(&given[T_MAX]);
  desc.blended = data_or_null(&given[BLENDED]);
  desc.attachment = data_or_null(&given[ATTACHMENT]);
  if (given[JOINT_INDICES].array == NULL) return desc;
  *table = (sbs_influences_table){
      .vertex_count = desc.vertex_count,
      .joint_count = desc.joint_count,
      .influences_per_vertex = (size_t)PyArray_DIM(given[JOINT_INDICES].array, 1),
      .joint_indices = PyArray_DATA(given[JOINT_INDICES].array),
      .scalar = scalar_of(&given[JOINT_WEIGHTS]),
      .joint_weights = PyArray_DATA(given[JOINT_WEIGHTS].array),
  };
  desc.influences = table;
  return desc;
}

/* Makes arrays for the results. */
static int new_results(const sbs_blending_desc *desc, PyArrayObject **results, sbs_blending *binding) {
  const npy_intp vertices = (npy_intp)desc->vertex_count, joints = (npy_intp)desc->joint_count;
  const npy_intp width = (npy_intp)sbs_blending_width(desc);
  const struct {
    npy_intp rows, columns; /* no columns: a list */
    int type;
  } forms[RESULTS] = {
      [NEW_ATTACHMENT] = {vertices, 0, NPY_INT32},
      [NEW_T] = {vertices, 0, NPY_DOUBLE},
      [NEW_T_MIN] = {joints, 0, NPY_DOUBLE},
      [NEW_T_MAX] = {joints, 0, NPY_DOUBLE},
      [NEW_JOINT_INDICES] = {vertices, width, NPY_INT32},
      [NEW_JOINT_WEIGHTS] = {vertices, width, NPY_DOUBLE},
      [NEW_CENTERS] = {vertices, 3, NPY_DOUBLE},
      [NEW_KEEPS] = {vertices, 0, NPY_BOOL},
  };

  for (int i = 0; i < RESULTS; i++) {
    const npy_intp shape[2] = {forms[i].rows, forms[i].columns};
    results[i] = (PyArrayObject *)PyArray_SimpleNew(shape[1] > 0 ? 2 : 1, shape, forms[i].type);
    if (results[i] == NULL) return 0;
  }
  *binding = (sbs_blending){
      .attachment = PyArray_DATA(results[NEW_ATTACHMENT]),
      .t = PyArray_DATA(results[NEW_T]),
      .t_min = PyArray_DATA(results[NEW_T_MIN]),
      .t_max = PyArray_DATA(results[NEW_T_MAX]),
      .joint_indices = PyArray_DATA(results[NEW_JOINT_INDICES]),
      .joint_weights = PyArray_DATA(results[NEW_JOINT_WEIGHTS]),
      .centers = PyArray_DATA(results[NEW_CENTERS]),
      .keeps = PyArray_DATA(results[NEW_KEEPS]),
  };
  return 1;
}

static void raise_zone(const sbs_fault *fault, PyObject *name) {
  char *t_min = PyOS_double_to_string(fault->value, 'g', 6, 0, NULL);
  char *t_max = PyOS_double_to_string(fault->limit, 'g', 6, 0, NULL);

  if (t_min != NULL && t_max != NULL)
    PyErr_Format(PyExc_ValueError, "t_min is %s, not below t_max, %s, of joint %R", t_min, t_max, name);
  PyMem_Free(t_min);
  PyMem_Free(t_max);
}

/* Raises a fault; names the joint if it is that of one. */
static void raise_fault(const core_state *state, sbs_status status, const sbs_fault *fault, PyObject *names,
                        const sbs_blending_desc *desc) {
  const int is_zone = status == SBS_ERROR_OPTION && strcmp(fault->argument, "t_min") == 0;
  const int is_joint = status == SBS_ERROR_OPTION && strcmp(fault->argument, "blended") == 0;
  PyObject *name;

  if (!is_zone && !is_joint) {
    core_raise(state, status, fault, NULL);
    return;
  }
  name = PySequence_GetItem(names, (Py_ssize_t)fault->index[0]);
  if (name == NULL) return;
  if (is_zone)
    raise_zone(fault, name);
  else if (desc->parents[fault->index[0]] < 0)
    PyErr_Format(PyExc_ValueError, "joint %R has no parent whose rotation it could blend with", name);
  else
    PyErr_Format(PyExc_ValueError,
                 "joint %R lies at the place of its child and its parent: it has no bone to blend along", name);
  Py_DECREF(name);
}

PyObject *core_blend_bones(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {
      "rest_positions", "parents", "joint_positions", "inverse_bind_matrices", "names",         "tails", "t_min",
      "t_max",          "blended", "attachment",      "joint_indices",         "joint_weights", NULL};
  core_array given[ARGUMENTS] = {
      [REST_POSITIONS] = {.name = "rest_positions", .shape = "(V, 3)", .dimensions = 2},
      [PARENTS] = {.name = "parents", .shape = "(J,)", .dimensions = 1},
      [JOINT_POSITIONS] = {.name = "joint_positions", .shape = "(J, 3)", .dimensions = 2},
      [INVERSE_BIND_MATRICES] = {.name = "inverse_bind_matrices", .shape = "(J, 3, 4)", .dimensions = 3},
      [TAILS] = {.name = "tails", .shape = "(J, 3)", .dimensions = 2, .optional = 1},
      [T_MIN] = {.name = "t_min", .shape = "(J,)", .dimensions = 1, .optional = 1},
      [T_MAX] = {.name = "t_max", .shape = "(J,)", .dimensions = 1, .optional = 1},
      [BLENDED] = {.name = "blended", .shape = "(J,)", .dimensions = 1, .optional = 1},
      [ATTACHMENT] = {.name = "attachment", .shape = "(V,)", .dimensions = 1, .optional = 1},
      [JOINT_INDICES] = {.name = "joint_indices", .shape = "(V, K)", .dimensions = 2, .optional = 1},
      [JOINT_WEIGHTS] = {.name = "joint_weights", .shape = "(V, K)", .dimensions = 2, .optional = 1},
  };
  PyObject *names = NULL, *result = NULL;
  PyArrayObject *results[RESULTS] = {NULL};
  sbs_blending_desc desc;
  sbs_influences_table table;
  sbs_blending binding;
  sbs_fault fault = {0};
  sbs_status status;

  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O&O&O&O&O|$O&O&O&O&O&O&O&:blend_bones", keywords, core_convert_reals, &given[REST_POSITIONS],
          core_convert_int32, &given[PARENTS], core_convert_doubles, &given[JOINT_POSITIONS], core_convert_doubles,
          &given[INVERSE_BIND_MATRICES], &names, core_convert_doubles, &given[TAILS], core_convert_doubles,
          &given[T_MIN], core_convert_doubles, &given[T_MAX], core_convert_flags, &given[BLENDED], core_convert_int32,
          &given[ATTACHMENT], core_convert_int32, &given[JOINT_INDICES], core_convert_reals, &given[JOINT_WEIGHTS])) {
    goto exit;
  }
  if (!check_shapes(given)) goto exit;
  desc = describe(given, &table);
  if (!new_results(&desc, results, &binding)) goto exit;
  CORE_BEGIN_CALL
  status = sbs_blending_bind(&desc, NULL, &binding, &fault);
  CORE_END_CALL
  if (status != SBS_OK) {
    raise_fault(PyModule_GetState(module), status, &fault, names, &desc);
    goto exit;
  }
  result = PyTuple_New(RESULTS);
  for (int i = 0; i < RESULTS && result != NULL; i++) {
    PyTuple_SetItem(result, i, (PyObject *)results[i]); /* takes the reference */
    results[i] = NULL;
  }

exit:
  for (int i = 0; i < ARGUMENTS; i++) core_release(&given[i]);
  for (int i = 0; i < RESULTS; i++) Py_XDECREF((PyObject *)results[i]);
  return result;
}
