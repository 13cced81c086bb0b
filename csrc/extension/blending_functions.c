/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "functions.h"
#include "influences.h"

#include <sbs/blending.h>

/* ---------------------------------------------------------------------------------------------------- bone_tails -- */

typedef struct tails_call {
  core_call call;
  PyArrayObject *parents, *joint_positions, *tails;
} tails_call;

static const core_argument tails_arguments[] = {
    {"parents", CORE_INT32, .at = offsetof(tails_call, parents), "(J,)"},
    {"joint_positions", CORE_DOUBLES, .at = offsetof(tails_call, joint_positions), "(J, 3)"},
};

static const core_argument tails_results[] = {
    {"tails", CORE_DOUBLES, .at = offsetof(tails_call, tails), "(J, 3)"},
};

static sbs_status run_tails(void *address, sbs_fault *fault) {
  tails_call *given = address;

  return sbs_bones_tails(core_length(&given->call, 'J'), PyArray_DATA(given->parents),
                         PyArray_DATA(given->joint_positions), NULL, PyArray_DATA(given->tails), fault);
}

CORE_ENTRY(enter_tails, core_bone_tails, tails_call)

const core_function core_bone_tails = {
    .name = "bone_tails",
    .summary = "Where the bone of each joint ends.",
    .parts = {CORE_PART(tails_arguments)},
    .positional = 2,
    CORE_RESULTS(tails_results),
    .size = sizeof(tails_call),
    .run = run_tails,
    .entry = enter_tails,
};

/* --------------------------------------------------------------------------------------------------- blend_bones -- */

typedef struct bones_call {
  core_call call;
  PyArrayObject *rest_positions, *parents, *joint_positions, *inverse_bind_matrices;
  PyObject *names;
  PyArrayObject *tails, *t_min, *t_max, *blended, *attachment, *joint_indices, *joint_weights;
  PyArrayObject *new_attachment, *new_t, *new_t_min, *new_t_max, *new_joint_indices, *new_joint_weights, *new_centers;
  PyArrayObject *new_keeps;
  sbs_blending_desc desc;
  sbs_influences_table influences;
} bones_call;

static const core_argument bones_arguments[] = {
    {"rest_positions", CORE_REALS, .at = offsetof(bones_call, rest_positions), "(V, 3)"},
    {"parents", CORE_INT32, .at = offsetof(bones_call, parents), "(J,)"},
    {"joint_positions", CORE_DOUBLES, .at = offsetof(bones_call, joint_positions), "(J, 3)"},
    {"inverse_bind_matrices", CORE_DOUBLES, .at = offsetof(bones_call, inverse_bind_matrices), "(J, 3, 4)"},
    {"names", CORE_OBJECT, .at = offsetof(bones_call, names), .type = "Sequence[str]"},
    {"tails", CORE_DOUBLES, .at = offsetof(bones_call, tails), "(J, 3)", .optional = 1},
    {"t_min", CORE_DOUBLES, .at = offsetof(bones_call, t_min), "(J,)", .optional = 1},
    {"t_max", CORE_DOUBLES, .at = offsetof(bones_call, t_max), "(J,)", .optional = 1},
    {"blended", CORE_FLAGS, .at = offsetof(bones_call, blended), "(J,)", .optional = 1},
    {"attachment", CORE_INT32, .at = offsetof(bones_call, attachment), "(V,)", .optional = 1},
    {"joint_indices", CORE_INT32, .at = offsetof(bones_call, joint_indices), "(V, K)", .optional = 1},
    {"joint_weights", CORE_REALS, .at = offsetof(bones_call, joint_weights), "(V, K)", .optional = 1},
};

static const core_argument bones_results[] = {
    {"attachment", CORE_INT32, .at = offsetof(bones_call, new_attachment), "(V,)"},
    {"t", CORE_DOUBLES, .at = offsetof(bones_call, new_t), "(V,)"},
    {"t_min", CORE_DOUBLES, .at = offsetof(bones_call, new_t_min), "(J,)"},
    {"t_max", CORE_DOUBLES, .at = offsetof(bones_call, new_t_max), "(J,)"},
    {"joint_indices", CORE_INT32, .at = offsetof(bones_call, new_joint_indices), "(V, W)"},
    {"joint_weights", CORE_DOUBLES, .at = offsetof(bones_call, new_joint_weights), "(V, W)"},
    {"centers", CORE_DOUBLES, .at = offsetof(bones_call, new_centers), "(V, 3)"},
    {"keeps", CORE_FLAGS, .at = offsetof(bones_call, new_keeps), "(V,)"},
};

