/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>

#include "pose.h"
#include "shapes_type.h"
#include "skin_methods.h"

/* The skin's influences arranged for gradients, which is done when it is first needed. */
static sbs_status get_gradient(core_skin *self, const sbs_gradient **gradient, sbs_fault *fault) {
  sbs_gradient *made = NULL, *present = atomic_load(&self->gradient);
  if (present == NULL) {
    const sbs_status status = sbs_gradient_new(self->skin, &self->desc, NULL, &made, fault);
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
  core_set_length(address, 'K', self->desc.influences_per_vertex);
}

/* --------------------------------------------------------------------------------------------------- deform_vjp -- */

typedef struct vjp_call {
  core_pose_call posed;
  Py_ssize_t wanted;
  sbs_gradient_upstream upstream;
  sbs_gradient_result result;
} vjp_call;

static const core_row vjp_rows[] = {
    {"grad_positions", CORE_SAME, .at = offsetof(vjp_call, upstream.positions), "(V, 3)", .none = 1},
    {"grad_normals", CORE_SAME, .at = offsetof(vjp_call, upstream.normals), "(V, 3)", .none = 1},
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(vjp_call, posed.pose), "(J, 4, 4) or (J, 3, 4)"},
    {"wanted", CORE_INDEX, .at = offsetof(vjp_call, wanted)},
};

static const core_row vjp_options[] = {
    {"rest_positions", CORE_SAME, .at = offsetof(vjp_call, posed.by.options.rest_positions), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(vjp_call, posed.by.options.threads), .optional = 1},
};

static const core_row vjp_results[] = {
    {"rest_positions", CORE_SAME, .at = offsetof(vjp_call, result.rest_positions), "(V, 3)", .result = 1, .none = 1},
    {"rest_normals", CORE_SAME, .at = offsetof(vjp_call, result.rest_normals), "(V, 3)", .result = 1, .none = 1},
    {"joint_weights", CORE_SAME, .at = offsetof(vjp_call, result.joint_weights), "(V, K)", .result = 1, .none = 1},
    {"skinning_matrices", CORE_DOUBLES, .at = offsetof(vjp_call, result.skinning_matrices), "(J, 3, 4)", .result = 1,
     .none = 1},
    {"centers", CORE_SAME, .at = offsetof(vjp_call, result.centers), "(V, 3)", .result = 1, .none = 1},
    {"amount", CORE_SAME, .at = offsetof(vjp_call, result.amount), "(V,)", .result = 1, .none = 1},
    {"twists", CORE_DOUBLES, .at = offsetof(vjp_call, result.twist_angles), "(B, 2)", .result = 1, .none = 1},
    {"twist_shares", CORE_DOUBLES, .at = offsetof(vjp_call, result.twist_shares), "(V, K)", .result = 1, .none = 1},
    {"shape_weights", CORE_DOUBLES, .at = offsetof(vjp_call, result.shape_weights), "(S,)", .result = 1, .none = 1},
    {"shaped_positions", CORE_SAME, .at = offsetof(vjp_call, result.shaped_positions), "(V, 3)", .result = 1,
     .none = 1},
    {"shaped_normals", CORE_SAME, .at = offsetof(vjp_call, result.shaped_normals), "(V, 3)", .result = 1, .none = 1},
};

static int prepare_vjp(void *address) {
  vjp_call *given = address;
  const core_skin *self = core_self(given);

  if (given->upstream.normals != NULL && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "grad_normals needs a skin that was made with rest_normals");
    return 0;
  }
  if (!core_check_twists(&given->posed.call, &given->posed.pose, self->twist)) return 0;
  if (!core_check_shapes(&given->posed.by.options)) return 0;
  given->posed.call.skipped = ~(unsigned int)given->wanted;
  return 1;
}

static sbs_status run_vjp(void *address, sbs_fault *fault) {
  vjp_call *given = address;
  core_skin *self = core_self(given);
  sbs_gradient_result *result = &given->result;
  const sbs_gradient *gradient;
  sbs_status status;

  if (self->info.twist_bone_count == 0) { /* nothing depends on a twist of no bones */
    if (result->twist_shares != NULL)
      memset(result->twist_shares, 0, core_length(given, 'V') * core_length(given, 'K') * sizeof(double));
    result->twist_angles = result->twist_shares = NULL;
  }
  status = get_gradient(self, &gradient, fault);
  if (status == SBS_OK)
    status = sbs_gradient_deform(gradient, self->skin, &self->desc, &given->posed.pose, &given->posed.by.options,
                                 &given->upstream, result, fault);
  core_place_in_twists(fault, &given->posed.call);
  core_place_in_shapes(fault, &given->posed.call);
  return status;
}

CORE_ENTRY(core_deform_vjp, vjp_call)

const core_function core_deform_vjp = {
    .name = "deform_vjp",
    .summary = "Gradients, with None for what is not wanted: bits, in the order of the results.",
    .parts = {CORE_PART(vjp_rows), CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT), CORE_PART(core_twists_row),
              CORE_PART(core_shapes_rows), CORE_PART(vjp_options), CORE_PART(vjp_results)},
    .positional = 3,
    .size = sizeof(vjp_call),
    .set_defaults = core_set_method_defaults,
    .begin = begin,
    .prepare = prepare_vjp,
    .run = run_vjp,
    .entry = core_deform_vjp_entry,
};

/* ----------------------------------------------------------------------------------------------- weight_jacobian -- */

typedef struct jacobian_call {
  core_pose_call posed;
  Py_ssize_t vertex;
  double *derivative;
} jacobian_call;

static const core_row jacobian_rows[] = {
    {"vertex", CORE_INDEX, .at = offsetof(jacobian_call, vertex)},
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(jacobian_call, posed.pose), "(J, 4, 4) or (J, 3, 4)"},
    {"derivative", CORE_DOUBLES, .at = offsetof(jacobian_call, derivative), "(3, K)", .result = 1},
};

static int prepare_jacobian(void *address) {
  const jacobian_call *given = address;
  const size_t count = core_length(given, 'V');

  if (given->vertex >= 0 && (size_t)given->vertex < count) return 1;
  PyErr_Format(PyExc_IndexError, "vertex %zd is out of range: there are %zu", given->vertex, count);
  return 0;
}

static sbs_status run_jacobian(void *address, sbs_fault *fault) {
  jacobian_call *given = address;
  core_skin *self = core_self(given);
  const sbs_gradient *gradient;
  const sbs_status status = get_gradient(self, &gradient, fault);

  if (status != SBS_OK) return status;
  return sbs_gradient_weight_jacobian(gradient, self->skin, &self->desc, &given->posed.pose, &given->posed.by.options,
                                      (size_t)given->vertex, given->derivative, fault);
}

CORE_ENTRY(core_weight_jacobian, jacobian_call)

const core_function core_weight_jacobian = {
    .name = "weight_jacobian",
    .summary = "The derivative of a vertex by its weights.",
    .parts = {CORE_PART(jacobian_rows), CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT)},
    .positional = 2,
    .size = sizeof(jacobian_call),
    .set_defaults = core_set_method_defaults,
    .begin = begin,
    .prepare = prepare_jacobian,
    .run = run_jacobian,
    .entry = core_weight_jacobian_entry,
};
