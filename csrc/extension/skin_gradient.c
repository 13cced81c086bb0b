/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>

#include "pose.h"
#include "skin_methods.h"

/* The skin's influences arranged for gradients, which is done when it is first needed. */
static sbs_status get_gradient(core_skin *self, const sbs_gradient **gradient, sbs_fault *fault) {
  sbs_gradient *made = NULL, *present = atomic_load(&self->gradient);
  if (present == NULL) {
    const sbs_skin_desc desc = core_describe_skin(self->held, self->twist, self->info.joint_count);
    const sbs_status status = sbs_gradient_new(self->skin, &desc, NULL, &made, fault);
    if (status != SBS_OK) return status;
    if (atomic_compare_exchange_strong(&self->gradient, &present, made))
      present = made;
    else
      sbs_gradient_free(made);
  }
  *gradient = present;
  return SBS_OK;
}

static void begin(void *address) {
  const core_skin *self = core_self(address);

  core_begin_with_skin(address);
  core_set_length(address, 'K', (size_t)PyArray_DIM(self->held[CORE_JOINT_INDICES], 1));
}

/* --------------------------------------------------------------------------------------------------- deform_vjp -- */

typedef struct vjp_call {
  core_pose_call pose;
  core_positions at;
  PyArrayObject *positions, *normals;
  Py_ssize_t wanted;
  PyArrayObject *by_rest_positions, *by_rest_normals, *by_joint_weights, *by_matrices, *by_centers, *by_amount;
  PyArrayObject *by_twists, *by_twist_shares;
} vjp_call;

static const core_argument vjp_arguments[] = {
    {"grad_positions", CORE_SAME, .at = offsetof(vjp_call, positions), "(V, 3)", .none = 1},
    {"grad_normals", CORE_SAME, .at = offsetof(vjp_call, normals), "(V, 3)", .none = 1},
    {"skinning_matrices", CORE_REALS, .at = offsetof(vjp_call, pose.matrices), "(J, 4, 4) or (J, 3, 4)"},
    {"wanted", CORE_INDEX, .at = offsetof(vjp_call, wanted)},
};

static const core_argument vjp_options[] = {
    {"rest_positions", CORE_SAME, .at = offsetof(vjp_call, at.rest), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(vjp_call, pose.by.options.threads), .optional = 1},
};

static const core_argument vjp_results[] = {
    {"rest_positions", CORE_SAME, .at = offsetof(vjp_call, by_rest_positions), "(V, 3)", .none = 1},
    {"rest_normals", CORE_SAME, .at = offsetof(vjp_call, by_rest_normals), "(V, 3)", .none = 1},
    {"joint_weights", CORE_SAME, .at = offsetof(vjp_call, by_joint_weights), "(V, K)", .none = 1},
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(vjp_call, by_matrices), "(J, 3, 4)", .none = 1},
    {"centers", CORE_SAME, .at = offsetof(vjp_call, by_centers), "(V, 3)", .none = 1},
    {"amount", CORE_SAME, .at = offsetof(vjp_call, by_amount), "(V,)", .none = 1},
    {"twists", CORE_DOUBLES, .at = offsetof(vjp_call, by_twists), "(B, 2)", .none = 1},
    {"twist_shares", CORE_DOUBLES, .at = offsetof(vjp_call, by_twist_shares), "(V, K)", .none = 1},
};

static int prepare_vjp(void *address) {
  vjp_call *given = address;
  const core_skin *self = core_self(given);

  if (given->normals != NULL && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "grad_normals needs a skin that was made with rest_normals");
    return 0;
  }
  if (!core_check_twists(&given->pose, self->twist)) return 0;
  given->pose.call.skipped = ~(unsigned int)given->wanted;
  return core_prepare_positions(given, &given->at);
}

