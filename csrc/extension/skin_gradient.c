/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <string.h>

#include "pose.h"
#include "skin.h"

/* The skin's influences arranged for gradients, which is done when it is first needed. */
static sbs_status get_gradient(core_skin *self, const sbs_gradient **gradient, sbs_fault *fault) {
  sbs_gradient *made = NULL, *present = atomic_load(&self->gradient);
  if (present == NULL) {
    const sbs_status status = sbs_gradient_new(self->object.made, &self->desc, NULL, &made, fault);
    if (status != SBS_OK) return status;
    if (atomic_compare_exchange_strong(&self->gradient, &present, made))
      present = made;
    else
      sbs_gradient_free(made);
  }
  *gradient = present;
  return SBS_OK;
}

/* --------------------------------------------------------------------------------------------------- deform_vjp -- */

typedef struct vjp_call {
  core_pose_call posed;
  Py_ssize_t wanted;
  sbs_gradient_upstream upstream;
  sbs_gradient_result result;
} vjp_call;

#define AT(field) .at = offsetof(vjp_call, field)
#define RESULT(name, kind, field, shape) {name, kind, AT(result.field), shape, .result = 1, .none = 1}

static const core_row vjp_rows[] = {
    {"grad_positions", CORE_SAME, AT(upstream.positions), "(V, 3)", .none = 1},
    {"grad_normals", CORE_SAME, AT(upstream.normals), "(V, 3)", .none = 1},
};

static const core_row wanted_row[] = {
    {"wanted", CORE_INDEX, AT(wanted)},
};

static const core_row vjp_options[] = {
    {"rest_positions", CORE_SAME, AT(posed.options.rest_positions), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, AT(posed.options.threads), .optional = 1},
};

static const core_row vjp_results[] = {
    RESULT("rest_positions", CORE_SAME, rest_positions, "(V, 3)"),
    RESULT("rest_normals", CORE_SAME, rest_normals, "(V, 3)"),
    RESULT("joint_weights", CORE_SAME, joint_weights, "(V, K)"),
    RESULT("skinning_matrices", CORE_DOUBLES, skinning_matrices, "(J, 3, 4)"),
    RESULT("centers", CORE_SAME, centers, "(V, 3)"),
    RESULT("amount", CORE_SAME, amount, "(V,)"),
    RESULT("twists", CORE_DOUBLES, twist_angles, "(B, 2)"),
    RESULT("twist_shares", CORE_DOUBLES, twist_shares, "(V, K)"),
    RESULT("shape_weights", CORE_DOUBLES, shape_weights, "(S,)"),
    RESULT("shaped_positions", CORE_SAME, shaped_positions, "(V, 3)"),
    RESULT("shaped_normals", CORE_SAME, shaped_normals, "(V, 3)"),
};

static int prepare_vjp(void *address) {
  vjp_call *given = address;
  const core_skin *self = core_self(given);

  if (given->upstream.normals != NULL && !self->info.has_normals) {
    PyErr_SetString(PyExc_ValueError, "grad_normals needs a skin that was made with rest_normals");
    return 0;
  }
  given->posed.call.skipped = ~(unsigned int)given->wanted;
  return core_prepare_pose(given);
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
  if (status != SBS_OK) return status;
  return sbs_gradient_deform(gradient, self->object.made, &self->desc, &given->posed.pose, &given->posed.options,
                             &given->upstream, result, fault);
}

CORE_FUNCTION(core_deform_vjp, vjp_call, .name = "deform_vjp",
              .summary = "Gradients, with None for all but the wanted ones: bits, in the order of the results.",
              .parts = {CORE_PART(vjp_rows), CORE_PART(core_matrices_row), CORE_PART(wanted_row),
                        CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT), CORE_PART(core_twists_row),
                        CORE_PART(core_shapes_rows), CORE_PART(vjp_options), CORE_PART(vjp_results)},
              .positional = 3, .set_defaults = core_set_method_defaults, .prepare = prepare_vjp, .run = run_vjp)

/* ----------------------------------------------------------------------------------------------- weight_jacobian -- */

typedef struct jacobian_call {
  core_pose_call posed;
  Py_ssize_t vertex;
  double *derivative;
} jacobian_call;

static const core_row jacobian_rows[] = {
    {"vertex", CORE_INDEX, .at = offsetof(jacobian_call, vertex)},
};

static const core_row jacobian_results[] = {
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
  return sbs_gradient_weight_jacobian(gradient, self->object.made, &self->desc, &given->posed.pose,
                                      &given->posed.options, (size_t)given->vertex, given->derivative, fault);
}

CORE_FUNCTION(core_weight_jacobian, jacobian_call, .name = "weight_jacobian",
              .summary = "The derivative of a vertex by its weights.",
              .parts = {CORE_PART(jacobian_rows), CORE_PART(core_matrices_row),
                        CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT), CORE_PART(jacobian_results)},
              .positional = 2, .set_defaults = core_set_method_defaults, .prepare = prepare_jacobian,
              .run = run_jacobian)
