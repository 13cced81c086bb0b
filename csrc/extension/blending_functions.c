/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "functions.h"

#include <sbs/blending.h>

/* ---------------------------------------------------------------------------------------------------- bone_tails -- */

typedef struct tails_call {
  core_call call;
  const int32_t *parents;
  const double *joint_positions;
  double *tails;
} tails_call;

static const core_row tails_rows[] = {
    {"parents", CORE_INT32, .at = offsetof(tails_call, parents), "(J,)"},
    {"joint_positions", CORE_DOUBLES, .at = offsetof(tails_call, joint_positions), "(J, 3)"},
    {"tails", CORE_DOUBLES, .at = offsetof(tails_call, tails), "(J, 3)", .result = 1},
};

static sbs_status run_tails(void *address, sbs_fault *fault) {
  tails_call *given = address;

  return sbs_bones_tails(core_length(given, 'J'), given->parents, given->joint_positions, NULL, given->tails, fault);
}

CORE_FUNCTION(core_bone_tails, tails_call, .name = "bone_tails", .summary = "Where the bone of each joint ends.",
              .parts = {CORE_PART(tails_rows)}, .positional = 2, .run = run_tails)

/* --------------------------------------------------------------------------------------------------- blend_bones -- */

/* In the order of sbs_blending_profile. */
static const char *const profile_words[] = {"linear", "smoothstep", NULL};

typedef struct bones_call {
  core_call call;
  PyObject *names;
  sbs_blending_desc desc;
  sbs_influences_table influences;
  sbs_blending binding;
} bones_call;

#define AT(field) .at = offsetof(bones_call, field)

static const core_row bones_rows[] = {
    {"rest_positions", CORE_REALS, AT(desc.rest_positions), "(V, 3)", .scalar = offsetof(bones_call, desc.scalar)},
    {"parents", CORE_INT32, AT(desc.parents), "(J,)"},
    {"joint_positions", CORE_DOUBLES, AT(desc.joint_positions), "(J, 3)"},
    {"inverse_bind_matrices", CORE_DOUBLES, AT(desc.inverse_bind_matrices), "(J, 3, 4)"},
    {"names", CORE_OBJECT, AT(names), .type = "Sequence[str]"},
    {"tails", CORE_DOUBLES, AT(desc.tails), "(J, 3)", .optional = 1},
    {"t_min", CORE_DOUBLES, AT(desc.t_min), "(J,)", .optional = 1},
    {"t_max", CORE_DOUBLES, AT(desc.t_max), "(J,)", .optional = 1},
    {"blended", CORE_FLAGS, AT(desc.blended), "(J,)", .optional = 1},
    {"attachment", CORE_INT32, AT(desc.attachment), "(V,)", .optional = 1},
    {"joint_indices", CORE_INT32, AT(influences.joint_indices), "(V, K)", .optional = 1},
    {"joint_weights", CORE_REALS, AT(influences.joint_weights), "(V, K)",
     .scalar = offsetof(bones_call, influences.scalar), .optional = 1},
    {"profile", CORE_WORD, AT(desc.profile), .words = profile_words, .optional = 1},
    {"zone_scale", CORE_REAL, AT(desc.zone_scale), .optional = 1},
    {"V", CORE_LENGTH, AT(desc.vertex_count)},
    {"J", CORE_LENGTH, AT(desc.joint_count)},
    {"V", CORE_LENGTH, AT(influences.vertex_count)},
    {"J", CORE_LENGTH, AT(influences.joint_count)},
    {"K", CORE_LENGTH, AT(influences.influences_per_vertex)},
};

static const core_row bones_results[] = {
    {"attachment", CORE_INT32, AT(binding.attachment), "(V,)", .result = 1},
    {"t", CORE_DOUBLES, AT(binding.t), "(V,)", .result = 1},
    {"t_min", CORE_DOUBLES, AT(binding.t_min), "(J,)", .result = 1},
    {"t_max", CORE_DOUBLES, AT(binding.t_max), "(J,)", .result = 1},
    {"joint_indices", CORE_INT32, AT(binding.joint_indices), "(V, W)", .result = 1},
    {"joint_weights", CORE_DOUBLES, AT(binding.joint_weights), "(V, W)", .result = 1},
    {"centers", CORE_DOUBLES, AT(binding.centers), "(V, 3)", .result = 1},
    {"keeps", CORE_FLAGS, AT(binding.keeps), "(V,)", .result = 1},
};

static void set_bones_defaults(void *address) {
  ((bones_call *)address)->desc.zone_scale = 1.0;
}

static int prepare_bones(void *address) {
  bones_call *given = address;
  const sbs_influences_table *influences = &given->influences;

  if ((influences->joint_indices == NULL) != (influences->joint_weights == NULL)) {
    PyErr_SetString(PyExc_ValueError, "joint_indices and joint_weights go together");
    return 0;
  }
  if (influences->joint_indices != NULL) given->desc.influences = influences;
  core_set_length(given, 'W', sbs_blending_width(&given->desc));
  return 1;
}

static sbs_status run_bones(void *address, sbs_fault *fault) {
  bones_call *given = address;
  return sbs_blending_bind(&given->desc, NULL, &given->binding, fault);
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

CORE_FUNCTION(core_blend_bones, bones_call, .name = "blend_bones",
              .summary = "Bones blending. Names, (J,), are for errors.",
              .parts = {CORE_PART(bones_rows), CORE_PART(bones_results)}, .positional = 5,
              .set_defaults = set_bones_defaults, .prepare = prepare_bones, .run = run_bones, .raise = raise_bones)
