/* SPDX-License-Identifier: MIT */
#include "pose.h"
#include "shapes_type.h"
#include "skin_methods.h"

typedef struct inverse_call {
  core_pose_call posed;
  const void *posed_positions;
  void *positions;
  unsigned char *singular;
} inverse_call;

static const core_row matrices_rows[] = {
    {"posed_positions", CORE_SAME, .at = offsetof(inverse_call, posed_positions), "(V, 3)", .in_place = 1},
    {"skinning_matrices", CORE_MATRICES, .at = offsetof(inverse_call, posed.pose), "(J, 4, 4) or (J, 3, 4)"},
};

static const core_row rows[] = {
    {"out", CORE_OUTPUT, .at = offsetof(inverse_call, positions), "(V, 3)", .optional = 1},
    {"threads", CORE_THREADS, .at = offsetof(inverse_call, posed.by.options.threads), .optional = 1},
    {"rest_positions", CORE_SAME, .at = offsetof(inverse_call, positions), "(V, 3)", .result = 1},
    {"singular", CORE_FLAGS, .at = offsetof(inverse_call, singular), "(V,)", .result = 1},
};

static int prepare(void *address) {
  core_pose_call *given = address;
  return core_check_twists(&given->call, &given->pose, ((const core_skin *)core_self(given))->twist) &&
         core_check_shapes(&given->by.options);
}

static sbs_status run(void *address, sbs_fault *fault) {
  inverse_call *given = address;
  const core_skin *self = core_self(given);
  const sbs_status status =
      sbs_skin_inverse_deform(self->skin, &given->posed.pose, &given->posed.by.options, given->posed_positions, 0,
                              given->positions, given->singular, NULL, fault);

  core_place_in_twists(fault, &given->posed.call);
  core_place_in_shapes(fault, &given->posed.call);
  return status;
}

CORE_ENTRY(core_inverse_deform, inverse_call)

const core_function core_inverse_deform = {
    .name = "inverse_deform",
    .summary = "Rest positions from posed ones, and which vertices have no inverse.",
    .parts = {CORE_PART(matrices_rows), CORE_METHOD_PART(CORE_METHOD, CORE_AMOUNT), CORE_PART(core_twists_row),
              CORE_PART(core_shapes_rows), CORE_PART(rows)},
    .positional = 2,
    .size = sizeof(inverse_call),
    .set_defaults = core_set_method_defaults,
    .begin = core_begin_with_skin,
    .prepare = prepare,
    .run = run,
    .entry = core_inverse_deform_entry,
};