static sbs_status run_vjp(void *address, sbs_fault *fault) {
  vjp_call *given = address;
  core_skin *self = core_self(given);
  const sbs_pose pose = core_pose_with_twists(&given->pose);
  const sbs_gradient_upstream upstream = {.positions = core_data(given->positions),
                                          .normals = core_data(given->normals)};
  sbs_gradient_result result = {.rest_positions = core_data(given->by_rest_positions),
                                .rest_normals = core_data(given->by_rest_normals),
                                .joint_weights = core_data(given->by_joint_weights),
                                .skinning_matrices = core_data(given->by_matrices),
                                .centers = core_data(given->by_centers),
                                .amount = core_data(given->by_amount)};
  const sbs_skin_desc desc = core_describe_positions(self, &given->at);
  const sbs_gradient *gradient;
  sbs_skin *moved = NULL;
  sbs_status status;

  if (self->info.twist_bone_count > 0) {
    result.twist_angles = core_data(given->by_twists);
    result.twist_shares = core_data(given->by_twist_shares);
  } else if (given->by_twist_shares != NULL) { /* of no bones nothing depends on them */
    memset(PyArray_DATA(given->by_twist_shares), 0, (size_t)PyArray_NBYTES(given->by_twist_shares));
  }
  status = get_gradient(self, &gradient, fault);
  if (status == SBS_OK) status = core_with_positions(self, &given->at, &moved, fault);
  if (status == SBS_OK)
    status = sbs_gradient_deform(gradient, moved != NULL ? moved : self->skin, &desc, &pose,
                                 core_method_options(&given->pose.by), &upstream, &result, fault);
  sbs_skin_free(moved);
  core_place_in_twists(fault, &given->pose);
  return status;
}

CORE_ENTRY(enter_vjp, core_deform_vjp, vjp_call)

const core_function core_deform_vjp = {
    .name = "deform_vjp",
    .summary = "Gradients, with None for what is not wanted: bits, in the order of the results.",
    .parts = {CORE_PART(vjp_arguments), CORE_METHOD_PART(CORE_METHOD, CORE_BASE), CORE_PART(core_twists_argument),
              CORE_PART(vjp_options)},
    .positional = 3,
    CORE_RESULTS(vjp_results),
    .size = sizeof(vjp_call),
    .set_defaults = core_set_method_defaults,
    .begin = begin,
    .prepare = prepare_vjp,
    .run = run_vjp,
    .entry = enter_vjp,
};

/* ----------------------------------------------------------------------------------------------- weight_jacobian -- */

typedef struct jacobian_call {
  core_pose_call pose;
  Py_ssize_t vertex;
  PyArrayObject *derivative;
} jacobian_call;

static const core_argument jacobian_arguments[] = {
    {"vertex", CORE_INDEX, .at = offsetof(jacobian_call, vertex)},
    {"skinning_matrices", CORE_REALS, .at = offsetof(jacobian_call, pose.matrices), "(J, 4, 4) or (J, 3, 4)"},
};

static const core_argument jacobian_results[] = {
    {"derivative", CORE_DOUBLES, .at = offsetof(jacobian_call, derivative), "(3, K)"},
};

static int prepare_jacobian(void *address) {
  const jacobian_call *given = address;
  const size_t count = core_length(&given->pose.call, 'V');

  if (given->vertex >= 0 && (size_t)given->vertex < count) return 1;
  PyErr_Format(PyExc_IndexError, "vertex %zd is out of range: there are %zu", given->vertex, count);
  return 0;
}

static sbs_status run_jacobian(void *address, sbs_fault *fault) {
  jacobian_call *given = address;
  core_skin *self = core_self(given);
  const sbs_pose pose = core_pose_with_twists(&given->pose);
  const sbs_skin_desc desc = core_describe_skin(self->held, self->twist, self->info.joint_count);
  const sbs_gradient *gradient;
  const sbs_status status = get_gradient(self, &gradient, fault);

  if (status != SBS_OK) return status;
  return sbs_gradient_weight_jacobian(gradient, self->skin, &desc, &pose, core_method_options(&given->pose.by),
                                      (size_t)given->vertex, PyArray_DATA(given->derivative), fault);
}

CORE_ENTRY(enter_jacobian, core_weight_jacobian, jacobian_call)

const core_function core_weight_jacobian = {
    .name = "weight_jacobian",
    .summary = "The derivative of a vertex by its weights.",
    .parts = {CORE_PART(jacobian_arguments), CORE_METHOD_PART(CORE_METHOD, CORE_BASE)},
    .positional = 2,
    CORE_RESULTS(jacobian_results),
    .size = sizeof(jacobian_call),
    .set_defaults = core_set_method_defaults,
    .begin = begin,
    .prepare = prepare_jacobian,
    .run = run_jacobian,
    .entry = enter_jacobian,
};
