/* SPDX-License-Identifier: MIT */
#include "pose.h"
#include "skin_methods.h"

typedef struct inverse_call {
  core_pose_call pose;
  PyArrayObject *posed, *positions, *singular;
} inverse_call;

static const core_argument arguments[] = {
    {"posed_positions", CORE_SAME, .at = offsetof(inverse_call, posed), "(V, 3)", .in_place = 1},
    {"skinning_matrices", CORE_REALS, .at = offsetof(inverse_call, pose.matrices), "(J, 4, 4) or (J, 3, 4)"},
};

static const core_argument options[] = {
    {"out", CORE_OUTPUT, .at = offsetof(inverse_call, positions), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(inverse_call, pose.by.options.threads), .optional = 1},
};

static const core_argument results[] = {
    {"rest_positions", CORE_SAME, .at = offsetof(inverse_call, positions), "(V, 3)"},
    {"singular", CORE_FLAGS, .at = offsetof(inverse_call, singular), "(V,)"},
};

static int prepare(void *address) {
  const inverse_call *given = address;

  return core_check_twists(&given->pose, ((const core_skin *)core_self(given))->twist);
}

static sbs_status run(void *address, sbs_fault *fault) {
  inverse_call *given = address;
  const core_skin *self = core_self(given);
  const sbs_pose pose = core_pose_with_twists(&given->pose);
  const sbs_status status =
      sbs_skin_inverse_deform(self->skin, &pose, core_method_options(&given->pose.by), PyArray_DATA(given->posed), 0,
                              PyArray_DATA(given->positions), PyArray_DATA(given->singular), NULL, fault);

  core_place_in_twists(fault, &given->pose);
  return status;
}

CORE_ENTRY(enter, core_inverse_deform, inverse_call)

const core_function core_inverse_deform = {
    .name = "inverse_deform",
    .summary = "Rest positions from posed ones, and which vertices have no inverse.",
    .parts = {CORE_PART(arguments), CORE_METHOD_PART(CORE_METHOD, CORE_BASE), CORE_PART(core_twists_argument),
              CORE_PART(options)},
    .positional = 2,
    CORE_RESULTS(results),
    .size = sizeof(inverse_call),
    .set_defaults = core_set_method_defaults,
    .begin = core_begin_with_skin,
    .prepare = prepare,
    .run = run,
    .entry = enter,
};