static int prepare_bones(void *address) {
  bones_call *given = address;
  sbs_blending_desc *desc = &given->desc;

  if ((given->joint_indices == NULL) != (given->joint_weights == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights go together");
    return 0;
  }
  *desc = sbs_default_blending_desc();
  desc->vertex_count = core_length(&given->call, 'V');
  desc->joint_count = core_length(&given->call, 'J');
  desc->scalar = core_scalar(given->rest_positions);
  desc->rest_positions = PyArray_DATA(given->rest_positions);
  desc->parents = PyArray_DATA(given->parents);
  desc->joint_positions = PyArray_DATA(given->joint_positions);
  desc->inverse_bind_matrices = PyArray_DATA(given->inverse_bind_matrices);
  desc->tails = core_data(given->tails);
  desc->t_min = core_data(given->t_min);
  desc->t_max = core_data(given->t_max);
  desc->blended = core_data(given->blended);
  desc->attachment = core_data(given->attachment);
  if (given->joint_indices != NULL) {
    given->influences = core_influences_of(given->joint_indices, given->joint_weights, desc->joint_count);
    desc->influences = &given->influences;
  }
  core_set_length(&given->call, 'W', sbs_blending_width(desc));
  return 1;
}

static sbs_status run_bones(void *address, sbs_fault *fault) {
  bones_call *given = address;
  sbs_blending binding = {
      .attachment = PyArray_DATA(given->new_attachment),
      .t = PyArray_DATA(given->new_t),
      .t_min = PyArray_DATA(given->new_t_min),
      .t_max = PyArray_DATA(given->new_t_max),
      .joint_indices = PyArray_DATA(given->new_joint_indices),
      .joint_weights = PyArray_DATA(given->new_joint_weights),
      .centers = PyArray_DATA(given->new_centers),
      .keeps = PyArray_DATA(given->new_keeps),
  };

  return sbs_blending_bind(&given->desc, NULL, &binding, fault);
}

static void raise_zone(const sbs_fault *fault, PyObject *name) {
  char *t_min = PyOS_double_to_string(fault->value, 'g', 6, 0, NULL);
  char *t_max = PyOS_double_to_string(fault->limit, 'g', 6, 0, NULL);

  if (t_min != NULL && t_max != NULL)
    PyErr_Format(PyExc_ValueError, "t_min is %s, not below t_max, %s, of joint %R", t_min, t_max, name);
  PyMem_Free(t_min);
  PyMem_Free(t_max);
}

/* Faults of a joint name it. */
static int raise_bones(void *address, sbs_status status, const sbs_fault *fault) {
  const bones_call *given = address;
  const int is_zone = status == SBS_ERROR_OPTION && strcmp(fault->argument, "t_min") == 0;
  const int is_joint = status == SBS_ERROR_OPTION && strcmp(fault->argument, "blended") == 0;
  PyObject *name;

  if (!is_zone && !is_joint) return 0;
  name = PySequence_GetItem(given->names, (Py_ssize_t)fault->index[0]);
  if (name == NULL) return 1;
  if (is_zone)
    raise_zone(fault, name);
  else if (given->desc.parents[fault->index[0]] < 0)
    PyErr_Format(PyExc_ValueError, "joint %R has no parent whose rotation it could blend with", name);
  else
    PyErr_Format(PyExc_ValueError,
                 "joint %R lies at the place of its child and its parent: it has no bone to blend along", name);
  Py_DECREF(name);
  return 1;
}

CORE_ENTRY(enter_bones, core_blend_bones, bones_call)

const core_function core_blend_bones = {
    .name = "blend_bones",
    .summary = "Bones blending. Names, (J,), are for errors.",
    .parts = {CORE_PART(bones_arguments)},
    .positional = 5,
    CORE_RESULTS(bones_results),
    .size = sizeof(bones_call),
    .prepare = prepare_bones,
    .run = run_bones,
    .raise = raise_bones,
    .entry = enter_bones,
};
